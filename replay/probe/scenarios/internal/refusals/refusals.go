// Package refusals tests requests that an agent must refuse: malformed requests, unknown operations, unknown tasks,
// callers without credentials. The agent must survive them.
package refusals

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/grpc"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Scenarios are about requests that an agent must refuse.
var Scenarios = scenario.In(probe.Scenario{
	Category: analysis.ErrorHandling, Level: analysis.Must,
}, []*probe.Scenario{
	{
		ID: "error-unknown-method", Title: "a method that does not exist is refused",
		Sections: []string{"JSON-RPC §5.1", "1.0 §9.5", "0.3 §8.1"}, Protocols: scenario.JsonRPC,
		Tags: []string{
			"core", "errors", "S0-4.1", "S0-V4", "S0-P5", "A3", "acts:JSONRPC-ERR-001", "tck-main:rejects_unknown_method", "S4-1.2b", "S4-P1",
		},
		Fix: "Answer a method that does not exist with error -32601.",
		Run: func(ctx context.Context, s *probe.Session) error {
			body := `{"jsonrpc":"2.0","id":"` + s.NewID() + `","method":"tasks/nonexistent","params":{}}`
			return refusedRaw(ctx, s, body, -32601)
		},
	},
	{
		ID: "not-json-rpc", Title: "JSON that is not a request is refused",
		Sections: []string{"JSON-RPC §5.1", "1.0 §9.5", "0.3 §8.1"}, Protocols: scenario.JsonRPC,
		Tags: []string{"core", "errors", "S0-4.2", "S0-V4", "S0-P5", "S4-1.5", "S4-P1"},
		Fix:  "Answer JSON that is not a request with error -32600.",
		Run: func(ctx context.Context, s *probe.Session) error {
			return refusedRaw(ctx, s, `{"not":"valid jsonrpc"}`, -32600)
		},
	},
	{
		ID: "error-task-not-found", Title: "a task that nobody made is not found",
		Sections: []string{"1.0 §3.3.2", "0.3 §8.2"},
		Tags: []string{
			"core", "errors", "S0-4.3", "S0-V4", "S0-P5", "A9", "CORE-GET-002", "acts:CORE-ERR-001",
			"tck-main:tasks_get_nonexistent", "S4-3.2a",
		},
		Fix: "Answer with the error TaskNotFound for an unknown task.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := s.Client.Get(ctx, s.NewID(), nil)
			return scenario.NotFound(s, err)
		},
	},
	{
		ID: "cancel-completed-task", Title: "an ended task cannot be canceled",
		Sections: []string{"1.0 §3.1.5", "0.3 §8.2"},
		Tags: []string{
			"core", "errors", "S0-4.4", "S0-V4", "S0-P5", "A15", "CORE-CANCEL-002", "acts:CORE-CANCEL-002",
			"acts:CORE-ERR-003", "S4-3.3",
		},
		Fix: "Refuse to cancel an ended task with TaskNotCancelable.",
		Run: askCancelEnded,
	},
	{
		ID: "auth-required", Title: "clients without credentials, or with wrong ones, are refused", Stranger: true,
		Sections: []string{"1.0 §7.4", "0.3 §4.4"}, Tags: []string{"auth", "S0-4.5", "S0-V6", "A27", "S4-6.3b", "S4-V8"},
		Fix: "Check the credentials of each request before you process it.",
		Run: askStrangers,
	},
	{
		ID: "auth-401", Title: "clients without credentials are refused with HTTP 401, over gRPC with UNAUTHENTICATED",
		Stranger: true, Level: analysis.Should,
		// 0.3 mentions only HTTP.
		Levels:   map[client.Protocol]analysis.Level{client.Early: analysis.Must, client.GRPC03: analysis.Advice},
		Sections: []string{"1.0 §7.4", "0.3 §4.4"}, Tags: []string{"auth", "S0-4.5", "S0-V6", "S4-6.3c"},
		Fix: "Answer requests without credentials with HTTP status 401, over gRPC with UNAUTHENTICATED.",
		Run: func(ctx context.Context, s *probe.Session) error {
			task, refused, err := unknown(ctx, s)
			switch {
			case err != nil:
				return err
			case scenario.Gone(refused):
				return probe.Unclear("without credentials the agent does not find task %s, which does not show whether it checked them",
					task)
			case s.Protocol().OverGRPC() && refused.Status != grpc.Unauthenticated.String():
				return probe.Fail(grpc.Unauthenticated.String(), "%s", probe.Describe(refused))
			case !s.Protocol().OverGRPC() && refused.HTTPStatus != http.StatusUnauthorized:
				return probe.Fail("HTTP 401", "%s", probe.Describe(refused))
			}
			return nil
		},
	},
	{
		ID: "auth-error-code", Title: "the refusal of clients without credentials has the code -32000", Stranger: true,
		Level: analysis.Should, Sections: []string{"JSON-RPC §5.1"}, Protocols: []client.Protocol{client.Early},
		Tags: []string{"auth", "S0-4.5"},
		Fix:  "Put error -32000 into the body of answers with HTTP status 401.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, refused, err := unknown(ctx, s)
			if err == nil && refused.Code != -32000 {
				return probe.Fail("error code -32000", "%s", probe.Describe(refused))
			}
			return err
		},
	},
	{
		ID: "still-answers", Title: "the agent still answers after all other requests", Alone: true,
		Sections: []string{"1.0 §3.3.2", "0.3 §8"}, Tags: []string{"core", "errors", "S0-4.7", "S0-P5"},
		Fix: "Refuse invalid requests, and continue to serve others.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := s.Client.Send(ctx, scenario.Named(s, s.Say(probe.CompletesTask)),
				client.SendOptions{ReturnImmediately: true})
			return err
		},
	},
})

// refusedRaw asserts that a text sent to a JSON-RPC endpoint is refused with a code.
func refusedRaw(ctx context.Context, s *probe.Session, body string, want int64) error {
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
	if s.Protocol().Version == "1.0" {
		header.Set("A2A-Version", s.Version)
	}
	a, err := s.Ask(ctx, http.MethodPost, s.Endpoint().URL, header, []byte(body))
	if err != nil {
		return err
	}
	code, ok := a.JSON().Get("error").Get("code").Int()
	switch {
	case ok && code == want:
		return nil
	case s.Protocol() == client.Early:
	case !ok && a.Status >= 400 && a.Status < 500 && !a.JSON().Has("jsonrpc"):
		return probe.Unclear("it was refused with HTTP status %d, without a JSON-RPC error", a.Status)
	case want == -32600 && code == -32602:
		return probe.Unclear("it was refused with -32602, as a request with wrong parameters")
	}
	return probe.Fail("a JSON-RPC error with the code "+fmt.Sprint(want), "HTTP %d, %s", a.Status, probe.Excerpt(a.Body))
}

func askCancelEnded(ctx context.Context, s *probe.Session) error {
	task, err := s.Finished(ctx, probe.CompletesTask)
	if err != nil {
		return err
	}
	_, err = s.Client.Cancel(ctx, task.ID, nil)
	var refused *client.Error
	switch {
	case !errors.As(err, &refused):
		return probe.Refused(err)
	case scenario.NamesTasks(s) && refused.Code == 0 && refused.HTTPStatus < http.StatusInternalServerError:
		return probe.Unclear("it was refused with HTTP status %d, without a JSON-RPC error", refused.HTTPStatus)
	case scenario.NamesTasks(s) && refused.HTTPStatus >= http.StatusInternalServerError &&
		(refused.Code == 0 || refused.Code == -32603):
		return probe.Fail("a JSON-RPC error", "%s", probe.Describe(refused))
	case scenario.NamesTasks(s):
		return nil // any error is sufficient
	case refused.Reason == "UNSUPPORTED_OPERATION" && !s.Scripted():
		return probe.Unclear("the agent cancels nothing, as it says")
	}
	if r := scenario.Refusal(err); r != nil && s.Protocol() == client.REST03 && r.HTTPStatus/100 == 4 {
		return nil // errors have no defined form
	} else if r != nil && s.Protocol() == client.GRPC03 && !r.Internal() {
		return nil // nor have details
	}
	return probe.Refused(err, "TASK_NOT_CANCELABLE", "TASK_NOT_FOUND")
}

// known returns a task that is readable with credentials; empty if none exists.
func known(ctx context.Context, s *probe.Session) (string, error) {
	if !s.HasCredentials() {
		if !scenario.AsksCredentials(s) {
			return "", &probe.Skip{Why: "the card requires no credentials, and none were given"}
		}
		return "", nil
	}
	r, err := s.Client.Send(ctx, scenario.Named(s, s.Say(probe.CompletesTask)), client.SendOptions{})
	if err != nil {
		return "", probe.Unclear("a message with credentials is refused too: %v", err)
	}
	if r.Task == nil {
		return "", nil
	}
	if err := visit(ctx, s, s.Client, r.Task.ID); scenario.Gone(err) {
		return "", nil
	} else if err != nil {
		return "", probe.Unclear("task %s cannot be read with credentials either: %v", r.Task.ID, err)
	}
	return r.Task.ID, nil
}

// visit reads a task, or sends a message if there is no task.
func visit(ctx context.Context, s *probe.Session, c *client.Client, task string) error {
	if task != "" {
		_, err := c.Get(ctx, task, nil)
		return err
	}
	_, err := c.Send(ctx, scenario.Named(s, s.Say(probe.CompletesTask)), client.SendOptions{ReturnImmediately: true})
	return err
}

// unknown sends a request without credentials, and returns the refusal. If the agent does not refuse, the case is
// inconclusive: auth-required tests that.
func unknown(ctx context.Context, s *probe.Session) (task string, refused *client.Error, err error) {
	task, err = known(ctx, s)
	if err != nil {
		return "", nil, err
	}
	c := s.Anonymous()
	defer c.Close()
	err = visit(ctx, s, c, task)
	if err == nil {
		return task, nil, probe.Unclear("the agent answered without credentials")
	}
	if !errors.As(err, &refused) {
		return task, nil, err
	}
	return task, refused, nil
}

func askStrangers(ctx context.Context, s *probe.Session) error {
	task, err := known(ctx, s)
	if err != nil {
		return err
	}
	for _, stranger := range []struct {
		who    string
		client *client.Client
	}{{"without credentials", s.Anonymous()}, {"with wrong credentials", impostor(s)}} {
		err := visit(ctx, s, stranger.client, task)
		stranger.client.Close()
		if err != nil {
			if err := probe.Refused(err); err != nil {
				return err
			}
			continue
		}
		if scenario.AsksCredentials(s) {
			return probe.Fail("a refusal "+stranger.who, "the request was answered")
		}
		return probe.Unclear("the agent answered %s, and its card requires none", stranger.who)
	}
	return nil
}

// impostor returns a client like Client with invalid credentials.
func impostor(s *probe.Session) *client.Client {
	secret := "wrong-" + s.NewID()
	var places a2a.Credentials
	if card, err := scenario.DeclaredCard(s); err == nil {
		places = card.Credentials()
	}
	edit := func(out *client.Outgoing) {
		for _, name := range places.Headers {
			out.Header.Set(name, secret)
		}
		u, err := url.Parse(out.URL)
		if err != nil || len(places.Query) == 0 {
			return
		}
		query := u.Query()
		for _, name := range places.Query {
			query.Set(name, secret)
		}
		u.RawQuery = query.Encode()
		out.URL = u.String()
	}
	return s.With(func(o *client.Options) { o.Token, o.Authorize, o.Header, o.Edit = secret, nil, nil, edit })
}
