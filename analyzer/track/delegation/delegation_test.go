package delegation_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/analyzer/track/delegation"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// Whether a task waited for what was asked for it: one line for each thing that happens, in that order.
func TestAwaited(t *testing.T) {
	tests := []struct{ name, story, want string }{
		{"it waited", `
			1 user>planner in=c
			2 planner>booker in=c
			2 task=s state=COMPLETED
			1 task=t state=COMPLETED`, "2 kept"},
		{"it did not", `
			1 user>planner in=c
			2 planner>booker in=c
			1 task=t state=COMPLETED
			2 task=s state=COMPLETED`, "2 broken"},
		{"what it was asked for shows at its end only", `
			1 user>planner
			2 planner>booker in=c
			1 task=t state=COMPLETED in=c
			2 task=s state=COMPLETED`, "2 broken"},
		{"another one asked", `
			1 user>planner in=c
			2 desk>booker in=c
			1 task=t state=COMPLETED
			2 task=s state=COMPLETED`, ""},
		{"it goes on", `
			1 user>planner in=c
			2 planner>booker in=c
			1 task=t state=WORKING
			2 task=s state=COMPLETED`, ""},
		{"it is the user who asks for the end", `
			1 user>planner in=c
			1 task=t state=WORKING
			2 planner>booker in=c
			3 user>planner get=t
			3 task=t state=COMPLETED
			2 task=s state=COMPLETED`, "2 broken"},
		{"the answer never came", `
			1 user>planner in=c
			2 planner>booker in=c
			1 task=t state=COMPLETED`, ""},
		{"something is missing", `
			1 user>planner in=c
			2 planner>booker in=c
			0 lost
			1 task=t state=COMPLETED
			2 task=s state=COMPLETED`, ""},
		{"an answer that is no task", `
			1 user>planner in=c
			2 planner>booker in=c
			2 error
			1 task=t state=COMPLETED`, "2 kept"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expect.Same(t, "observed", test.want, observed(t, test.story, analysis.CalleeAwaited))
		})
	}
}

// A task with more calls than are remembered is judged by none of its failures.
func TestCrowded(t *testing.T) {
	for _, calls := range []int{64, 65} {
		var story strings.Builder
		story.WriteString("1 user>planner in=c\n")
		for n := range calls {
			fmt.Fprintf(&story, "%d planner>booker in=c text=%d\n%d task=s%d state=FAILED\n", n+2, n, n+2, n)
		}
		story.WriteString("1 task=t state=COMPLETED\n")
		want := "2 broken"
		if calls > 64 {
			want = ""
		}
		if got := observed(t, story.String(), analysis.CalleeFailed); got != want {
			t.Errorf("of %d calls: observed %q, want %q", calls, got, want)
		}
	}
}

// observed returns what comes of the calls of a story: the number of each, and whether it came out as it should.
func observed(t *testing.T, story string, kind analysis.Kinds) string {
	t.Helper()
	var list []string
	rule := enginetest.Rule("r", kind, func(p *analysis.Pass) {
		word := "kept"
		if delegation.Of(p).Broken {
			word = "broken"
		}
		list = append(list, fmt.Sprint(delegation.Of(p).Exchange, " ", word))
	})
	rule.Needs = []*analysis.Tracker{delegation.Tracker}
	e := engine.New([]*analysis.Rule{rule})
	for _, s := range steps(t, story) {
		e.Step(s)
	}
	e.End(false)
	return strings.Join(list, ", ")
}

func steps(t *testing.T, story string) []capture.Step {
	t.Helper()
	var list []capture.Step
	for line := range strings.Lines(story) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		value := make(map[string]string)
		for _, w := range words[1:] {
			key, v, _ := strings.Cut(w, "=")
			value[key] = v
		}
		n, err := strconv.ParseUint(words[0], 10, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		add := func(what ...capture.What) {
			for _, w := range what {
				list = append(list, capture.Step{Seq: n, Arrival: uint64(len(list) + 1), Offset: capture.NotKnown, What: w})
			}
		}
		client, agent, opens := strings.Cut(words[1], ">")
		switch {
		case opens:
			body := request(value)
			add(capture.Opened{
				Client: capture.Peer{Name: client}, Agent: capture.Peer{Name: agent, URL: "http://" + agent + ":9000"},
				Head: []byte("POST /rpc HTTP/1.1\r\nHost: " + agent + ":9000\r\nContent-Type: application/json\r\n\r\n"),
			}, capture.RequestBody{Data: body}, capture.RequestEnd{Size: int64(len(body))})
		case words[1] == "lost":
			add(capture.Lost{Exchanges: 1})
		default:
			body := answer(value)
			add(capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")},
				capture.ResponseBody{Data: body}, capture.ResponseEnd{Size: int64(len(body))}, capture.Closed{})
		}
	}
	return list
}

func request(value map[string]string) []byte {
	if id := value["get"]; id != "" {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":%q}}`, id)
	}
	in := ""
	if value["in"] != "" {
		in = fmt.Sprintf(`,"contextId":%q`, value["in"])
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m",`+
		`"role":"ROLE_USER","parts":[{"text":%q}]%s}}}`, "hi"+value["text"], in)
}

func answer(value map[string]string) []byte {
	if _, ok := value["error"]; ok {
		return []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"broken"}}`)
	}
	in := value["in"]
	if in == "" {
		in = "c"
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":%q,"contextId":%q,"status":{"state":"TASK_STATE_%s"}}}}`,
		value["task"], in, value["state"])
}
