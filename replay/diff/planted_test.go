package diff_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/compare"
	"a2atap/replay/diff"
	"a2atap/replay/noise"
	"a2atap/replay/report"
)

// A session writes a recording step by step: requests and their answers.
type session struct {
	exchanges []*capture.Exchange
	now       time.Time
}

func newSession() *session { return &session{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

// ask adds a call over JSON-RPC 1.0 that is answered with a result, or with events if there are several.
func (s *session) ask(client, method, params string, results ...string) *capture.Exchange {
	n := len(s.exchanges) + 1
	answer := fmt.Sprintf("HTTP/1.1 200 OK\nContent-Type: application/json\n\n"+
		`{"jsonrpc":"2.0","id":%d,"result":%s}`+"\n", n, results[0])
	if len(results) > 1 {
		answer = "HTTP/1.1 200 OK\nContent-Type: text/event-stream\n\n"
		for _, r := range results {
			answer += fmt.Sprintf(`data: {"jsonrpc":"2.0","id":%d,"result":%s}`+"\n\n", n, r)
		}
	}
	text := fmt.Sprintf("-- %d.request --\nPOST / HTTP/1.1\nHost: booker.example\nContent-Type: application/json\n"+
		"A2A-Version: 1.0\n\n"+`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n-- %d.response --\n%s",
		n, n, method, params, n, answer)
	tr, err := transcript.Parse("session", []byte(text))
	if err != nil {
		panic(err)
	}
	x := tr.Exchanges[0]
	x.Client.Name, x.Agent.Name = client, "booker"
	x.Started, x.Ended = s.now, time.Millisecond
	s.now = s.now.Add(2 * time.Millisecond)
	s.exchanges = append(s.exchanges, x)
	return x
}

func message(id, text string, more ...string) string {
	return fmt.Sprintf(`{"message":{"messageId":%q,"role":"ROLE_USER","parts":[{"text":%q}]%s}}`,
		id, text, strings.Join(append([]string{""}, more...), ","))
}

func task(id, state string) string {
	return fmt.Sprintf(`{"id":%q,"contextId":"ctx-%s","status":{"state":"TASK_STATE_%s"},`+
		`"artifacts":[{"artifactId":"a-%s","name":"tickets","parts":[{"text":"two seats"}]}]}`, id, id, state, id)
}

func made(id, state string) string { return `{"task":` + task(id, state) + `}` }

func update(id, state string) string {
	return fmt.Sprintf(`{"statusUpdate":{"taskId":%q,"contextId":"ctx-%s","status":{"state":"TASK_STATE_%s"}}}`,
		id, id, state)
}

func about(id string) string { return fmt.Sprintf(`{"id":%q}`, id) }

// The exchanges of a workflow: 1 and 2 send, 3 and 4 get, 5 streams, 6 cancels, 7 is refused.
func workflow() []*capture.Exchange {
	s := newSession()
	s.ask("cli", "SendMessage", message("m-1", "two seats"), made("task-1", "COMPLETED"))
	s.ask("cli", "SendMessage", message("m-2", "two seats"), made("task-2", "COMPLETED"))
	s.ask("cli", "GetTask", about("task-1"), task("task-1", "COMPLETED"))
	s.ask("cli", "GetTask", about("task-2"), task("task-2", "COMPLETED"))
	s.ask("cli", "SendStreamingMessage", message("m-3", "a table"), made("task-3", "SUBMITTED"),
		update("task-3", "WORKING"), update("task-3", "INPUT_REQUIRED"))
	s.ask("cli", "CancelTask", about("task-3"), task("task-3", "CANCELED"))
	s.ask("cli", "GetTask", about("no-such-task"), "null")
	x := s.exchanges[6]
	x.Response.Body.Data = []byte(`{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"no such task"}}`)
	return s.exchanges
}

// planted are changes to a workflow, with the differences by profile: side and kind, with the number of the exchange.
var planted = []struct {
	name                   string
	change                 func(t *testing.T, xs []*capture.Exchange) []*capture.Exchange
	protocol, shape, exact string
}{
	{"nothing", same, "", "", ""},
	{"a state", in(3, "TASK_STATE_COMPLETED", "TASK_STATE_FAILED"), "3 state", "3 state", "3 state"},
	{"an answer's text", in(4, "two seats", "no seats"), "", "", "4 value"},
	{"an answer's part", in(4, `{"text":"two seats"}`, `{"data":{"n":2}}`), "4 part", "4 part", "4 part"},
	{"an artifact's name", in(4, `"tickets"`, `"passes"`), "4 content", "4 content", "4 content"},
	{"an error", in(7, "-32001", "-32004"), "7 error", "7 error", "7 error"},
	{"an event", in(5, "TASK_STATE_WORKING", "TASK_STATE_AUTH_REQUIRED"), "5 state", "5 state", "5 state"},
	{"a member of an answer", in(6, `"name":"tickets",`, ""), "6 member", "6 member", "6 member"},
	{"a text that is sent", in(5, "a table", "a chair"), "", "", "client 5 value"},
	{
		"a part that is sent", in(5, `{"text":"a table"}`, `{"data":{"n":2}}`),
		"client 5 part", "client 5 part", "client 5 part",
	},
	{
		"a member that is sent", in(1, `"role":`, `"metadata":{"x":1},"role":`),
		"client 1 member", "client 1 member", "client 1 member",
	},
	{
		"a history length", in(3, `"id":"task-1"}}`+"\n", `"id":"task-1","historyLength":3}}`+"\n"),
		"client 3 member", "client 3 member", "client 3 member",
	},
	{"a version", in(2, "A2A-Version: 1.0\r\n", ""), "client 2 content", "client 2 content", "client 2 content"},
	{
		"a swapped task", in(4, `"params":{"id":"task-2"}`, `"params":{"id":"task-1"}`),
		"client +4 new, client 4 missing", "client +4 new, client 4 missing", "client +4 new, client 4 missing",
	},
	{"a missing exchange", without(4), "client 4 missing", "client 4 missing", "client 4 missing"},
	{"a missing cancel", without(6), "client 6 missing", "client 6 missing", "client 6 missing"},
	{"a new exchange", again(3), "client +8 new", "client +8 new", "client +8 new"},
	{
		"another operation", in(1, `"method":"SendMessage"`, `"method":"SendStreamingMessage"`),
		"client 1 operation", "client 1 operation", "client 1 operation",
	},
	{"another order of tasks", swapped(3, 4), "", "", ""},
}

func same(_ *testing.T, xs []*capture.Exchange) []*capture.Exchange { return xs }

func in(seq int, was, now string) func(*testing.T, []*capture.Exchange) []*capture.Exchange {
	return func(t *testing.T, xs []*capture.Exchange) []*capture.Exchange {
		replace(t, xs[seq-1], was, now)
		return xs
	}
}

func without(seq int) func(*testing.T, []*capture.Exchange) []*capture.Exchange {
	return func(_ *testing.T, xs []*capture.Exchange) []*capture.Exchange { return slices.Delete(xs, seq-1, seq) }
}

func again(seq int) func(*testing.T, []*capture.Exchange) []*capture.Exchange {
	return func(_ *testing.T, xs []*capture.Exchange) []*capture.Exchange {
		x := *xs[seq-1]
		x.Seq, x.Started = uint64(len(xs))+1, xs[len(xs)-1].Started.Add(time.Second)
		return append(xs, &x)
	}
}

func swapped(i, j int) func(*testing.T, []*capture.Exchange) []*capture.Exchange {
	return func(_ *testing.T, xs []*capture.Exchange) []*capture.Exchange {
		a, b := xs[i-1], xs[j-1]
		a.Seq, b.Seq, a.Started, b.Started = b.Seq, a.Seq, b.Started, a.Started
		xs[i-1], xs[j-1] = b, a
		return xs
	}
}

// The change to one of two captures is found, and nothing else.
func TestPlanted(t *testing.T) {
	t.Parallel()
	for _, p := range planted {
		for profile, want := range map[compare.Profile]string{
			compare.Protocol: p.protocol, compare.Shape: p.shape, compare.Exact: p.exact,
		} {
			r := run(t, workflow(), p.change(t, workflow()), diff.Options{Profile: profile})
			if got := strings.Join(kinds(r), ", "); got != want {
				t.Errorf("%s by %s: found %q, want %q:\n%s", p.name, profile, got, want, strings.Join(told(r), "\n"))
			}
			if same := r.Same(); same != (want == "") {
				t.Errorf("%s by %s: the same: %t; %s", p.name, profile, same, r.Verdict())
			}
		}
	}
}

// kinds returns the kinds of differences with the numbers of their exchanges, with a plus those of the second capture.
func kinds(r *report.Report) (list []string) {
	for _, d := range r.Differences {
		n := fmt.Sprint(d.Exchange)
		if d.Exchange == 0 {
			n = fmt.Sprintf("+%d", d.Live)
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", d.Side, n, d.Kind)))
	}
	return list
}

// Clients may number JSON-RPC ids in any way: only their repetition in answers matters.
func TestRequestIDs(t *testing.T) {
	t.Parallel()
	other := func() []*capture.Exchange {
		xs := workflow()
		for i, x := range xs {
			edit(x, func(b []byte) []byte {
				return bytes.ReplaceAll(b, fmt.Appendf(nil, `"id":%d,`, i+1), fmt.Appendf(nil, `"id":%d,`, 3*i+40))
			})
		}
		return xs
	}
	for _, profile := range profiles {
		if r := run(t, workflow(), other(), diff.Options{Profile: profile}); !r.Same() {
			t.Errorf("%s: %s\n%s", profile, r.Verdict(), strings.Join(told(r), "\n"))
		}
	}
	xs := other()
	xs[2].Response.Body.Data = bytes.Replace(xs[2].Response.Body.Data, []byte(`"id":46,`), []byte(`"id":47,`), 1)
	expect.Equal(t, "an answer to another request",
		"3 id", strings.Join(kinds(run(t, workflow(), xs, diff.Options{})), ", "))
}

// A rule that only the second capture breaks is a difference; one that both break is not.
func TestRules(t *testing.T) {
	t.Parallel()
	broken := func() []*capture.Exchange { return in(3, `"id":3,"result"`, `"id":"3","result"`)(t, workflow()) }
	r := run(t, workflow(), broken(), diff.Options{Rules: rules.All})
	expect.Contains(t, "", "finding", strings.Join(kinds(r), ", "))
	if r := run(t, broken(), broken(), diff.Options{Rules: rules.All}); !r.Same() {
		t.Errorf("%s: %v", r.Verdict(), told(r))
	}
}

// A rule hides the differences that it names, in requests and in answers; a rule that matches nothing is reported.
func TestNoise(t *testing.T) {
	t.Parallel()
	for place, change := range map[string]func(*testing.T, []*capture.Exchange) []*capture.Exchange{
		"GetTask:/artifacts/*/parts":    in(4, `{"text":"two seats"}`, `{"data":{"n":2}}`),
		"SendMessage:/message/metadata": in(1, `"role":`, `"metadata":{"x":1},"role":`),
		"/historyLength":                in(3, `"id":"task-1"}}`+"\n", `"id":"task-1","historyLength":3}}`+"\n"),
	} {
		ignore := must.Get(noise.ParseIgnore(place))(t)
		stale := must.Get(noise.ParseIgnore("/nowhere"))(t)
		r := run(t, workflow(), change(t, workflow()), diff.Options{Noise: noise.New(ignore, stale)})
		if !r.Same() || r.Ignored == 0 || !strings.Contains(strings.Join(r.Notes, "\n"), "/nowhere never applied") {
			t.Errorf("without %s: %s %q\n%s", place, r.Verdict(), r.Notes, strings.Join(told(r), "\n"))
		}
	}
	match := must.Get(noise.ParseMatch("SendMessage:/message/parts/0/text=[0-9]+ seats"))(t)
	r := run(t, workflow(), workflow(), diff.Options{Noise: noise.New(match)})
	expect.Equal(t, "", "client 1 match, client 2 match", strings.Join(kinds(r), ", "))
}
