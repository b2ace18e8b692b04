package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/replay/client"
)

// Protocols of one version.
var (
	v10     = []client.Protocol{client.JSONRPC10, client.REST10}
	since03 = []client.Protocol{client.JSONRPC10, client.REST10, client.JSONRPC03, client.REST03}
)

// acts are what an agent is asked beside the basics.
var acts = slices.Concat(
	rpcScenarios, contextScenarios, operationScenarios, historyScenarios, listScenarios, actStreams, parallelScenarios,
	authScenarios, versionScenarios, bindingScenarios, extensionScenarios, robustnessScenarios, scriptedScenarios,
	configScenarios, tenantScenarios, signatureScenarios,
)

// Live makes a task that is not over yet, so that something can be done to it meanwhile. Where the agent is done at
// once the case is inconclusive.
func (s *Session) Live(ctx context.Context) (*client.Task, error) {
	task, err := s.Task(ctx, WaitsForCancel, client.SendOptions{ReturnImmediately: true})
	if err == nil && task.Status.State.Terminal() {
		return task, Unclear("task %s was %s at once, and this is about one at work", task.ID, task.Status.State)
	}
	return task, err
}

// Waiting makes a task that waits for input. Where the agent does not ask back the case is inconclusive.
func (s *Session) Waiting(ctx context.Context) (*client.Task, error) {
	task, err := s.Task(ctx, AsksBack, client.SendOptions{})
	if err != nil {
		return task, err
	}
	if !Settled(task.Status.State) {
		if task, err = s.Settle(ctx, task.ID); err != nil {
			return task, err
		}
	}
	if task.Status.State != client.InputRequired {
		return task, Unclear("task %s is %s, and this is about one that waits for input", task.ID, task.Status.State)
	}
	return task, nil
}

// rpcPost sends a text to a JSON-RPC endpoint, which need not be a request at all.
func (s *Session) rpcPost(ctx context.Context, body string) (*Answer, error) {
	return s.Ask(ctx, http.MethodPost, s.Endpoint().URL, s.header(), []byte(body))
}

// header returns the fields that a request of the protocol bears.
func (s *Session) header() http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
	if s.Protocol().Version == "1.0" {
		h.Set("A2A-Version", "1.0")
	}
	return h
}

// getMethod is what JSON-RPC calls the operation that reads a task.
func (s *Session) getMethod() string {
	if s.Protocol().Version == "1.0" {
		return "GetTask"
	}
	return "tasks/get"
}

// getRequest writes a JSON-RPC request for a task that nobody made; the id is a JSON value, empty for none.
func (s *Session) getRequest(id string) string {
	if id != "" {
		id = `"id":` + id + `,`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0",%s"method":%q,"params":{"id":%q}}`, id, s.getMethod(), s.NewID())
}

// withParams returns an edit that puts other parameters, a JSON value, in place of those of a request that has a body.
func (s *Session) withParams(params string) func(*client.Outgoing) {
	return s.editRPC(func(members map[string]json.RawMessage) {
		members["params"] = json.RawMessage(params)
	}, params)
}

// editRPC returns an edit of the members of a JSON-RPC request; of a request of HTTP+JSON the body is replaced.
func (s *Session) editRPC(edit func(map[string]json.RawMessage), body string) func(*client.Outgoing) {
	return func(out *client.Outgoing) {
		if !s.RPC() {
			out.Body = []byte(body)
			return
		}
		members := map[string]json.RawMessage{}
		if json.Unmarshal(out.Body, &members) != nil {
			return
		}
		edit(members)
		out.Body, _ = json.Marshal(members) // it was JSON, or is a constant of ours
	}
}

// setHeader returns an edit that sets a field, or removes it if the value is empty.
func setHeader(name, value string) func(*client.Outgoing) {
	return func(out *client.Outgoing) {
		if value == "" {
			out.Header.Del(name)
			return
		}
		out.Header.Set(name, value)
	}
}

// brief quotes an answer in one line.
func brief(a *Answer) string {
	text := strings.Join(strings.Fields(excerpt(a.Body)), " ")
	if events := a.Events(); len(events) > 0 {
		text = fmt.Sprintf("%d events, the first %s", len(events), excerpt(events[0]))
	}
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	if a.Status == 0 {
		return "no answer"
	}
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", a.Status, text))
}

// rpcCode returns the code of a JSON-RPC error, and whether the answer is one.
func rpcCode(a *Answer) (int, bool) {
	code, ok := a.JSON().Get("error").Get("code").Int()
	return int(code), ok
}

// wantCode asserts that an answer is a JSON-RPC error with one of the codes. A refusal by HTTP alone is unclear: a
// gateway may have answered.
func wantCode(a *Answer, codes ...int) error {
	code, ok := rpcCode(a)
	switch {
	case ok && slices.Contains(codes, code):
		return nil
	case !ok && a.Status >= 400 && a.Status < 500 && !a.JSON().Has("jsonrpc"):
		return Unclear("it was refused by HTTP status %d alone, without an error of JSON-RPC", a.Status)
	}
	var words []string
	for _, c := range codes {
		words = append(words, fmt.Sprint(c))
	}
	return Fail("a JSON-RPC error with code "+strings.Join(words, " or "), "%s", brief(a))
}

// refusal returns the refusal that an error is, or nil.
func refusal(err error) *client.Error {
	var refused *client.Error
	errors.As(err, &refused)
	return refused
}

// notFound asserts that a task was not found. HTTP+JSON of 0.3 has no form for errors: there the status says it.
func (s *Session) notFound(err error) error {
	if r := refusal(err); r != nil && s.Protocol() == client.REST03 && r.HTTPStatus == http.StatusNotFound {
		return nil
	}
	return Refused(err, "TASK_NOT_FOUND")
}

// gone reports whether an agent says that there is no such task: it may have been removed since it ended.
func gone(err error) bool {
	r := refusal(err)
	return r != nil && r.Reason == "TASK_NOT_FOUND"
}

// broken reports whether a refusal is an internal error.
func broken(err error) bool {
	r := refusal(err)
	return r != nil && (r.Code == -32603 || r.HTTPStatus >= http.StatusInternalServerError)
}

// contextOf returns the context of what came for a message.
func contextOf(r *client.Result) string {
	if r.Task != nil {
		return r.Task.ContextID
	}
	return r.Message.ContextID
}

// declared returns the card as it stands in JSON.
func (s *Session) declared() a2a.Value {
	if s.Card == nil {
		return a2a.Value{}
	}
	return a2a.Parse(s.Card.Raw).Root
}

// requiresSecurity reports whether the card asks for credentials with every request, with no alternative of none.
func (s *Session) requiresSecurity() bool {
	for _, name := range []string{"securityRequirements", "security"} {
		required := s.declared().Get(name)
		n := 0
		for _, alternative := range required.Elems() {
			if schemes := alternative.Get("schemes"); schemes.Kind() == a2a.Object {
				alternative = schemes
			}
			if alternative.Len() == 0 {
				return false
			}
			n++
		}
		if n > 0 {
			return true
		}
	}
	return false
}

// asUser reports whether the run has credentials.
func (s *Session) asUser() bool {
	o := s.target.opts.Client
	return o.Token != "" || o.Authorize != nil || len(o.Header) > 0
}

// resultOf takes an answer out of its binding.
func (s *Session) resultOf(a *Answer) a2a.Value {
	if s.RPC() {
		return a.JSON().Get("result")
	}
	return a.JSON()
}
