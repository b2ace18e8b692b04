package intake_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
)

// The calls of TestClientLeft: an answer after 3 s, or a stream with an event after 0.5 s, and what came after 3 s.
const (
	leftSend = `POST /rpc HTTP/1.1
Host: booker.example:9001
Content-Type: application/json
A2A-Version: 1.0

{"jsonrpc":"2.0","id":"r1","method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}}
`
	leftSent = `HTTP/1.1 200 OK
Content-Type: application/json

{"jsonrpc":"2.0","id":"r1","result":{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}}}
`
	leftRESTSent = `HTTP/1.1 200 OK
Content-Type: application/a2a+json

{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}}
`
	leftREST = `POST /message:send HTTP/1.1
Host: booker.example:9001
Content-Type: application/a2a+json
A2A-Version: 1.0

{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}
`
	leftDelete = `DELETE /tasks/t1/pushNotificationConfigs/c1 HTTP/1.1
Host: booker.example:9001
A2A-Version: 1.0

`
	leftDeleted = `HTTP/1.1 200 OK
Content-Type: application/json

{}
`
	leftStreamed = `HTTP/1.1 200 OK
Content-Type: text/event-stream

data: {"jsonrpc":"2.0","id":"r1","result":{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}}

`
	leftEnd = `data: {"jsonrpc":"2.0","id":"r1","result":{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}}}

`
	leftGet = `-- 2.request --
POST /rpc HTTP/1.1
Host: booker.example:9001
Content-Type: application/json
A2A-Version: 1.0

{"jsonrpc":"2.0","id":"r2","method":"GetTask","params":{"id":"t1"}}
-- 2.response --
HTTP/1.1 200 OK
Content-Type: application/json

{"jsonrpc":"2.0","id":"r2","result":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}}
`
	leftList = `-- 2.request --
POST /rpc HTTP/1.1
Host: booker.example:9001
Content-Type: application/json
A2A-Version: 1.0

{"jsonrpc":"2.0","id":"r2","method":"ListTasks","params":{}}
-- 2.response --
HTTP/1.1 200 OK
Content-Type: application/json

{"jsonrpc":"2.0","id":"r2","result":{"tasks":[{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}},{"id":"t2","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}],"nextPageToken":"","pageSize":2,"totalSize":2}}
`
	leftSilent = "HTTP/1.1 200 OK\nContent-Type: text/event-stream\n\n"

	leftFault  = "fault: client-left client \"connection closed\"\n"
	resetFault = "fault: reset client \"connection reset by peer\"\n"
	late       = "response.at: 3s\nresponse.end: 3.01s\nended: 3.02s\n"
	events     = "response.at: 400ms\nevent[1]: 500ms\nevent[2]: 3s\nended: 3.02s\n"
	cut        = "response.body: incomplete\n"
)

// A client that ends its request before the response is complete has left if it no longer reads. Nothing that the agent
// sends later reaches it, so the call has not succeeded. A client that only ended its sending side is still served.
func TestClientLeft(t *testing.T) {
	stream := strings.Replace(leftSend, "SendMessage", "SendStreamingMessage", 1)
	tests := []struct {
		name, meta, request, answer, more string
		failure                           string // of the first call; "ok" if it succeeded, "" if that is not known
		took                              time.Duration
		why                               string // what was not seen
	}{
		{"closed before the answer", "ends: client close 1s\n" + leftFault + late, leftSend, leftSent, "", analysis.ClientLeft, time.Second, ""},
		{"closed before the answer, REST", "ends: client close 1s\n" + leftFault + late, leftREST, leftRESTSent, "", analysis.ClientLeft, time.Second, ""},
		{"half-closed before the answer", "ends: client half-close 1s\n" + late, leftSend, leftSent, "", "ok", 3020 * time.Millisecond, ""},
		{"half-closed before the answer, REST", "ends: client half-close 1s\n" + late, leftREST, leftRESTSent, "", "ok", 3020 * time.Millisecond, ""},
		{
			"stopped sending before the answer", "ends: client fin 1s\n" + late, leftSend, leftSent, "", "", 3020 * time.Millisecond,
			"its client had stopped sending before the answer came, and it is unknown whether it was still reading",
		},
		{"reset, no answer", "ends: client reset 1s\n" + resetFault + "ended: 1s\n", leftSend, "", "", analysis.ClientLeft, time.Second, ""},
		{"left, no answer until the end", "ends: client fin 1s\n" + leftFault + "ended: 9s\n", leftSend, "", "", analysis.ClientLeft, time.Second, ""},
		{"closed in the body", "ends: client close 1s 120 20\n" + leftFault + "response.at: 500ms\nresponse.end: 3s\nended: 3s\n", leftSend, leftSent, "", analysis.ClientLeft, time.Second, ""},
		{"closed with the whole body", "ends: client close 1s 120 500\n" + leftFault + late, leftSend, leftSent, "", "ok", time.Second, ""},
		{"closed a silent stream", "ends: client fin 2s\n" + leftFault + cut + "ended: 9s\n", stream, leftSilent, "", analysis.ClientLeft, 2 * time.Second, ""},
		{"closed a stream at work", "ends: client close 1s\n" + leftFault + cut + "response.at: 400ms\nevent[1]: 500ms\nended: 3s\n", stream, leftStreamed, "", "ok", time.Second, judgment.LeftEarly},
		{"reset a stream at work", "ends: client reset 1s\n" + resetFault + cut + "response.at: 400ms\nevent[1]: 500ms\nended: 1s\n", stream, leftStreamed, "", "ok", time.Second, judgment.LeftEarly},
		{"closed a stream at work, asked later", "ends: client close 1s\n" + leftFault + cut + "response.at: 400ms\nevent[1]: 500ms\nended: 3s\n", stream, leftStreamed, leftGet, "ok", time.Second, ""},
		{"closed before the task ended", "ends: client close 1s\n" + leftFault + events, stream, leftStreamed + leftEnd, "", "ok", time.Second, judgment.LeftEarly},
		{"closed after the task ended", "ends: client close 3.01s\n" + leftFault + events, stream, leftStreamed + leftEnd, "", "ok", 3010 * time.Millisecond, ""},
		{"closed before the first event", "ends: client close 100ms\n" + leftFault + events, stream, leftStreamed + leftEnd, "", analysis.ClientLeft, 100 * time.Millisecond, ""},
		{"half-closed a stream", "ends: client half-close 1s\n" + events, stream, leftStreamed + leftEnd, "", "ok", 3020 * time.Millisecond, ""},
		{"half-closed, and closed after the task ended", "ends: client half-close 100ms\nends: client close 3.01s\n" + leftFault + events, stream, leftStreamed + leftEnd, "", "ok", 3010 * time.Millisecond, ""},
		{"half-closed, and closed before the task ended", "ends: client half-close 100ms\nends: client close 1s\n" + leftFault + events, stream, leftStreamed + leftEnd, "", "ok", time.Second, judgment.LeftEarly},
		{"half-closed, and reset with the whole body", "ends: client half-close 100ms\nends: client reset 3.01s 120 500\n" + leftFault + late, leftSend, leftSent, "", "ok", 3010 * time.Millisecond, ""},
		{"half-closed, and closed in the body", "ends: client half-close 100ms\nends: client close 1s 120 20\n" + leftFault + "response.at: 500ms\nresponse.end: 3s\nended: 3s\n", leftSend, leftSent, "", analysis.ClientLeft, time.Second, ""},
		{"closed a stream at work, its end shown before the record closed", "ends: client close 1s\n" + leftFault + cut + "response.at: 400ms\nevent[1]: 500ms\nended: 9s\n", stream, leftStreamed, "-- 2.meta --\nstarted: 2026-01-01T00:00:02Z\nended: 10ms\n" + leftList, "ok", 10 * time.Millisecond, ""},
		{"took the head of a delete", "ends: client close 1s 120 0\n" + leftFault + "response.at: 500ms\nresponse.end: 3s\nended: 3s\n", leftDelete, leftDeleted, "", "ok", time.Second, ""},
		{"left before the head of a delete", "ends: client close 300ms\n" + leftFault + "response.at: 500ms\nresponse.end: 3s\nended: 3s\n", leftDelete, leftDeleted, "", analysis.ClientLeft, 300 * time.Millisecond, ""},
		{"took the head of a refusal", "ends: client close 1s 120 0\n" + leftFault + "response.at: 500ms\nresponse.end: 3s\nended: 3s\n", leftREST, "HTTP/1.1 401 Unauthorized\nContent-Type: text/plain\n\nno", "", "HTTP 401", time.Second, ""},
		{"left a stream at work, nobody knows when", leftFault + cut, stream, leftStreamed, "", "ok", capture.NotKnown, judgment.LeftEarly},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := fmt.Sprintf("-- 1.meta --\n%s-- 1.request --\n%s", test.meta, test.request)
			if test.answer != "" {
				text += "-- 1.response --\n" + test.answer
			}
			parsed, err := transcript.Parse("t.txtar", []byte(text+test.more))
			if err != nil {
				t.Fatal(err)
			}
			var got []summary.Summary
			r := &judgment.Result{}
			e := engine.New(nil, engine.OnEnded(func(s summary.Summary) { got = append(got, s) }))
			for s, err := range capture.Interleave(func(yield func(*capture.Exchange, error) bool) {
				for _, x := range parsed.Exchanges {
					if !yield(x, nil) {
						return
					}
				}
			}) {
				if err != nil {
					t.Fatal(err)
				}
				e.Step(s)
			}
			e.End(false)
			r.Count(got...)
			first := got[0]
			outcome := first.Outcome.Failure
			if first.Outcome.Succeeded {
				outcome = "ok"
			}
			if outcome != test.failure || test.took >= 0 && first.Took != test.took {
				t.Errorf("outcome %q after %v, want %q after %v", outcome, first.Took, test.failure, test.took)
			}
			why := ""
			v := r.Verdict(analysis.Error)
			for _, n := range v.NotSeen {
				why += n.Why
			}
			if why != test.why {
				t.Errorf("not seen: %q, want %q", why, test.why)
			}
			if all, served := len(got), test.failure == "ok" && test.why == ""; (v.Calls.Succeeded == all) != served {
				t.Errorf("%d of %d calls succeeded, want all: %t", v.Calls.Succeeded, all, served)
			}
		})
	}
}
