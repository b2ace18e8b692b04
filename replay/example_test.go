package replay_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	"a2atap/analyzer/rules"
	"a2atap/proxy/capture/open"
	"a2atap/replay"
	"a2atap/replay/refagent"
)

// A recorded session is replayed to an agent that answers as recorded.
func Example() {
	agent, err := refagent.New("spec", refagent.Options{StepTime: time.Millisecond})
	if err != nil {
		panic(err)
	}
	defer agent.Close()
	server := httptest.NewServer(agent)
	defer server.Close()

	session, err := open.File("replaytest/testdata/session.txtar")
	if err != nil {
		panic(err)
	}
	defer session.Close()
	report, err := replay.Run(context.Background(), session, server.URL+agent.Path(), replay.Options{Rules: rules.All})
	if err != nil {
		panic(err)
	}
	fmt.Println(report.Verdict())
	// Output: no difference; 6 sent, 6 matched, 0 differing, 0 left out; texts not compared: 10
}
