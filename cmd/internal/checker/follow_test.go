package checker

import (
	"bufio"
	"context"
	"io"
	"testing"

	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// cardAfterCall is a call by a method of 0.3, and then the card of an agent of 1.0.
const cardAfterCall = `-- 1.request --
POST /rpc HTTP/1.1
Host: booker.example:9001
Content-Type: application/json
A2A-Version: 1.0

{"jsonrpc":"2.0","id":"r2","method":"sendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"Two tickets to Kyoto"}]}}}
-- 1.response --
HTTP/1.1 200 OK
Content-Type: application/json

{"jsonrpc":"2.0","id":"r2","error":{"code":-32601,"message":"Method not found"}}
-- 2.request --
GET /.well-known/agent-card.json HTTP/1.1
Host: booker.example:9001

-- 2.response --
HTTP/1.1 200 OK
Content-Type: application/json
Cache-Control: max-age=60
ETag: "1"

{"name":"Booker","description":"Books tickets","version":"1.0.0","capabilities":{"streaming":true},"supportedInterfaces":[{"url":"http://booker.example:9001/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"book","name":"Book","description":"Books a ticket","tags":["tickets"]}]}
`

// A finding that replaces a printed one is printed as a replacement.
func TestFollowPrintsReplacements(t *testing.T) {
	script := must.Get(transcript.Parse("c", []byte(cardAfterCall)))(t)
	m := capture.NewMemory(capture.Info{Name: "c"})
	record := func(x *capture.Exchange) { must.Do(t, m.Append(capture.Steps(x)...)) }
	record(script.Exchanges[0])
	src := m.Reader()
	v := verdict.View("-", src, rules.All)
	defer v.Close()
	out, in := io.Pipe()
	f := &follower{checker: &checker{rules: ruleSelection{list: rules.All}, known: &verdict.Baseline{}}, src: src, w: in}
	ended := make(chan error, 1)
	go func() {
		_, err := f.run(t.Context(), context.Background(), v)
		in.Close()
		ended <- err
	}()
	lines := bufio.NewScanner(out)
	lines.Scan()
	expect.Contains(t, "the first finding", "[rpc-method-known] (note", lines.Text())
	record(script.Exchanges[1])
	must.Do(t, m.Close())
	lines.Scan()
	expect.Contains(t, "the second finding", "replaces an earlier finding", lines.Text())
	io.Copy(io.Discard, out) //nolint:errcheck // it is a pipe
	expect.OK(t, <-ended)
}
