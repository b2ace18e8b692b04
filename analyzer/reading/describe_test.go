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

// Each binding's answer with a card names the credentials that the card asks for, in each form of schemes, so that they are
// hidden.
func TestCardsNameCredentials(t *testing.T) {
	const isRPC = "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\r\n"
	const result = `{"jsonrpc":"2.0","id":1,"result":CARD}`
	ways := map[string]struct{ head, body, answer string }{
		"well-known":            {"GET /.well-known/agent-card.json HTTP/1.1\r\nHost: a\r\n\r\n", "", "CARD"},
		"well-known of 0.2":     {"GET /.well-known/agent.json HTTP/1.1\r\nHost: a\r\n\r\n", "", "CARD"},
		"another path":          {"GET /cards/a HTTP/1.1\r\nHost: a\r\n\r\n", "", "CARD"},
		"extended, REST of 1.0": {"GET /extendedAgentCard HTTP/1.1\r\nHost: a\r\nA2A-Version: 1.0\r\n\r\n", "", "CARD"},
		"extended, REST of 0.3": {"GET /v1/card HTTP/1.1\r\nHost: a\r\n\r\n", "", "CARD"},
		"extended, RPC of 1.0":  {isRPC, `{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}`, result},
		"extended, RPC of 0.3":  {isRPC, `{"jsonrpc":"2.0","id":1,"method":"agent/getAuthenticatedExtendedCard"}`, result},
		"gRPC of 1.0": {
			"POST /lf.a2a.v1.A2AService/GetExtendedAgentCard HTTP/2\r\nHost: a\r\nContent-Type: application/grpc\r\n\r\n", "", "CARD",
		},
		"gRPC of 0.3": {
			"POST /a2a.v1.A2AService/GetAgentCard HTTP/2\r\nHost: a\r\nContent-Type: application/grpc\r\n\r\n", "", "CARD",
		},
	}
	forms := map[string]string{
		"1.0":                       `"k":{"apiKeySecurityScheme":{"name":"X-Booking","location":"header"}}`,
		"0.3":                       `"k":{"type":"apiKey","name":"X-Booking","in":"header"}`,
		"0.3, in capitals":          `"k":{"type":"APIKEY","name":"X-Booking","in":"Header"}`,
		"without a type":            `"k":{"name":"X-Booking","in":"header"}`,
		"of another type":           `"k":{"type":"http","scheme":"bearer","name":"X-Booking","in":"header"}`,
		"names of Protocol Buffers": `"k":{"api_key_security_scheme":{"name":"X-Booking","location":"header"}}`,
		"both":                      `"k":{"type":"apiKey","name":"X-Booking","in":"header","apiKeySecurityScheme":{}}`,
		"among others":              `"a":{"type":"mutualTLS"},"b":7,"k":{"type":"apiKey","name":"X-Booking","in":"header"}`,
	}
	for way, w := range ways {
		for form, scheme := range forms {
			card := `{"name":"a","description":"d","version":"1","supportedInterfaces":[],"capabilities":{},"skills":[],"url":"http://a/",` +
				`"securitySchemes":{` + scheme + `}}`
			answer := strings.Replace(w.answer, "CARD", card, 1)
			x := &capture.Exchange{
				ID: uuid.New(), Request: capture.Request{Head: []byte(w.head)}, State: capture.StateClosed,
				Agent:    capture.Peer{Name: "a", URL: "http://a/"},
				Response: &capture.Response{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")},
			}
			x.Request.Body.Data = []byte(w.body)
			d := NewDescriber()
			d.Request(x, nil)
			var got capture.Description
			doc := a2a.Parse([]byte(answer))
			if strings.HasPrefix(way, "gRPC") {
				got = d.Event(x, &capture.Event{K: 1}, &capture.Parsed{Doc: &doc})
			} else {
				got = d.Response(x, &capture.Parsed{
					Head: new(capture.ParseResponseHead(x.Response.Head)), Text: []byte(answer), Doc: &doc,
				})
			}
			expect.Equal(t, way+", "+form, "X-Booking", strings.Join(got.Headers, " "))
		}
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
