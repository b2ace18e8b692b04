package reading_test

import (
	"testing"

	"a2atap/analyzer/reading"
	"a2atap/proxy/capture/filter"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// What a filter asks for is found under every name that people use for it.
func TestFactsUnderAllNames(t *testing.T) {
	tr, err := transcript.Parse("facts.txtar", []byte(`-- 1.request --
POST /rpc HTTP/1.1
Host: booker.example
Content-Type: application/json

{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"kind":"message","messageId":"m1","role":"user","parts":[]}}}
-- 1.response --
HTTP/1.1 200 OK
Content-Type: text/event-stream

data: {"jsonrpc":"2.0","id":1,"result":{"kind":"artifact-update","taskId":"t1","contextId":"c1","artifact":{"artifactId":"a","parts":[]}}}

data: {"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t1","contextId":"c1","final":true,"status":{"state":"completed","message":{"kind":"message","messageId":"m2","role":"agent","parts":[]}}}}

`))
	must.Do(t, err)
	x := tr.Exchanges[0]
	facts := reading.Facts{Reading: reading.Read(x)}
	for expr, want := range map[string]bool{
		"event:artifact*":            true,
		"event:statusUpdate":         true,
		"event:status-update":        true,
		"event:TaskStatusUpdate*":    true,
		"event:task":                 false,
		"role:agent":                 true,
		"role:ROLE_USER":             true,
		"message:m2":                 true,
		"dialect:0.3":                true,
		"dialect:0.2/0.3":            true,
		"dialect:1.0":                false,
		"op:SendStreamingMessage":    true,
		"state:TASK_STATE_COMPLETED": true,
	} {
		f := must.Get(filter.Parse(expr))(t)
		expect.Equal(t, expr, want, f.Match(x, facts))
	}
}
