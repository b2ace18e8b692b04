package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/replay/client"
)

// Protocols of one version.
var (
	v10     = []client.Protocol{client.JSONRPC10, client.REST10}
	since03 = []client.Protocol{client.JSONRPC10, client.REST10, client.JSONRPC03, client.REST03}
)

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

// declared returns the card as it stands in JSON.
func (s *Session) declared() a2a.Value {
	if s.Card == nil {
		return a2a.Value{}
	}
	return a2a.Parse(s.Card.Raw).Root
}

// resultOf takes an answer out of its binding.
func (s *Session) resultOf(a *Answer) a2a.Value {
	if s.RPC() {
		return a.JSON().Get("result")
	}
	return a.JSON()
}

// release cancels a task that has served its purpose. Whether that succeeds is another scenario's question.
func (s *Session) release(ctx context.Context, id string) { s.Client.Cancel(ctx, id, nil) }

// conversation makes a task with some history: two messages where the agent asks back, else one.
func (s *Session) conversation(ctx context.Context) (*client.Task, error) {
	task, err := s.Task(ctx, AsksBack, client.SendOptions{})
	if err != nil || task.Status.State != client.InputRequired {
		return task, err
	}
	m := s.Say(AsksBack)
	m.TaskID = task.ID
	return TaskOf(s.Client.Send(ctx, m, client.SendOptions{}))
}

// historyAtMost reads a task with a limit to its history.
func (s *Session) historyAtMost(ctx context.Context, id string, n int) error {
	task, err := s.Client.Get(ctx, id, &n)
	if gone(err) {
		return Unclear("task %s is not kept", id)
	}
	if err != nil {
		return err
	}
	if len(task.History) > n {
		return Fail("at most that many messages of history as were asked for", "%d, where %d were wanted",
			len(task.History), n)
	}
	return nil
}

// refusedParams asserts that parameters were refused as invalid.
func (s *Session) refusedParams(err error, what string) error {
	refused := refusal(err)
	expected := "error -32602 for " + what
	if !s.RPC() {
		expected = "status 400 for " + what
	}
	switch {
	case err == nil:
		return Fail(expected, "the call succeeded")
	case refused == nil:
		return err
	case s.RPC() && refused.Code == 0 && refused.HTTPStatus/100 == 4:
		return Unclear("%s: refused by HTTP status %d alone, without an error of JSON-RPC", what, refused.HTTPStatus)
	case s.RPC() && refused.Code == -32602, !s.RPC() && refused.HTTPStatus == http.StatusBadRequest:
		return nil
	case !s.RPC() && s.Protocol().Version != "1.0" && refused.HTTPStatus/100 == 4:
		return nil // 0.3 leaves the status to the agent
	}
	return Fail(expected, "%s", describe(refused))
}

// namesTasks reports whether clients make the ids of tasks, as up to 0.1.
func (s *Session) namesTasks() bool {
	return s.Protocol() == client.JSONRPC01 || s.Protocol() == client.Early
}

// named gives a message the ids of a new task and session where clients make them.
func (s *Session) named(m client.Message) client.Message {
	if s.namesTasks() {
		m.TaskID, m.ContextID = "test-"+s.NewID(), "session-"+s.NewID()
	}
	return m
}

// sameTask asserts that a task is the one that a message was about.
func sameTask(task *client.Task, id, contextID string) error {
	if id != "" && task.ID != id {
		return Fail("task "+id, "task %s", task.ID)
	}
	if contextID != "" && task.ContextID != "" && task.ContextID != contextID {
		return Fail("task "+id+" in context "+contextID, "it is in context %s", task.ContextID)
	}
	return nil
}

func levels(word analyzer.Level, in ...client.Protocol) map[client.Protocol]analyzer.Level {
	m := make(map[client.Protocol]analyzer.Level, len(in))
	for _, p := range in {
		m[p] = word
	}
	return m
}

// declaredCard returns the card as it was written. Without one nothing can be said about what is in it.
func (s *Session) declaredCard() (a2a.Card, error) {
	if s.Card == nil {
		return a2a.Card{}, Unclear("there is no card to look at")
	}
	return a2a.DecodeCard(a2a.Parse(s.Card.Raw).Root), nil
}

// written quotes a value for people.
func written(v a2a.Value) string {
	if !v.Exists() {
		return "nothing"
	}
	return excerpt(v.Raw())
}

// nowhere is the URL of a webhook where nobody listens.
const nowhere = "https://webhook.example/a2atap"

// patience is how long an agent may take to close a stream after the event that ends its task.
const patience = 10 * time.Second

// jsonRPC are the protocols over JSON-RPC.
var jsonRPC = []client.Protocol{client.JSONRPC10, client.JSONRPC03, client.JSONRPC01, client.Early}
