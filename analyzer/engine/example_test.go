package engine_test

import (
	"context"
	"fmt"
	"log"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture/open"
)

// Judge what is in a file, and print what breaks the protocol.
func ExampleRun() {
	recorded, err := open.File("testdata/resumed.txtar")
	if err != nil {
		log.Fatal(err)
	}
	result, err := engine.Run(context.Background(), rules.All, recorded, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range result.Findings {
		fmt.Printf("%s: %s\n", f.Severity, f.Rule.ID)
		fmt.Printf("  at       %s\n", f.Place)
		fmt.Printf("  seen     %s\n", f.Seen)
		fmt.Printf("  sections %s\n", f.Sections())
		fmt.Printf("  also     %s\n", f.Also)
	}
	fmt.Println(result.Verdict(analysis.Error))
	// Output:
	// error: stream-closed-on-terminal
	//   at       1.response.event[2]#/result/statusUpdate/status/state
	//   seen     status "TASK_STATE_WORKING" after event 1 ended the task as "TASK_STATE_COMPLETED"
	//   sections [1.0 §3.1.2 1.0 §3.1.6]
	//   also     [state-terminal-immutable]
	// findings: 1 error, 0 warnings, 0 notes in 1 exchange, 1 checked; 1 of 1 call succeeded
}
