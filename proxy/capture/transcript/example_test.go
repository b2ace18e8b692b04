package transcript_test

import (
	"fmt"

	"a2atap/proxy/capture/transcript"
)

func ExampleParse() {
	t, err := transcript.Parse("cancel.txtar", []byte(`The agent cancels, and streams that it did.
-- 1.request --
POST /rpc HTTP/1.1
Host: booker.example

{"jsonrpc": "2.0", "id": 1, "method": "tasks/resubscribe", "params": {"id": "t1"}}
-- 1.response --
HTTP/1.1 200 OK
Content-Type: text/event-stream

data: {"jsonrpc": "2.0", "id": 1, "result": {"final": true}}

-- 1.meta --
event[1]: 250ms
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	x := t.Exchanges[0]
	fmt.Println(x.Seq, x.Agent.URL, x.State)
	for _, e := range x.Response.Events {
		fmt.Printf("%d after %v: %s\n", e.K, e.At, e.Fields().Data)
	}
	// Output:
	// 1 http://booker.example closed
	// 1 after 250ms: {"jsonrpc": "2.0", "id": 1, "result": {"final": true}}
}
