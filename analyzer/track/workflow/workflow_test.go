package workflow_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
)

// play returns the steps of a story, one line for each thing that happens, in that order:
//
//	1 user>planner send text=... context=c task=t ref=t trace=T/S conn=3 at=2m path=p
//	2 ?python>hotel send
//	1 answer task=t state=completed context=c
//
// The number is the exchange's. A client named by its User-Agent has a question mark. Requests are send, get, card,
// hook, cancel, model (results=ID,ID, whose answer asks=TOOL city=CITY id=ID) and tool (name=TOOL city=CITY, whose answer may be failed=yes). An exchange ends with its answer, its last event ("event ... end"), "fault" or "killed".
func play(t *testing.T, story string) []capture.Step {
	t.Helper()
	var steps []capture.Step
	begun := make(map[uint64]string) // request, by exchange
	for line := range strings.Lines(story) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		n, _ := strconv.ParseUint(words[0], 10, 64)
		add := func(what ...capture.What) {
			for _, w := range what {
				steps = append(steps, capture.Step{Arrival: uint64(len(steps) + 1), Seq: n, Offset: capture.NotKnown, What: w})
			}
		}
		value := func(key string) string {
			for _, w := range words {
				if v, ok := strings.CutPrefix(w, key+"="); ok {
					return v
				}
			}
			return ""
		}
		link := words[1]
		client, agent, opens := strings.Cut(link, ">")
		switch {
		case opens:
			begun[n] = words[2]
			add(opened(client, agent, words[2], value))
			body := requestBody(words[2], value)
			add(capture.RequestBody{Data: []byte(body)}, capture.RequestEnd{Size: int64(len(body))})
		case link == "lost":
			add(capture.Lost{Exchanges: 1})
		case link == "fault":
			add(capture.Closed{Fault: &capture.TransportFault{Kind: "unreachable", Side: "agent"}})
		case link == "killed":
			add(capture.Closed{Interrupted: true})
		case link == "event":
			if value("first") != "" {
				add(capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"), Stream: true})
			}
			k, _ := strconv.Atoi(value("k"))
			add(capture.ResponseEvent{Event: capture.Event{K: k, Raw: []byte("data: " + answerBody("send", value) + "\n\n")}})
			if slices.Contains(words, "end") {
				add(capture.ResponseEnd{}, capture.Closed{})
			}
		case link == "answer":
			body := answerBody(begun[n], value)
			add(capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")},
				capture.ResponseBody{Data: []byte(body)}, capture.ResponseEnd{Size: int64(len(body))}, capture.Closed{})
		default:
			t.Fatalf("what is %q?", line)
		}
	}
	return steps
}

func opened(client, agent, asks string, value func(string) string) capture.Opened {
	head := "POST /rpc HTTP/1.1\r\n"
	switch asks {
	case "card":
		head = "GET /.well-known/" + cmp.Or(value("path"), "agent-card.json") + " HTTP/1.1\r\n"
	case "hook":
		head = "POST /hook HTTP/1.1\r\n"
	case "model":
		head = "POST /v1/chat/completions HTTP/1.1\r\n"
	}
	head += "Host: " + agent + ":9000\r\nContent-Type: application/json\r\n"
	if id := value("trace"); id != "" {
		trace, span, whole := strings.Cut(id, "/")
		if whole {
			id = "00-" + strings.Repeat(trace, 32) + "-" + strings.Repeat(span, 16) + "-01"
		}
		head += "traceparent: " + id + "\r\n"
	}
	conn, _ := strconv.ParseUint(value("conn"), 10, 64)
	client, anonymous := strings.CutPrefix(client, "?")
	o := capture.Opened{
		Client: capture.Peer{Name: client}, Agent: capture.Peer{Name: agent, URL: "http://" + agent + ":9000"},
		Head: []byte(head + "\r\n"), Conn: conn,
	}
	if anonymous {
		o.Client.How = "user-agent"
	}
	if at, err := time.ParseDuration(value("at")); err == nil {
		o.Started = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).Add(at)
	}
	return o
}

func requestBody(asks string, value func(string) string) string {
	switch asks {
	case "get", "cancel":
		method := map[string]string{"get": "GetTask", "cancel": "CancelTask"}[asks]
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"id":%q}}`, method, value("task"))
	case "list":
		return `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}`
	case "hook":
		return fmt.Sprintf(`{"statusUpdate":{"taskId":%q,"contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`,
			value("task"))
	case "model":
		var results []string
		for id := range strings.FieldsFuncSeq(value("results"), func(c rune) bool { return c == ',' }) {
			results = append(results, fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":"ok"}`, id))
		}
		return `{"model":"m","messages":[` + strings.Join(results, ",") + `]}`
	case "tool":
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"city":%q}}}`,
			value("name"), value("city"))
	case "send":
		text := value("text")
		if text == "" {
			text = "hi"
		}
		more := ""
		if id := value("task"); id != "" {
			more += fmt.Sprintf(`,"taskId":%q`, id)
		}
		if id := value("context"); id != "" {
			more += fmt.Sprintf(`,"contextId":%q`, id)
		}
		if id := value("ref"); id != "" {
			more += fmt.Sprintf(`,"referenceTaskIds":[%q]`, id)
		}
		config := ""
		if url := value("push"); url != "" {
			config = fmt.Sprintf(`,"configuration":{"taskPushNotificationConfig":{"url":%q}}`, url)
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m",`+
			`"role":"ROLE_USER","parts":[{"text":%q}]%s}%s}}`, text, more, config)
	}
	return ""
}

func answerBody(asks string, value func(string) string) string {
	switch asks {
	case "card":
		return `{"name":"x","supportedInterfaces":[]}`
	case "hook":
		return ""
	case "tool":
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"isError":%t,"content":[{"type":"text","text":"no such city"}]}}`,
			value("failed") != "")
	case "model":
		return fmt.Sprintf(`{"choices":[{"message":{"tool_calls":[{"id":%q,"function":{"name":%q,"arguments":%q}}]}}]}`,
			cmp.Or(value("id"), "c1"), value("asks"), fmt.Sprintf(`{"city": %q}`, value("city")))
	}
	id := value("task")
	if id == "" {
		return `{"jsonrpc":"2.0","id":1,"result":{"message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"text":"ok"}]}}}`
	}
	state := value("state")
	if state == "" {
		state = "completed"
	}
	context := value("context")
	if context == "" {
		context = "of-" + id
	}
	task := fmt.Sprintf(`{"id":%q,"contextId":%q,"status":{"state":"TASK_STATE_%s"}}`, id, context, strings.ToUpper(state))
	if asks == "get" || asks == "cancel" {
		return `{"jsonrpc":"2.0","id":1,"result":` + task + `}`
	}
	return `{"jsonrpc":"2.0","id":1,"result":{"task":` + task + `}}`
}

// linksOf returns the links of a story, a line for each exchange: its number, and its parent with the evidence.
func linksOf(t *testing.T, story string) []string {
	t.Helper()
	ix := &workflow.Index{}
	e := engine.New(nil, workflow.Into(ix.Put)...)
	last := uint64(0)
	for _, s := range play(t, story) {
		e.Step(s)
		last = max(last, s.Seq)
	}
	e.End(false)
	var lines []string
	for n := uint64(1); n <= last; n++ {
		l := ix.Of(n)
		line := fmt.Sprint(n)
		if l.Parent > 0 {
			mark := "="
			if !l.By.Certain() {
				mark = "~"
			}
			line += fmt.Sprintf(" under %d of %d %s %s", l.Parent, l.Workflow, mark, l.By)
		} else if doubt := l.Doubt(); doubt != "" {
			line += " " + doubt
		}
		lines = append(lines, line)
	}
	return lines
}

func TestLinks(t *testing.T) {
	for _, tt := range slices.Concat(stories, references, sideBySide, unknownCallers, neighbors) {
		t.Run(tt.name, func(t *testing.T) {
			var want []string
			for line := range strings.Lines(tt.want) {
				if line = strings.TrimSpace(line); line != "" {
					want = append(want, line)
				}
			}
			if diff := gocmp.Diff(want, linksOf(t, tt.story)); diff != "" {
				t.Errorf("links (-want +got):\n%s", diff)
			}
		})
	}
}
