package player

import (
	"fmt"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

// The values of --serve and --live decide for each address whether it is played, or they are refused.
func TestNamesDecideWhichAddressesArePlayed(t *testing.T) {
	called := func(calls ...string) *capture.Memory {
		memory := capture.NewMemory(capture.Info{})
		for i := 0; i < len(calls); i += 2 {
			must.Do(t, memory.Append(capture.Steps(&capture.Exchange{
				Seq: uint64(i/2 + 1), Started: time.Unix(0, 0), State: capture.StateClosed, //nolint:gosec // small
				Agent:   capture.Peer{Name: calls[i], URL: calls[i+1]},
				Request: capture.Request{Head: []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")},
			})...))
		}
		return memory
	}
	const a, b, c = "http://127.0.0.1:9001", "http://127.0.0.1:9002", "http://127.0.0.1:9003"
	names := []string{"llm", "booker", "old"}
	one := called("llm", a, "booker", b, "booker:9003", c)
	moved, shared := called("llm", a, "booker", b, "booker", c), called("llm", a, "booker", b, "old", b+"/path")
	for _, tt := range []struct {
		src   *capture.Memory
		flags Flags
		want  string
	}{
		{one, Flags{}, ""},
		{one, Flags{live: []string{"booker"}}, ""},
		{one, Flags{serve: []string{"llm", b}}, ""},
		{one, Flags{serve: []string{"bookers"}}, "--serve bookers: the capture has no calls to it; it has calls to llm, booker, old"},
		{one, Flags{live: []string{"http://127.0.0.1:1"}}, "--live http://127.0.0.1:1: the capture has no calls to it; it has calls to llm, booker, old"},
		{moved, Flags{live: []string{"booker"}}, "--live booker: the capture has calls with that name to " + b + " and to " + c + "; give the addresses instead"},
		{moved, Flags{live: []string{"llm"}}, ""},
		{moved, Flags{live: []string{b}}, ""},
		{shared, Flags{serve: []string{"old"}}, "--serve: in the capture, " + b + " has the names booker and old; give both, or the address"},
		{shared, Flags{serve: []string{"booker", "old"}}, ""},
		{shared, Flags{serve: []string{b}}, ""},
	} {
		got := ""
		if err := tt.flags.decidable(t.Context(), tt.src, names); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("serve %q, live %q: got %q, want %q", tt.flags.serve, tt.flags.live, got, tt.want)
		}
	}
	played := func(x *capture.Exchange) string {
		return fmt.Sprint(isChosen(x, []string{b}), isChosen(x, []string{"booker"}))
	}
	x := must.Get(moved.Exchange(t.Context(), 3))(t)
	if got := played(x); got != "false true" {
		t.Errorf("chosen: %s", got)
	}
}
