// Package binding tests features of a single binding, whether the bindings of an agent agree, and the tenants of
// their interfaces.
package binding

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Scenarios are about features of a single binding, and about whether the bindings agree.
var Scenarios = scenario.In(probe.Scenario{
	Category: analysis.ErrorHandling, Level: analysis.Must,
}, []*probe.Scenario{
	{
		ID: "act-rest-status-codes", Title: "errors over HTTP+JSON have their status, an envelope and an ErrorInfo",
		Protocols: []client.Protocol{client.REST10}, Sections: []string{"1.0 §5.4", "1.0 §11.6"},
		Tags: []string{
			"errors", "wire-format", "A55", "HTTP_JSON-STATUS-001", "HTTP_JSON-ERR-001", "HTTP_JSON-ERR-002",
			"acts:REST-STATUS-001", "acts:REST-PD-001",
		},
		Fix: "Send {\"error\":{code, status, message, details}} with the HTTP status of the error as code.",
		Run: func(ctx context.Context, s *probe.Session) error { return eachError(ctx, s, goodRESTError) },
	},
	{
		ID: "act-grpc-status-codes", Title: "errors over gRPC have their status, with an ErrorInfo in its details",
		Protocols: []client.Protocol{client.GRPC10}, Sections: []string{"1.0 §5.4", "1.0 §10.6"},
		Tags: []string{"errors", "wire-format", "A56", "GRPC-ERR-001", "GRPC-ERR-002"},
		Fix:  "Answer with the status of the error, and its ErrorInfo in grpc-status-details-bin.",
		Run:  func(ctx context.Context, s *probe.Session) error { return eachError(ctx, s, goodGRPCError) },
	},
	{
		ID: "act-rpc-error-codes", Title: "errors over JSON-RPC have their code, a message, and typed data",
		Protocols: []client.Protocol{client.JSONRPC10}, Sections: []string{"1.0 §5.4", "1.0 §9.5"},
		Tags: []string{
			"errors", "wire-format", "CORE-ERR-001", "JSONRPC-ERR-001", "JSONRPC-ERR-002", "JSONRPC-SSE-002",
			"acts:CORE-ERR-005", "acts:CORE-ERR-007", "acts:CORE-ERR-008", "tck-main:error_response_completeness",
		},
		Fix: "Send errors with an integer code, a message, and data that is a list of objects with @type.",
		Run: func(ctx context.Context, s *probe.Session) error { return eachError(ctx, s, goodRPCError) },
	},
	{
		ID: "act-rpc-errorinfo", Title: "errors over JSON-RPC have their reason in an ErrorInfo", Level: analysis.Should,
		Protocols: []client.Protocol{client.JSONRPC10}, Sections: []string{"1.0 §9.5"},
		Tags: []string{"errors", "JSONRPC-ERR-003", "acts:JSONRPC-ERR-003"},
		Fix:  "Put a google.rpc.ErrorInfo with the reason of A2A 1.0 §5.4 into the data of errors.",
		Run: func(ctx context.Context, s *probe.Session) error {
			return eachError(ctx, s, func(k knownError, a *probe.Answer) error {
				return hasErrorInfo(a.JSON().Get("error").Get("data"), k, a)
			})
		},
	},
	{
		ID: "act-binding-equivalence", Title: "tasks and errors are the same over all bindings",
		Category: analysis.Interop, Protocols: scenario.V10, Once: true, Sections: []string{"1.0 §5.1"},
		Tags: []string{
			"bindings", "A48", "BIND-EQUIV-001", "BIND-EQUIV-002", "BIND-EQUIV-003", "BIND-EQUIV-004",
			"tck-main:task_retrieval_equivalence", "tck-main:same_error_handling_task_not_found",
		},
		Fix: "Let all bindings work on the same tasks, and give the same errors.",
		Run: askEquivalence,
	},
	{
		ID: "act-rest-routes", Title: "every HTTP+JSON path is served, with its parameters", Category: analysis.Interop,
		Protocols: []client.Protocol{client.REST10}, Sections: []string{"1.0 §11.3", "1.0 §11.5"},
		Tags: []string{
			"bindings", "HTTP_JSON-URL-001", "HTTP_JSON-URL-002", "HTTP_JSON-QP-001", "tck-main:rest_specific_features",
		},
		Fix: "Serve /message:send, /tasks, /tasks/{id} and /tasks/{id}:cancel, and read their query in camelCase.",
		Run: askRoutes,
	},
	{
		ID: "act-rest-media-type", Title: "answers over HTTP+JSON have a JSON media type",
		Category: analysis.Interop, Level: analysis.Should, Protocols: []client.Protocol{client.REST10},
		Sections: []string{"1.0 §11.1"}, Tags: []string{"bindings", "HTTP_JSON-SVC-001", "acts:REST-CT-001"},
		Fix: "Send answers as application/a2a+json, or as application/json.",
		Run: func(ctx context.Context, s *probe.Session) error {
			if _, err := s.Client.Send(ctx, s.Say(probe.Anything), client.SendOptions{}); scenario.Refusal(err) != nil {
				return err
			}
			if got := s.Last().Header.MediaType(); got != "application/json" && got != "application/a2a+json" {
				return probe.Fail("application/a2a+json or application/json", "%q", s.Last().Header.Get("Content-Type"))
			}
			return nil
		},
	},
})

// A knownError is an error that every agent can be made to return.
type knownError struct {
	reason   string
	code     int      // of JSON-RPC
	statuses []int    // HTTP statuses of 1.0.0 and 1.0.1
	grpc     []string // gRPC statuses of 1.0.0 and 1.0.1
	provoke  func(context.Context, *probe.Session) error
}

// unsupported are the statuses for unsupported operations.
var unsupported = []string{"UNIMPLEMENTED", "FAILED_PRECONDITION"}

var knownErrors = []knownError{
	{"TASK_NOT_FOUND", -32001, []int{404}, []string{"NOT_FOUND"}, func(ctx context.Context, s *probe.Session) error {
		_, err := s.Client.Get(ctx, s.NewID(), nil)
		return err
	}},
	{"VERSION_NOT_SUPPORTED", -32009, []int{400}, unsupported, func(ctx context.Context, s *probe.Session) error {
		_, err := s.Edited(scenario.SetHeader("A2A-Version", "99.9")).Get(ctx, s.NewID(), nil)
		return err
	}},
	{
		"TASK_NOT_CANCELABLE", -32002,
		[]int{400, 409},
		[]string{"FAILED_PRECONDITION"},
		func(ctx context.Context, s *probe.Session) error {
			task, err := s.Finished(ctx, probe.CompletesTask)
			if err == nil {
				_, err = s.Client.Cancel(ctx, task.ID, nil)
			}
			return err
		},
	},
	{"UNSUPPORTED_OPERATION", -32004, []int{400}, unsupported, func(ctx context.Context, s *probe.Session) error {
		task, err := s.Finished(ctx, probe.CompletesTask)
		if err != nil {
			return err
		}
		m := s.Say(probe.CompletesTask)
		m.TaskID = task.ID
		_, err = s.Client.Send(ctx, m, client.SendOptions{})
		return err
	}},
	{"PUSH_NOTIFICATION_NOT_SUPPORTED", -32003, []int{400}, unsupported, func(ctx context.Context, s *probe.Session) error {
		if s.Card == nil || s.Card.Push {
			return nil
		}
		_, err := s.Client.ListPush(ctx, s.NewID())
		return err
	}},
}

// certain are the gRPC statuses that libraries and gateways do not return by themselves.
var certain = []string{"NOT_FOUND", "FAILED_PRECONDITION"}

// eachError checks the answer of each known error. It ignores unexpected errors: other scenarios test whether the
// right error came.
func eachError(ctx context.Context, s *probe.Session, look func(knownError, *probe.Answer) error) error {
	n := 0
	for _, k := range knownErrors {
		err := k.provoke(ctx, s)
		if refused := scenario.Refusal(err); refused == nil || refused.Reason != k.reason && refused.HTTPStatus/100 == 5 {
			continue
		} else if refused.Reason != "" && refused.Reason != k.reason {
			continue
		} else if refused.Status != "" && refused.Reason == "" && !slices.Contains(certain, refused.Status) {
			continue
		}
		n++
		if err := look(k, s.Last()); err != nil {
			return err
		}
	}
	if n == 0 {
		return probe.Unclear("the agent returned no A2A error")
	}
	return nil
}

func goodGRPCError(k knownError, a *probe.Answer) error {
	object := a.JSON().Get("error")
	if !slices.Contains(k.grpc, object.Get("status").Text()) {
		return probe.Fail(strings.Join(k.grpc, " or ")+" for "+k.reason, "%s", scenario.Brief(a))
	}
	return hasErrorInfo(object.Get("details"), k, a)
}

func goodRESTError(k knownError, a *probe.Answer) error {
	object := a.JSON().Get("error")
	code, _ := object.Get("code").Int()
	switch {
	case !slices.Contains(k.statuses, a.Status):
		return probe.Fail(fmt.Sprintf("HTTP status %v for %s", k.statuses, k.reason), "%s", scenario.Brief(a))
	case object.Kind() != a2a.Object:
		return probe.Fail("the member error, an object", "%s", scenario.Brief(a))
	case int(code) != a.Status:
		return probe.Fail(fmt.Sprintf("code %d, the HTTP status", a.Status), "%s", scenario.Brief(a))
	case object.Get("message").Text() == "" || object.Get("status").Text() == "":
		return probe.Fail("a message and a status", "%s", scenario.Brief(a))
	}
	return hasErrorInfo(object.Get("details"), k, a)
}

func goodRPCError(k knownError, a *probe.Answer) error {
	object := a.JSON().Get("error")
	code, ok := object.Get("code").Int()
	switch {
	case !ok || int(code) != k.code:
		return probe.Fail(fmt.Sprintf("code %d for %s", k.code, k.reason), "%s", scenario.Brief(a))
	case object.Get("message").Text() == "":
		return probe.Fail("a message", "%s", scenario.Brief(a))
	case object.Has("data") && object.Get("data").Kind() != a2a.Array:
		return probe.Fail("data that is a list", "%s", scenario.Brief(a))
	}
	for _, detail := range object.Get("data").Elems() {
		if detail.Get("@type").Text() == "" {
			return probe.Fail("data whose objects have @type", "%s", scenario.Brief(a))
		}
	}
	return nil
}

// hasErrorInfo asserts that details hold the ErrorInfo of an error.
func hasErrorInfo(details a2a.Value, k knownError, a *probe.Answer) error {
	for _, d := range details.Elems() {
		if d.Get("@type").Is("type.googleapis.com/google.rpc.ErrorInfo") && d.Get("reason").Is(k.reason) &&
			d.Get("domain").Is("a2a-protocol.org") {
			return nil
		}
	}
	return probe.Fail("an ErrorInfo with the reason "+k.reason+" and the domain a2a-protocol.org", "%s",
		scenario.Brief(a))
}

// others returns clients for the interfaces of the same version in other bindings.
func others(s *probe.Session) []*client.Client {
	var found []*client.Client
	for _, at := range s.Interfaces() {
		if at.Protocol.Version == s.Protocol().Version && at.Protocol != s.Protocol() {
			found = append(found, s.At(at, func(*client.Options) {}))
		}
	}
	return found
}

// artifactNames returns the names of a task's artifacts, by id.
func artifactNames(t *client.Task) map[string]string {
	names := make(map[string]string, len(t.Artifacts))
	for _, a := range t.Artifacts {
		names[a.ID] = a.Name
	}
	return names
}

func askEquivalence(ctx context.Context, s *probe.Session) error {
	others := others(s)
	if len(others) == 0 {
		return &probe.Skip{Why: "the card offers one binding"}
	}
	task, err := s.Finished(ctx, probe.CompletesTask)
	if err != nil {
		return err
	}
	for _, other := range others {
		binding := other.Endpoint().Protocol.Binding
		read, err := other.Get(ctx, task.ID, nil)
		if err != nil {
			return probe.Fail("task "+task.ID+" over "+binding, "%v", err)
		}
		if read.ID != task.ID || read.ContextID != task.ContextID || read.Status.State != task.Status.State ||
			!maps.Equal(artifactNames(read), artifactNames(task)) {
			return probe.Fail("the same task over "+binding, "%s", read.Raw)
		}
		_, here := s.Client.Cancel(ctx, s.NewID(), nil)
		_, there := other.Cancel(ctx, s.NewID(), nil)
		a, b := scenario.Refusal(here), scenario.Refusal(there)
		if a == nil || b == nil || a.Reason != b.Reason {
			return probe.Fail("the same error for an unknown task over "+binding, "%v; %v", here, there)
		}
		if r, err := other.Send(ctx, s.Say(probe.Anything), client.SendOptions{}); err != nil || r == nil {
			return probe.Fail("an answer to a message over "+binding, "%v", err)
		}
	}
	return nil
}

func askRoutes(ctx context.Context, s *probe.Session) error {
	task, err := scenario.Conversation(ctx, s)
	if err != nil {
		return err
	}
	if _, err := s.Client.Get(ctx, task.ID, nil); err != nil {
		return err
	}
	if err := scenario.HistoryAtMost(ctx, s, task.ID, 0); err != nil {
		return err
	}
	page, err := s.Client.List(ctx, client.ListOptions{PageSize: 1})
	if err != nil {
		return err
	}
	if len(page.Tasks) > 1 {
		return probe.Fail("one task for pageSize=1", "%d", len(page.Tasks))
	}
	_, err = s.Client.Cancel(ctx, task.ID, nil)
	if r := scenario.Refusal(err); r != nil && r.Reason == "" {
		return probe.Fail("POST /tasks/{id}:cancel to be served", "%s", probe.Describe(r))
	}
	return nil
}
