package reading

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// What a describer has read before makes no difference to what it says, but for the cards, and nothing of it stays.
func TestDescribesAgain(t *testing.T) {
	var tasks strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&tasks, `{"id":"t%d","contextId":"c%d","status":{"state":"TASK_STATE_WORKING"}},`, i, i)
	}
	many, err := transcript.Parse("many.txtar", fmt.Appendf(nil, `-- 1.request --
POST / HTTP/1.1
Content-Type: application/json

{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}
-- 1.response --
HTTP/1.1 200 OK
Content-Type: application/json

{"jsonrpc":"2.0","id":1,"result":{"tasks":[%s]}}
`, strings.TrimSuffix(tasks.String(), ",")))
	must.Do(t, err)
	all := many.Exchanges
	paths, err := filepath.Glob("../rules/testdata/wild/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no transcripts, error %v", err)
	}
	for _, path := range paths {
		tr := must.Get(transcript.ReadFile(path))(t)
		all = append(all, tr.Exchanges...)
	}
	d := NewDescriber().(*describer)
	keys := 0
	for _, x := range all {
		fresh := NewDescriber().(*describer)
		fresh.reader.cards = d.reader.cards
		want := describeAll(fresh, x)
		got := describeAll(d, x)
		expect.Same(t, fmt.Sprintf("%s %s: described otherwise when others came before", x.ID, x.Request.Head),
			want, got)
		for _, said := range got {
			keys = max(keys, len(said.Keys))
		}
		if r := &d.reading; r.Call.A2A() || r.Call.Doc.Root.Exists() || r.Card != nil || len(r.Errors)+len(r.Tasks) > 0 ||
			cap(r.Tasks) > 16 || cap(r.Contexts) > 16 {
			t.Errorf("after %s the describer keeps %+v", x.Request.Head, r)
		}
	}
	if keys < 2000 {
		t.Errorf("of 1000 tasks in 1000 contexts there are %d keys", keys)
	}
	if len(d.calls) > 0 || len(d.spare) == 0 || len(d.spare) > maxSpare {
		t.Errorf("%d calls are open, and %d spare", len(d.calls), len(d.spare))
	}
}

// Each binding's answer with a card names the credentials that the card asks for, so that they are hidden.
func TestCardsNameCredentials(t *testing.T) {
	const card = `{"name":"a","version":"1","supportedInterfaces":[],"securitySchemes":{` +
		`"k":{"apiKeySecurityScheme":{"name":"X-Booking","location":"header"}}}}`
	for name, test := range map[string]struct{ request, answer string }{
		"GET": {
			"GET /.well-known/agent-card.json HTTP/1.1\r\nHost: a\r\n\r\n", card,
		},
		"gRPC 1.0": {
			"POST /lf.a2a.v1.A2AService/GetExtendedAgentCard HTTP/2\r\nHost: a\r\nContent-Type: application/grpc\r\n\r\n", card,
		},
	} {
		x := &capture.Exchange{
			ID: uuid.New(), Request: capture.Request{Head: []byte(test.request)}, State: capture.StateClosed,
			Response: &capture.Response{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")},
		}
		d := NewDescriber()
		d.Request(x, nil)
		var got capture.Description
		if name == "GET" {
			x.Response.Body.Data = []byte(test.answer)
			got = d.Response(x, nil)
		} else {
			doc := a2a.Parse([]byte(test.answer))
			got = d.Event(x, &capture.Event{K: 1}, &capture.Parsed{Doc: &doc})
		}
		expect.Equal(t, name, "X-Booking", strings.Join(got.Headers, " "))
	}
}

// describeAll returns all that a describer says of an exchange.
func describeAll(d capture.Describer, x *capture.Exchange) []capture.Description {
	all := []capture.Description{d.Request(x, nil)}
	if x.Response == nil {
		return append(all, d.Response(x, nil))
	}
	for i := range x.Response.Events {
		all = append(all, d.Event(x, &x.Response.Events[i], nil))
	}
	return append(all, d.Response(x, nil))
}
