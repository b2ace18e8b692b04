package rules_test

import (
	"path/filepath"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
)

// Whatever is in a capture, judging it does not panic, and judging it again finds the same, with rules that are always
// asked. A transcript of each family is there to begin with.
func FuzzTranscript(f *testing.F) {
	family := ""
	for _, s := range rulestest.Scenarios(f) {
		if filepath.Dir(s.File) != family {
			family = filepath.Dir(s.File)
			f.Add(s.Text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tr, err := transcript.Parse("fuzz", text)
		if err != nil {
			return
		}
		var steps []capture.Step
		for _, x := range tr.Exchanges {
			steps = append(steps, capture.Steps(x)...)
		}
		judgeTwice(t, steps)
	})
}

// Steps in any order, with any bytes, do not make the engine panic.
func FuzzSteps(f *testing.F) {
	const request = `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}}`
	const answer = `{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}}}`
	f.Add([]byte{0, 1, 2, 3, 4, 5, 5, 6, 7}, []byte(request), []byte(answer))
	f.Add([]byte{0, 3, 5, 1, 2, 8, 5, 7, 16, 17, 18, 19, 20, 22, 23, 9}, []byte(request), []byte(answer))
	f.Add([]byte{3, 5, 0, 0, 7, 2, 5, 9}, []byte("{"), []byte("data"))
	f.Fuzz(func(t *testing.T, order, request, answer []byte) {
		steps := make([]capture.Step, 0, len(order))
		for i, b := range order {
			s := capture.Step{
				Arrival: uint64(i + 1), Seq: uint64(b/16) % 4, Offset: time.Duration(i),
				What: stepOf(b%16, request, answer),
			}
			steps = append(steps, s)
		}
		judgeTwice(t, steps)
	})
}

func stepOf(kind byte, request, answer []byte) capture.What {
	switch kind {
	case 0:
		return capture.Opened{
			Agent: capture.Peer{Name: "booker", URL: "http://booker:9001"},
			Head:  []byte("POST /rpc HTTP/1.1\r\nA2A-Version: 1.0\r\n\r\n"),
		}
	case 1:
		return capture.RequestBody{Data: request}
	case 2:
		return capture.RequestEnd{Size: int64(len(request))}
	case 3:
		return capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"), Stream: true}
	case 4:
		return capture.ResponseHead{Head: []byte("HTTP/1.1 400 No\r\nContent-Type: application/json\r\n\r\n")}
	case 5:
		return capture.ResponseEvent{Event: capture.Event{K: len(answer) % 3, Raw: append([]byte("data: "), answer...)}}
	case 6:
		return capture.ResponseEnd{Size: int64(len(answer))}
	case 7:
		return capture.Closed{Dropped: int64(len(request) % 2)}
	case 8:
		return capture.Fact{Client: capture.Peer{Name: "planner"}}
	case 9:
		return capture.Lost{Exchanges: 1}
	case 10:
		return capture.ResponseBody{Data: answer}
	case 11:
		return capture.Opened{Agent: capture.Peer{Name: "booker"}, Head: request}
	case 12:
		return capture.ResponseHead{Head: answer}
	case 13:
		return capture.Closed{Interrupted: true, Fault: &capture.TransportFault{}}
	case 14:
		return capture.ResponseEvent{Event: capture.Event{K: 1, Raw: answer, Unterminated: true}}
	}
	return capture.Informational{}
}

func judgeTwice(t *testing.T, steps []capture.Step) {
	t.Helper()
	e, asked := engine.New(rules.All), engine.New(alwaysAsked)
	var first []analysis.Finding
	n := 0
	for _, s := range steps {
		first = append(first, e.Step(s)...)
		n += len(asked.Step(s))
	}
	first = append(first, e.End(false)...)
	n += len(asked.End(false))
	if n != len(first) {
		t.Errorf("the same steps make %d findings, and then %d", len(first), n)
	}
	if a, b := len(e.Coverage()), len(asked.Coverage()); a != b {
		t.Errorf("%d rules applied, and then %d", a, b)
	}
	for _, f := range first {
		if f.Fingerprint() == "" || f.Seen == "" || f.Expected == "" || len(f.Sections()) == 0 {
			t.Errorf("a finding lacks its text or its sections: %+v", f)
		}
	}
	for _, c := range e.Coverage() {
		if c.Broken > c.Applied || c.Applied == 0 {
			t.Errorf("rule %s is broken %d of %d times", c.Rule.ID, c.Broken, c.Applied)
		}
	}
}
