package analyzer_test

import (
	"context"
	"fmt"
	"log"

	"a2atap/analyzer"
	"a2atap/proxy/capture/open"
)

// Judge what is in a file, and print what breaks the protocol.
func Example() {
	recorded, err := open.File("engine/testdata/resumed.txtar")
	if err != nil {
		log.Fatal(err)
	}
	result, err := analyzer.Judge(context.Background(), recorded)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range result.Findings {
		fmt.Println(f.String())
	}
	fmt.Println(result.Verdict(analyzer.Error))
	// Output:
	// 1.response.event[2]#/result/statusUpdate/status/state: status "TASK_STATE_WORKING" after event 1 ended the task as "TASK_STATE_COMPLETED"; expected the stream to close after at most one final Task [stream-closed-on-terminal]
	// findings: 1 error, 0 warnings, 0 notes in 1 exchange, 1 checked; 1 of 1 call succeeded
}
