// Package scenario has the common parts of several families of scenarios: preparatory steps, deliberately wrong
// requests, and checks of the answers.
package scenario

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/safetext"
	"a2atap/replay/client"
	"a2atap/replay/probe"
)

// Protocols of 1.0, of 0.3, of all since a version, and of 0.1 to 0.3; with 0.3 there is 0.2, which is the same on the wire.
var (
	V10     = []client.Protocol{client.JSONRPC10, client.REST10, client.GRPC10}
	V03     = []client.Protocol{client.JSONRPC03, client.REST03, client.GRPC03}
	Since03 = slices.Concat(V10, V03)
	Since01 = append(Since03[:len(Since03):len(Since03)], client.JSONRPC01)
	Old     = append(V03[:len(V03):len(V03)], client.JSONRPC01)

	Before10     = append(Old[:len(Old):len(Old)], client.Early)
	EveryVersion = slices.Concat(V10, Before10)
)

// JSON10 are the protocols of 1.0 whose messages are JSON, and HTTP those whose calls are requests of HTTP.
var (
	JSON10 = []client.Protocol{client.JSONRPC10, client.REST10}
	HTTP   = slices.DeleteFunc(client.Protocols(), client.Protocol.OverGRPC)
)

// In returns the scenarios of a family. Each scenario gets the usual category, level, protocols, needs and sections
// unless it sets them, and runs once if that is usual. Advice, the zero level, counts as not set.
func In(usual probe.Scenario, family []*probe.Scenario) []*probe.Scenario {
	for _, s := range family {
		s.Category, s.Level = cmp.Or(s.Category, usual.Category), cmp.Or(s.Level, usual.Level)
		if s.Protocols == nil {
			s.Protocols = usual.Protocols
		}
		if s.Needs == nil {
			s.Needs = usual.Needs
		}
		if s.Sections == nil {
			s.Sections = usual.Sections
		}
		s.Once = s.Once || usual.Once
	}
	return family
}

// Post sends any text to a JSON-RPC endpoint. The text need not be a request.
func Post(ctx context.Context, s *probe.Session, body string) (*probe.Answer, error) {
	return s.Ask(ctx, http.MethodPost, s.Endpoint().URL, header(s), []byte(body))
}

// header returns the header fields of the protocol's requests.
func header(s *probe.Session) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
	if s.Protocol().Version == "1.0" {
		h.Set("A2A-Version", "1.0")
	}
	return h
}

// GetMethod returns the JSON-RPC method that reads a task.
func GetMethod(s *probe.Session) string {
	if s.Protocol().Version == "1.0" {
		return "GetTask"
	}
	return "tasks/get"
}

// GetRequest writes a JSON-RPC request for an unknown task; the id is a JSON value, empty for none.
func GetRequest(s *probe.Session, id string) string {
	if id != "" {
		id = `"id":` + id + `,`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0",%s"method":%q,"params":{"id":%q}}`, id, GetMethod(s), s.NewID())
}

// WithParams returns an edit that replaces the parameters of a request with a body by a JSON value. Over gRPC the
// value is written as a message; WithParams panics if that fails.
func WithParams(s *probe.Session, params string) func(*client.Outgoing) {
	if s.Protocol().OverGRPC() {
		return func(out *client.Outgoing) {
			head := capture.Head{Method: out.Method, Target: out.URL}
			head.Fields = capture.Fields{{Name: "Content-Type", Value: out.Header.Get("Content-Type")}}
			body, err := head.GRPCMessage().Write(a2a.Parse([]byte(params)).Root)
			if err != nil {
				panic(fmt.Sprintf("scenario: write %s as a message: %v", params, err))
			}
			out.Body = body
		}
	}
	return editRPC(s, func(members map[string]json.RawMessage) {
		members["params"] = json.RawMessage(params)
	}, params)
}

// editRPC returns an edit of the members of a JSON-RPC request; for HTTP+JSON it replaces the body.
func editRPC(s *probe.Session, edit func(map[string]json.RawMessage), body string) func(*client.Outgoing) {
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
		out.Body, _ = json.Marshal(members) // it was JSON, or is a constant of this package
	}
}

// SetHeader returns an edit that sets a field, or removes it if the value is empty.
func SetHeader(name, value string) func(*client.Outgoing) {
	return func(out *client.Outgoing) {
		if value == "" {
			out.Header.Del(name)
			return
		}
		out.Header.Set(name, value)
	}
}

// Brief quotes an answer on one line.
func Brief(a *probe.Answer) string {
	text := strings.Join(strings.Fields(probe.Excerpt(a.Body)), " ")
	if events := a.Events(); len(events) > 0 {
		text = fmt.Sprintf("%d events, the first %s", len(events), probe.Excerpt(events[0]))
	}
	text = safetext.Short(text, 300)
	switch {
	case a.Status == 0:
		return "no answer"
	case a.GRPC != nil:
		return strings.TrimSpace(a.GRPC.Code.String() + " " + text)
	}
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", a.Status, text))
}

// Code returns the code of a JSON-RPC error, and whether the answer is such an error.
func Code(a *probe.Answer) (int, bool) {
	code, ok := a.JSON().Get("error").Get("code").Int()
	return int(code), ok
}

// WantCode asserts that an answer is a JSON-RPC error with one of the codes. A refusal with only an HTTP status is
// unclear: a gateway may have answered.
func WantCode(a *probe.Answer, codes ...int) error {
	code, ok := Code(a)
	switch {
	case ok && slices.Contains(codes, code):
		return nil
	case !ok && a.Status >= 400 && a.Status < 500 && !a.JSON().Has("jsonrpc"):
		return probe.Unclear("it was refused with HTTP status %d, without a JSON-RPC error", a.Status)
	}
	var words []string
	for _, c := range codes {
		words = append(words, fmt.Sprint(c))
	}
	return probe.Fail("a JSON-RPC error with code "+strings.Join(words, " or "), "%s", Brief(a))
}

// Refusal returns the refusal in an error, or nil.
func Refusal(err error) *client.Error {
	refused, _ := errors.AsType[*client.Error](err)
	return refused
}

// NotFound asserts that a task was not found. HTTP+JSON of 0.3 has no form for errors: the status is checked there.
func NotFound(s *probe.Session, err error) error {
	if r := Refusal(err); r != nil && s.Protocol() == client.REST03 && r.HTTPStatus == http.StatusNotFound {
		return nil
	}
	return probe.Refused(err, "TASK_NOT_FOUND")
}

// Gone reports whether an agent says that the task does not exist: it may have been removed after its end.
func Gone(err error) bool {
	r := Refusal(err)
	return r != nil && r.Reason == "TASK_NOT_FOUND"
}

// Broken reports whether a refusal is an internal error.
func Broken(err error) bool {
	r := Refusal(err)
	return r != nil && r.Internal()
}

// Declared returns the card as received, parsed as JSON.
func Declared(s *probe.Session) a2a.Value {
	if s.Card == nil {
		return a2a.Value{}
	}
	return a2a.Parse(s.Card.Raw).Root
}

// ResultOf removes the binding's envelope from an answer.
func ResultOf(s *probe.Session, a *probe.Answer) a2a.Value {
	if s.RPC() {
		return a.JSON().Get("result")
	}
	return a.JSON()
}

// Release cancels a task that is no longer needed. Other scenarios test whether that succeeds.
func Release(ctx context.Context, s *probe.Session, id string) { s.Client.Cancel(ctx, id, nil) }

// Conversation creates a task with some history: two messages if the agent asks back, else one.
func Conversation(ctx context.Context, s *probe.Session) (*client.Task, error) {
	task, err := s.Task(ctx, probe.AsksBack, client.SendOptions{})
	if err != nil || task.Status.State != client.InputRequired {
		return task, err
	}
	m := s.Say(probe.AsksBack)
	m.TaskID = task.ID
	return probe.TaskOf(s.Client.Send(ctx, m, client.SendOptions{}))
}

// HistoryAtMost reads a task with a limit to its history.
func HistoryAtMost(ctx context.Context, s *probe.Session, id string, n int) error {
	task, err := s.Client.Get(ctx, id, &n)
	if Gone(err) {
		return probe.Unclear("task %s was not kept", id)
	}
	if err != nil {
		return err
	}
	if len(task.History) > n {
		return probe.Fail("at most the requested number of history messages", "%d, with a limit of %d",
			len(task.History), n)
	}
	return nil
}

// RefusedParams asserts that the agent refused parameters as invalid.
func RefusedParams(s *probe.Session, err error, what string) error {
	refused := Refusal(err)
	expected := "status 400 for " + what
	switch {
	case s.RPC():
		expected = "error -32602 for " + what
	case s.Protocol().OverGRPC():
		expected = "INVALID_ARGUMENT for " + what
	}
	switch {
	case err == nil:
		return probe.Fail(expected, "the call succeeded")
	case refused == nil:
		return err
	case s.RPC() && refused.Code == 0 && refused.HTTPStatus/100 == 4:
		return probe.Unclear("%s: refused with HTTP status %d, without a JSON-RPC error", what, refused.HTTPStatus)
	case s.RPC() && refused.Code == -32602, !s.RPC() && refused.Invalid():
		return nil
	case s.Protocol() == client.GRPC03 && !refused.Internal():
		return nil // 0.3 leaves that to the agent, too
	case !s.RPC() && s.Protocol().Version != "1.0" && refused.HTTPStatus/100 == 4:
		return nil // 0.3 leaves the status to the agent
	}
	return probe.Fail(expected, "%s", probe.Describe(refused))
}

// NamesTasks reports whether clients choose the ids of tasks, as up to 0.1.
func NamesTasks(s *probe.Session) bool {
	return s.Protocol() == client.JSONRPC01 || s.Protocol() == client.Early
}

// Named gives a message the ids of a new task and session if clients choose them.
func Named(s *probe.Session, m client.Message) client.Message {
	if NamesTasks(s) {
		m.TaskID, m.ContextID = "test-"+s.NewID(), "session-"+s.NewID()
	}
	return m
}

// SameTask asserts that a task is the one that a message named.
func SameTask(task *client.Task, id, contextID string) error {
	if id != "" && task.ID != id {
		return probe.Fail("task "+id, "task %s", task.ID)
	}
	if contextID != "" && task.ContextID != "" && task.ContextID != contextID {
		return probe.Fail("task "+id+" in context "+contextID, "it is in context %s", task.ContextID)
	}
	return nil
}

// Levels returns a requirement word for some protocols, for the Levels of a scenario.
func Levels(word analysis.Level, in ...client.Protocol) map[client.Protocol]analysis.Level {
	m := make(map[client.Protocol]analysis.Level, len(in))
	for _, p := range in {
		m[p] = word
	}
	return m
}

// DeclaredCard returns the card as received. Without a card, its contents are inconclusive.
func DeclaredCard(s *probe.Session) (a2a.Card, error) {
	if s.Card == nil {
		return a2a.Card{}, probe.Unclear("not tested: there is no card")
	}
	return a2a.DecodeCard(a2a.Parse(s.Card.Raw).Root), nil
}

// AsksCredentials reports whether the card requires credentials with every request.
func AsksCredentials(s *probe.Session) bool {
	card, err := DeclaredCard(s)
	if err != nil {
		return false
	}
	security := card.Security()
	return security.Asks() && !security.Hidden() // anonymous requests show a certificate too
}

// Written quotes a value for people.
func Written(v a2a.Value) string {
	if !v.Exists() {
		return "nothing"
	}
	return probe.Excerpt(v.Raw())
}

// Nowhere is the URL of a webhook without a listener.
const Nowhere = "https://webhook.example/a2atap"

// Patience bounds the time until an agent closes a stream after the event that ends its task.
const Patience = 10 * time.Second

// JsonRPC are the protocols over JSON-RPC.
var JsonRPC = []client.Protocol{client.JSONRPC10, client.JSONRPC03, client.JSONRPC01, client.Early}

// Script sends a message whose id names the agent's script.
func Script(ctx context.Context, s *probe.Session, name string) (*client.Result, error) {
	m, err := ScriptMessage(s, name)
	if err != nil {
		return nil, err
	}
	return s.Client.Send(ctx, m, client.SendOptions{})
}

// ScriptMessage returns a message whose id names the agent's script.
func ScriptMessage(s *probe.Session, name string) (client.Message, error) {
	if !s.Scripted() {
		return client.Message{}, &probe.Skip{Why: "the agent does not react to the id of a message"}
	}
	m := client.Text("Hello")
	m.ID = "tck-" + name + "-" + s.NewID()[:8]
	return m, nil
}

// Scripted is Script for scripts that create a task. An agent that answers with a message does not know the script.
func Scripted(ctx context.Context, s *probe.Session, name string) (*client.Task, error) {
	r, err := Script(ctx, s, name)
	if err != nil {
		return nil, err
	}
	if r.Task == nil {
		return nil, probe.Unclear("the agent does not recognize the message id tck-%s", name)
	}
	return r.Task, nil
}
