package filter

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// knownFacts are facts for tests: values by key, and names by their other spellings.
type knownFacts struct {
	values map[string][]string
	names  map[string]string
}

func (f knownFacts) Values(key string) []string { return f.values[key] }

func (f knownFacts) Normalize(key, word string) string {
	if name, ok := f.names[key+":"+strings.ToLower(word)]; ok {
		return name
	}
	return word
}

var streamFacts = knownFacts{
	values: map[string][]string{
		"op": {"SendStreamingMessage", "message/stream"}, "dialect": {"0.3"}, "binding": {"jsonrpc"},
		"task": {"t-1", "T two", "2f1e9c04-5b1d-4c6e-9a52-0d6f1f0a7b11"}, "context": {"c-1"}, "message": {"m-1"}, "state": {"working", "failed"},
		"role": {"user"}, "event": {"statusUpdate"}, "code": {"-32001", "TASK_NOT_FOUND"},
		"rule": {"stream-closed-on-terminal"}, "severity": {"error"}, "side": {"agent"},
		"workflow": {"3"}, "is": {"push", "marked"},
	},
	names: map[string]string{
		"op:message/stream": "SendStreamingMessage", "op:sendstreamingmessage": "SendStreamingMessage",
		"state:task_state_failed": "failed", "role:role_user": "user", "binding:rest": "http+json",
	},
}

// streamExchange is a streamed exchange with all that a filter can ask for.
func streamExchange(t testing.TB) *capture.Exchange {
	t.Helper()
	body := capturetest.Encode(t,
		[]byte(`{"jsonrpc":"2.0","id":7,"params":{"text":"A quiet Room, for \u00fcs","n":1.5,"list":[{"x":"a b"},`+
			`{"x":"c"}]}}`), "gzip")
	return &capture.Exchange{
		Seq: 12, ID: uuid.MustParse("0190a5c4-0000-7000-8000-000000000001"), State: capture.StateClosed,
		Started: time.Date(2026, 11, 21, 12, 30, 15, 250e6, time.UTC), Ended: 2500 * time.Millisecond,
		Client: capture.Peer{Name: "planner"},
		Agent:  capture.Peer{Name: "booker", URL: "http://agent.example:9000/base"},
		Request: capture.Request{
			Head: []byte("POST /rpc/v1?tenant=x HTTP/1.1\r\nHost: 127.0.0.1:7001\r\nContent-Encoding: gzip\r\n" +
				"X-Tenant: Acme Corp\r\ntraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n\r\n"),
			Body: capture.Body{Data: body, Size: 1200, Complete: true, At: 10 * time.Millisecond},
		},
		Response: &capture.Response{
			At: 20 * time.Millisecond, Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"),
			Stream: true,
			Body:   capture.Body{Size: capture.NotKnown, Complete: true, At: 2400 * time.Millisecond},
			Events: []capture.Event{
				{
					K: 1, At: 400 * time.Millisecond,
					Raw: []byte("event: tick\ndata: {\"result\":{\"final\":false,\"note\":\n" +
						"data: \"Wolke\"}}\n\n"),
				},
				{K: 2, At: 2400 * time.Millisecond, Raw: []byte("data: {\"result\":{\"final\":true}}\n\n")},
			},
		},
		Rewrites: []capture.Rewrite{{Place: "response.body#/url"}},
		Notes:    []string{capture.FaultMadeHere + "reset"},
	}
}

func TestMatch(t *testing.T) {
	x := streamExchange(t)
	tests := []struct {
		expr string
		want bool
	}{
		{"", true},
		{"n:12", true},
		{"n:3..9", false},
		{"n:9..", true},
		{"n:..11", false},
		{"n:>11", true},
		{"n:<=12", true},
		{"id:0190a5c4-*", true},
		{"id:0190a5c4-0000-7000-8000-000000000001", true},
		{"id:x", false},
		{"id:0190a5", true},
		{"task:2f1e9c04", true},
		{"task:2f1e9c", true},
		{"task:2f1e9c04-5b1d-4c6e", true},
		{"task:*1f0a7b11", true},
		{"task:2f1e9", false},
		{"task:2f1e9c05", false},
		{"task:1f0a7b11", false},
		{"task:2F1E9C04", false},
		{"time:12:30:15", true},
		{"time:12:30", true},
		{"time:12:30:16", false},
		{"time:>12:30:15", false},
		{"time:>=12:30:15", true},
		{"time:<=12:30:15", true},
		{"time:12:30:15.2", true},
		{"time:12:30:15.3", false},
		{"time:12:00..12:30", true},
		{"time:23:00..12:31", true},
		{"time:23:00..11:00", false},
		{"time:2026-11-21", true},
		{"time:2026-11-21T13:30:15+01:00", true},
		{"time:2026-11-21T12:30..2026-11-21T12:31", true},
		{"time:<2026-11-21T00:00:00Z", false},
		{"time:..2026-11-21", true},
		{"op:message/stream", true},
		{"op:SENDSTREAMINGMESSAGE", true},
		{"op:Send*", true},
		{"op:message/*", true},
		{"op:GetTask", false},
		{"op:/^send/", true},
		{"op:/(?-i)^send/", false},
		{"method:post", true},
		{"method:GET", false},
		{"path:/rpc/v1", true},
		{"path:/rpc/*", true},
		{"path:/RPC/v1?tenant=x", true},
		{"path:/rpc", false},
		{"path:/^.rpc/", true},
		{"host:127.0.0.1", true},
		{"host:127.0.0.1:7001", true},
		{"host:agent.example", true},
		{"host:*:9000", true},
		{"host:elsewhere", false},
		{"agent:Booker", true},
		{"client:plan*", true},
		{"client:booker", false},
		{"link:planner->booker", true},
		{`link:"planner → booker"`, true},
		{"link:planner→*", true},
		{"link:booker->planner", false},
		{"dialect:0.3", true},
		{"dialect:1.0", false},
		{"binding:JSONRPC", true},
		{"binding:rest", false},
		{"task:t-1", true},
		{"task:T-1", false},
		{`task:"T two"`, true},
		{"task:t*", true},
		{"context:c-1", true},
		{"message:m-1", true},
		{"state:TASK_STATE_FAILED", true},
		{"state:failed", true},
		{"state:completed", false},
		{"role:ROLE_USER", true},
		{"role:agent", false},
		{"event:statusUpdate", true},
		{"event:tick", true},
		{"event:artifact*", false},
		{"status:200", true},
		{"status:2xx", true},
		{"status:>=400", false},
		{"status:100..299", true},
		{"status:>2xx", false},
		{"code:-32001", true},
		{"code:-32099..-32000", true},
		{"code:>0", false},
		{"code:task_not_found", true},
		{"code:TASK*", true},
		{"rule:stream-*", true},
		{"severity:error", true},
		{"side:client", false},
		{"header:content-type", true},
		{"header:Content-Type=text/*", true},
		{`header:x-tenant="acme corp"`, true},
		{"header:X-*=/corp$/", true},
		{"header:X-Tenant=acme", false},
		{"header:X-None", false},
		{"json:/params/n", true},
		{"json:/params/n=1.5", true},
		{"json:/params/n>1", true},
		{"json:/params/n<=1", false},
		{"json:/id=7", true},
		{`json:/params/list/*/x="a b"`, true},
		{"json:/params/list/1/x=C", false},
		{"json:/params/list/1/x=/^C$/", true},
		{"json:/result/final=true", true},
		{"json:/result/note=Wo*", true},
		{"json:/nothing", false},
		{"json:/params/n=1..2", false},
		{"json:/params/n1..2", false},
		{"dur:>2s", true},
		{"dur:2s", true},
		{"dur:2.5s", true},
		{"dur:2.4s", false},
		{"dur:>=2500ms", true},
		{"dur:2s..3s", true},
		{"dur:>2.5s", false},
		{"gap:>1s", true},
		{"gap:2s", true},
		{"gap:>2s", false},
		{"size:>1kB", true},
		{"size:>1MB", false},
		{"size:1200", true},
		{"size:<=1.2kb", true},
		{"size:1KiB", true},
		{"size:>1KiB", true},
		{"trace:4bf92f3577b34da6a3ce929d0e0e4736", true},
		{"trace:4bf9*", true},
		{"trace:x", false},
		{"workflow:3", true},
		{"workflow:2..5", true},
		{"workflow:12", false},
		{"workflow:>3", false},
		{"not workflow:4", true},
		{"is:open", false},
		{"is:stream", true},
		{"is:rewritten", true},
		{"is:replayed", false},
		{"is:faulted", true},
		{"is:error", false},
		{"is:push", true},
		{"is:marked", true},
		{"is:card", false},
		{"is:cut", false},
		{"is:interrupted", false},
		{"quiet", true},
		{`"quiet room"`, true},
		{"QUIET", true},
		{"Wolke", true},
		{"noisy", false},
		{"tenant", true},
		{"agent.example", true},
		{"127.0.0.1:7001/rpc", true},
		{`"127.0.0.1:7001/rpc"`, true},
		{"quiet*room", true},
		{"room*quiet", false},
		{"/qui.t\\s+room/", true},
		{"quiet noisy", false},
		{"quiet or noisy", true},
		{"quiet and wolke", true},
		{"not noisy", true},
		{"-noisy", true},
		{"-quiet", false},
		{"not not quiet", true},
		{"noisy or quiet wolke", true},
		{"(noisy or quiet) noisy", false},
		{"noisy OR NOT noisy", true},
		{"-(noisy or loud)", true},
		{"not(noisy)", true},
		{`"or"`, true},
		{`"noisy or"`, false},
	}
	for _, tt := range tests {
		t.Run(tt.expr, func(t *testing.T) {
			f := must.Get(Parse(tt.expr))(t)
			expect.Equal(t, "match", tt.want, f.Match(x, streamFacts))
			again, err := Parse(f.String())
			if err != nil {
				t.Fatalf("what it prints, %s: %v", f, err)
			}
			if again.String() != f.String() || again.Match(x, streamFacts) != tt.want {
				t.Errorf("%q prints as %q, which is read as %q", tt.expr, f, again)
			}
		})
	}
}

func TestKeysForIndex(t *testing.T) {
	key := func(kind, value string) capture.Key { return capture.Key{Kind: kind, Value: value} }
	tests := []struct {
		expr string
		want []capture.Key
	}{
		{"", nil},
		{"task:t-1", []capture.Key{key("task", "t-1")}},
		{
			"task:t-1 context:c-1 quiet op:message/send",
			[]capture.Key{key("task", "t-1"), key("context", "c-1"), key("operation", "message/send")},
		},
		{"(task:t-1 (context:c-1))", []capture.Key{key("task", "t-1"), key("context", "c-1")}},
		{"task:t-1 or task:t-2", nil},
		{"task:t-1 (op:x or op:y)", []capture.Key{key("task", "t-1")}},
		{"not task:t-1", nil},
		{"task:t-* op:/x/", nil},
		{"task:2f1e9c04", nil}, // the first digits of an id, which an index does not find
		{
			"task:2f1e9c04-5b1d-4c6e-9a52-0d6f1f0a7b11",
			[]capture.Key{key("task", "2f1e9c04-5b1d-4c6e-9a52-0d6f1f0a7b11")},
		},
		{"agent:booker", nil}, // its name is compared without minding case, which an index cannot
	}
	for _, tt := range tests {
		expect.Same(t, tt.expr, tt.want, must.Get(Parse(tt.expr))(t).Keys())
	}
	if keys := (*Filter)(nil).Keys(); keys != nil {
		t.Errorf("the nil filter has keys %v", keys)
	}
}

func TestMatchOfLittle(t *testing.T) {
	empty := &capture.Exchange{
		Ended:   capture.NotKnown,
		Request: capture.Request{Body: capture.Body{Size: capture.NotKnown, At: capture.NotKnown}},
	}
	cut := &capture.Exchange{
		State: capture.StateClosed, Request: capture.Request{Body: capture.Body{Complete: true}},
		Response: &capture.Response{
			Head: []byte("HTTP/1.1 503 Busy\r\nRetry-After: 1\r\n\r\n"),
			Body: capture.Body{Data: []byte("plain Text"), Size: 100, Dropped: 90},
		},
	}
	broken := &capture.Exchange{
		State: capture.StateInterrupted, Fault: &capture.TransportFault{Kind: "reset"}, Replayed: true,
		Request: capture.Request{
			Head: []byte("POST http://user@h:1/x?y HTTP/1.1\r\nContent-Encoding: gzip\r\n\r\n"),
			Body: capture.Body{Data: []byte("\xef\xbb\xbf{\"a\":1} not gzip Ärger"), Complete: true},
		},
	}
	tests := []struct {
		name  string
		x     *capture.Exchange
		holds string
		not   string
	}{
		{
			"empty", empty, "is:open size:0 not task:x",
			"time:12:00|dur:>0s|gap:>=0s|status:>0|is:error|is:cut|x|task:*|op:/./|json:/a|code:>0",
		},
		{
			"cut", cut, "is:cut is:error status:503 text size:100 header:* gap:0s",
			"is:open|is:interrupted|is:stream|json:/a|trace:*|workflow:1..",
		},
		{
			"broken", broken, "is:interrupted is:error is:replayed json:/a=1 path:/x path:/x?y host:h host:h:1 ärger y",
			"is:cut|is:open|host:user|n:1",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if f, err := Parse(tt.holds); err != nil || !f.Match(tt.x, nil) {
				t.Errorf("%s does not hold (%v)", tt.holds, err)
			}
			for expr := range strings.SplitSeq(tt.not, "|") {
				if f, err := Parse(expr); err != nil || f.Match(tt.x, nil) {
					t.Errorf("%s holds (%v)", expr, err)
				}
			}
		})
	}
	if !(*Filter)(nil).Match(empty, nil) {
		t.Error("the nil filter does not match")
	}
}

// If a client broke an exchange, the exchange's duration and its silence end when the client left.
func TestDurationForClientThatLeft(t *testing.T) {
	left := &capture.TransportFault{Kind: "client-left", Side: "client"}
	ends := func(side string, at time.Duration) []capture.SideEnd {
		return []capture.SideEnd{{Side: side, How: capture.EndClose, At: at}}
	}
	for name, test := range map[string]struct {
		fault *capture.TransportFault
		ends  []capture.SideEnd
		want  string // what matches
	}{
		"client left":          {left, ends("client", 500*time.Millisecond), "dur:500ms gap:500ms"},
		"client left, no time": {left, ends("client", capture.NotKnown), "dur:3s gap:3s"},
		"client left, no end":  {left, nil, "dur:3s gap:3s"},
		"no fault":             {nil, ends("client", 500*time.Millisecond), "dur:3s gap:3s"},
		"agent broke it":       {&capture.TransportFault{Side: "agent"}, ends("agent", 500*time.Millisecond), "dur:3s gap:3s"},
		"recorder broke it":    {&capture.TransportFault{Side: "proxy"}, ends("client", 500*time.Millisecond), "dur:3s gap:3s"},
	} {
		t.Run(name, func(t *testing.T) {
			x := &capture.Exchange{
				State: capture.StateClosed, Ended: 3 * time.Second, Fault: test.fault, Ends: test.ends,
				Request: capture.Request{Body: capture.Body{At: capture.NotKnown}},
			}
			if f := must.Get(Parse(test.want))(t); !f.Match(x, nil) {
				t.Errorf("%q does not match", test.want)
			}
		})
	}
}

// A server may decline what it need not offer; that is neither refused nor failed, whatever its status is.
func TestDeclined(t *testing.T) {
	t.Parallel()
	x := &capture.Exchange{State: capture.StateClosed, Response: &capture.Response{
		Head: []byte("HTTP/1.1 405 Method Not Allowed\r\n\r\n"),
	}}
	for word, want := range map[string]bool{"is:failed": true, "is:refused": true, "is:error": true, "is:open": false} {
		f := must.Get(Parse(word))(t)
		if f.Match(x, knownFacts{}) != want {
			t.Errorf("%s of status 405: not %t", word, want)
		}
		if f.Match(x, knownFacts{values: map[string][]string{"is": {"declined"}}}) {
			t.Errorf("%s matches what was declined", word)
		}
	}
}
