package replay

import (
	"fmt"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

func TestNotes(t *testing.T) {
	var n notes
	for i := range 1000 {
		n.add("late", fmt.Sprintf("exchange %d was sent late", i))
		n.add("once", "once")
	}
	expect.Same(t, "", []string{"exchange 0 was sent late (and 999 more of this kind)", "once"}, n.texts())
}

func TestTaps(t *testing.T) {
	known := taps{}
	for _, test := range []struct{ agent, url, host string }{
		{"booker", "http://127.0.0.1:9001", "127.0.0.1:7001"},
		{"planner", "http://127.0.0.1:9002", "localhost:7002"},
		{"forward", "http://127.0.0.1:9003", "localhost:9003"},
		{"public", "https://agent.example/a2a", "agent.example"},
		{"unknown", "", "127.0.0.1:7004"},
	} {
		head := capture.Head{Fields: capture.Fields{{Name: "Host", Value: test.host}}}
		known.note(test.agent, &capture.Exchange{Agent: capture.Peer{URL: test.url}}, &head)
	}
	expect.Same(t, "taps", taps{"127.0.0.1:7001": "booker", "localhost:7002": "planner"}, known)
	for _, test := range []struct{ text, want string }{
		{"dial tcp 127.0.0.1:7001: connect: connection refused", "127.0.0.1:7001"},
		{"connect ECONNREFUSED 127.0.0.1:7001", "127.0.0.1:7001"},
		{`Post "http://localhost:7002/rpc": Connection refused`, "localhost:7002"},
		{"Cannot connect to host localhost:7002 ssl:default", "localhost:7002"},
		{"[Errno 111] Connect call failed ('127.0.0.1', 7001)", "127.0.0.1:7001"},
		{"dial tcp 127.0.0.1:70011: connect: connection refused", ""},
		{"dial tcp 127.0.0.1:9001: connect: connection refused", ""},
		{"booker at 127.0.0.1:7001 says hello", ""},
		{"", ""},
	} {
		got, _ := known.closed(test.text)
		expect.Equal(t, test.text, test.want, got)
	}
}
