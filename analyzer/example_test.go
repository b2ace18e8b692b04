package analyzer_test

import (
	"context"
	"fmt"

	"a2atap/analyzer"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
)

const resumed = `The agent says completed, then goes on working.
-- 1.request --
POST /rpc HTTP/1.1
Host: booker.example:9001
Content-Type: application/json
A2A-Version: 1.0

{"jsonrpc":"2.0","id":"r1","method":"SendStreamingMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"Two tickets"}]}}}
-- 1.response --
HTTP/1.1 200 OK
Content-Type: text/event-stream

data: {"jsonrpc":"2.0","id":"r1","result":{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}}}

data: {"jsonrpc":"2.0","id":"r1","result":{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}}

`

// Judge a transcript, and print what breaks the protocol.
func ExampleRun() {
	tr, err := transcript.Parse("example.txtar", []byte(resumed))
	if err != nil {
		fmt.Println(err)
		return
	}
	recorded, err := capture.ReadMemory(capture.Info{Name: "example.txtar"},
		func(yield func(*capture.Exchange, error) bool) {
			for _, x := range tr.Exchanges {
				if !yield(x, nil) {
					return
				}
			}
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := analyzer.Run(context.Background(), rules.All, recorded, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range result.Findings {
		fmt.Printf("%s: %s\n", f.Severity, f.Rule.ID)
		fmt.Printf("  at       %s\n", f.Place)
		fmt.Printf("  seen     %s\n", f.Seen)
		fmt.Printf("  sections %s\n", f.Sections())
		fmt.Printf("  also     %s\n", f.Also)
	}
	fmt.Println(result.Verdict(analyzer.Error))
	// Output:
	// error: stream-closed-on-terminal
	//   at       1.response.event[2]#/result/statusUpdate/status/state
	//   seen     status "TASK_STATE_WORKING" after event 1 ended the task as "TASK_STATE_COMPLETED"
	//   sections [1.0 §3.1.2 1.0 §3.1.6]
	//   also     [state-terminal-immutable]
	// findings: 1 error, 0 warnings, 0 notes in 1 exchange, 1 judged; 1 of 1 call succeeded
}
