package refusals

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/jsondoc"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// JSONRPC are about JSON-RPC itself, regardless of its contents.
var JSONRPC = scenario.In(probe.Scenario{
	Category: analysis.ErrorHandling, Level: analysis.Must,
}, []*probe.Scenario{
	{
		ID: "act-parse-error", Title: "a body that is not JSON is refused with -32700 and a null id",
		Protocols: scenario.JsonRPC, Sections: []string{"1.0 §9.5", "0.3 §8.1", "JSON-RPC §5.1"},
		Tags: []string{
			"errors", "rpc", "A1", "tck-main:rejects_malformed_json", "tck-main:raw_invalid_json", "acts:JSONRPC-ERR-002", "S4-1.5", "S4-P1",
		},
		Fix: "Answer a body that cannot be parsed with error -32700 and a null id.",
		Run: askParseError,
	},
	{
		ID: "act-invalid-request", Title: "JSON that is not a request is refused with -32600",
		Protocols: scenario.JsonRPC, Sections: []string{"JSON-RPC §5.1", "1.0 §9.5"},
		Tags: []string{
			"errors", "rpc", "A2", "acts:CORE-ERR-006", "tck-main:missing_method_field",
			"tck-main:rejects_invalid_json_rpc_requests",
		},
		Fix: "Answer a request without a method with error -32600.",
		Run: askInvalidRequest,
	},
	{
		ID: "act-invalid-request-version", Title: "a request of JSON-RPC 1.0 is refused with -32600",
		Protocols: []client.Protocol{client.JSONRPC10, client.JSONRPC03},
		// 0.1 has a default for the member
		Sections: []string{"JSON-RPC §4", "JSON-RPC §5.1"},
		Tags:     []string{"errors", "rpc", "A2", "tck-main:invalid_jsonrpc_version"},
		Fix:      `Answer a request whose member jsonrpc is not "2.0" with error -32600.`,
		Run: func(ctx context.Context, s *probe.Session) error {
			a, err := scenario.Post(ctx, s, fmt.Sprintf(`{"jsonrpc":"1.0","id":%q,"method":%q,"params":{"id":%q}}`,
				s.NewID(), scenario.GetMethod(s), s.NewID()))
			if err != nil {
				return err
			}
			if code, ok := a.JSON().Get("error").Get("code").Int(); ok && code == -32602 {
				return probe.Unclear("it is refused as invalid parameters")
			}
			return scenario.WantCode(a, -32600)
		},
	},
	{
		ID: "act-invalid-params", Title: "parameters without a message, or with a message of another type, are refused",
		// 0.3 mentions only JSON-RPC.
		Levels:   scenario.Levels(analysis.Advice, client.GRPC03),
		Sections: []string{"1.0 §3.3.2", "0.3 §8.1", "JSON-RPC §5.1"},
		Tags: []string{
			"errors", "A4", "CORE-ERR-002", "tck-main:rejects_invalid_params", "tck-main:message_send_invalid_params",
			"tck-main:invalid_params", "tck-main:method_parameter_validation_enhancements", "tck-main:unexpected_json_types",
		},
		Fix: "Answer unreadable parameters with error -32602, over HTTP+JSON with status 400.",
		Run: askInvalidParams,
	},
	{
		ID: "act-notification-silent", Title: "a request without id gets no answer", Protocols: scenario.JsonRPC,
		Sections: []string{"JSON-RPC §4.1"}, Tags: []string{"rpc", "A5", "tck-main:json_rpc_notification_requests"},
		Fix: "Send no JSON-RPC response for a request without id, or refuse it with -32600 and a null id.",
		Run: askNotification,
	},
	{
		ID: "act-batch", Title: "a batch is answered call by call, or refused as a whole", Protocols: scenario.JsonRPC,
		Sections: []string{"JSON-RPC §6"},
		Tags:     []string{"rpc", "A6", "tck-main:json_rpc_batch_requests", "tck-main:jsonrpc_specific_features"},
		Fix:      "Answer a batch with one response for each call, or the whole batch with one error -32600.",
		Run:      askBatch,
	},
	{
		ID: "act-id-types", Title: "ids of every type are returned unchanged", Category: analysis.Interop,
		Protocols: scenario.JsonRPC, Sections: []string{"JSON-RPC §5", "0.3 §6.11.2"}, Tags: []string{"rpc", "A7", "S4-1.2a"},
		Fix: "Copy the request's id into the response, with the same type and value.",
		Run: askIDs,
	},
	{
		ID: "act-duplicate-ids", Title: "an id that was used before is answered again", Category: analysis.Interop,
		Protocols: scenario.JsonRPC, Sections: []string{"JSON-RPC §4"},
		Tags: []string{"rpc", "tck-main:duplicate_request_ids"},
		Fix:  "Do not remember ids of requests: answer each HTTP request with its own id.",
		Run: func(ctx context.Context, s *probe.Session) error {
			return askIDsOf(ctx, s, `"the same"`, `"the same"`)
		},
	},
	{
		ID: "act-content-type-rejected", Title: "a message that is labeled as plain text is refused",
		Level: analysis.Should, Sections: []string{"1.0 §9.1", "0.3 §3.2.1"}, Tags: []string{"errors", "A8"},
		// The dialect before 0.1 does not mention the media types of requests.
		Protocols: []client.Protocol{client.JSONRPC10, client.REST10, client.JSONRPC03, client.REST03, client.JSONRPC01},
		Fix:       "Refuse requests whose Content-Type is not JSON, with status 415.",
		Run: func(ctx context.Context, s *probe.Session) error {
			edited := s.Edited(scenario.SetHeader("Content-Type", "text/plain"))
			_, err := edited.Send(ctx, s.Say(probe.Anything), client.SendOptions{})
			if scenario.Broken(err) {
				return probe.Fail("a refusal such as status 415", "%s", probe.Describe(scenario.Refusal(err)))
			}
			return probe.Refused(err)
		},
	},
	{
		ID: "act-rpc-envelope", Title: "an answer has jsonrpc, the request's id, and a result or an error",
		Category: analysis.Interop, Protocols: scenario.JsonRPC, Sections: []string{"JSON-RPC §5", "1.0 §9.1"},
		Tags: []string{"rpc", "JSONRPC-FMT-001", "JSONRPC-SVC-001", "acts:JSONRPC-ENV-001", "S4-1.2a"},
		Fix:  "Send responses in the form of JSON-RPC 2.0: jsonrpc, id, and either result or error.",
		Run:  askEnvelope,
	},
	{
		ID: "act-rpc-content-type", Title: "an answer is application/json", Category: analysis.Interop,
		Level: analysis.Should, Protocols: scenario.JsonRPC, Sections: []string{"1.0 §9.1", "0.3 §3.2.1"},
		Tags: []string{"rpc", "JSONRPC-FMT-002", "acts:JSONRPC-CT-001"},
		Fix:  "Send JSON-RPC responses with Content-Type application/json.",
		Run: func(ctx context.Context, s *probe.Session) error {
			a, err := scenario.Post(ctx, s, scenario.GetRequest(s, `"content-type"`))
			if err != nil {
				return err
			}
			if got := a.Header.MediaType(); a.JSON().Has("jsonrpc") && got != "application/json" {
				return probe.Fail("Content-Type application/json", "%q", a.Header.Get("Content-Type"))
			}
			return nil
		},
	},
})

func askParseError(ctx context.Context, s *probe.Session) error {
	a, err := scenario.Post(ctx, s, `{"jsonrpc":"2.0","id":"cut","method":"`+scenario.GetMethod(s)+`","params":{"id":`)
	if err != nil {
		return err
	}
	if err := scenario.WantCode(a, -32700); err != nil {
		return err
	}
	if id := a.JSON().Get("id"); !id.IsNull() {
		return probe.Fail("a null id", "%s", scenario.Brief(a))
	}
	return nil
}

func askInvalidRequest(ctx context.Context, s *probe.Session) error {
	a, err := scenario.Post(ctx, s, fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"params":{"id":%q}}`, s.NewID(), s.NewID()))
	if err != nil {
		return err
	}
	if code, _ := scenario.Code(a); code == -32602 {
		return probe.Unclear("it was refused for invalid parameters, -32602, not as an invalid " +
			"request, -32600")
	}
	return scenario.WantCode(a, -32600)
}

func askInvalidParams(ctx context.Context, s *probe.Session) error {
	for _, params := range []string{`{}`, `{"message":"hello"}`, `{"message":{"role":7,"parts":"hello"}}`} {
		if s.Protocol().OverGRPC() && params != `{}` {
			continue // a typed field cannot hold another type
		}
		_, err := s.Edited(scenario.WithParams(s, params)).Send(ctx, s.Say(probe.Anything), client.SendOptions{})
		if err := scenario.RefusedParams(s, err, "parameters "+params); err != nil {
			return err
		}
	}
	if !s.RPC() {
		return nil
	}
	for _, params := range []string{`{}`, `{"id":{}}`} {
		_, err := s.Edited(scenario.WithParams(s, params)).Get(ctx, s.NewID(), nil)
		if params == `{}` && probe.Refused(err, "TASK_NOT_FOUND") == nil {
			continue // a missing text equals an empty one, and no task has an empty id
		}
		if err := scenario.RefusedParams(s, err, scenario.GetMethod(s)+" with "+params); err != nil {
			return err
		}
	}
	return nil
}

func askNotification(ctx context.Context, s *probe.Session) error {
	a, err := scenario.Post(ctx, s, scenario.GetRequest(s, ""))
	if err != nil {
		return err
	}
	answer := a.JSON()
	if !answer.Has("jsonrpc") && !answer.Has("result") && !answer.Has("error") {
		return nil
	}
	// The schemas of A2A require an id, so the agent may reject the request as invalid.
	code, refused := scenario.Code(a)
	if id := answer.Get("id"); refused && (code == -32600 || code == -32602) && (id.IsNull() || !id.Exists()) {
		return nil
	}
	return probe.Fail("no JSON-RPC response, or error -32600 with a null id", "%s", scenario.Brief(a))
}

func askBatch(ctx context.Context, s *probe.Session) error {
	a, err := scenario.Post(ctx, s, "["+scenario.GetRequest(s, `"one"`)+","+scenario.GetRequest(s, `"two"`)+"]")
	if err != nil {
		return err
	}
	if a.JSON().Kind() != a2a.Array {
		return refusedBatch(a)
	}
	var ids []string
	for _, answer := range a.JSON().Elems() {
		id := answer.Get("id").Text()
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if !slices.Equal(ids, []string{"one", "two"}) {
		return probe.Fail(`an array of two responses, to "one" and to "two"`, "%s", scenario.Brief(a))
	}
	if a, err = scenario.Post(ctx, s, "[]"); err != nil {
		return err
	}
	if a.JSON().Kind() == a2a.Array {
		return probe.Fail("one error object for a batch without calls", "%s", scenario.Brief(a))
	}
	if err := refusedBatch(a); err != nil {
		return err
	}
	if a, err = scenario.Post(ctx, s, "[1,"+scenario.GetRequest(s, `"one"`)+"]"); err != nil {
		return err
	}
	n := 0
	for range a.JSON().Elems() {
		n++
	}
	if n != 2 {
		return probe.Fail("an error for the number, and a response to the call next to it", "%s", scenario.Brief(a))
	}
	return nil
}

// refusedBatch accepts the refusal of a whole batch: A2A does not define batches.
func refusedBatch(a *probe.Answer) error {
	if _, refused := scenario.Code(a); refused || a.Status >= 400 && a.Status < 500 {
		return nil
	}
	return probe.Fail("an array of responses, or one error", "%s", scenario.Brief(a))
}

func askIDs(ctx context.Context, s *probe.Session) error {
	return askIDsOf(ctx, s, `"plain"`, `"ü ✓ \" \\"`, `7`, `-7`, `0`, `2147483648`)
}

func askIDsOf(ctx context.Context, s *probe.Session, ids ...string) error {
	for _, id := range ids {
		a, err := scenario.Post(ctx, s, scenario.GetRequest(s, id))
		if err != nil {
			return err
		}
		if a.Status >= 400 && !a.JSON().Has("jsonrpc") {
			return probe.Unclear("HTTP status %d without a JSON-RPC response", a.Status)
		}
		if !jsondoc.SameID(a.JSON().Get("id"), a2a.Parse([]byte(id)).Root) {
			return probe.Fail("a response with the id "+id, "%s", scenario.Brief(a))
		}
	}
	return nil
}

func askEnvelope(ctx context.Context, s *probe.Session) error {
	_, err := s.Client.Send(ctx, s.Say(probe.Anything), client.SendOptions{})
	a := s.Last()
	if a.Exchange == nil {
		return err
	}
	answer := a.JSON()
	if a.Status >= 400 && !answer.Has("jsonrpc") {
		return probe.Unclear("HTTP status %d without a JSON-RPC response", a.Status)
	}
	var request struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(a.Exchange.Request.Body.Data, &request); err != nil {
		return fmt.Errorf("read our own request: %w", err)
	}
	switch {
	case !answer.Get("jsonrpc").Is("2.0"):
		return probe.Fail(`"jsonrpc":"2.0"`, "%s", scenario.Brief(a))
	case !jsondoc.SameID(answer.Get("id"), a2a.Parse(request.ID).Root):
		return probe.Fail("the request's id, "+string(request.ID), "%s", scenario.Brief(a))
	case answer.Has("result") == answer.Has("error"):
		return probe.Fail("exactly one of result and error", "%s", scenario.Brief(a))
	}
	return nil
}
