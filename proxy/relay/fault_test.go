package relay_test

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"a2atap/proxy/relay"
)

// A machine that gives no more descriptors is not a fault of the agent, however the error comes.
func TestExhausted(t *testing.T) {
	op := func(err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", err)}
	}
	tests := map[string]struct {
		err  error
		says string
	}{
		"process":      {op(syscall.EMFILE), "this machine allows no more connections for a2atap ("},
		"its resolver": {&net.DNSError{Err: "dial udp 192.0.2.1:53: socket: too many open files"}, "raise ulimit -n"},
		"machine":      {op(syscall.ENFILE), "its table of open files is full"},
	}
	for name, test := range tests {
		f := relay.DialFault(fmt.Errorf("dial: %w", test.err), "agent.example:1")
		if f.Side != relay.SideProxy || f.Status != 503 || !strings.Contains(f.Detail, test.says) {
			t.Errorf("%s: got %+v", name, f)
		}
		if text := string(relay.OwnAnswer("", f)); !strings.HasPrefix(text, "HTTP/1.1 503 Service Unavailable\r\n") ||
			!strings.Contains(text, `"message":"this machine allows`) {
			t.Errorf("%s: answered %s", name, text)
		}
	}
	if f := relay.DialFault(op(syscall.ECONNREFUSED), ""); f.Side != relay.SideAgent || relay.Exhausted(op(syscall.ECONNREFUSED)) != "" {
		t.Errorf("got %+v", f)
	}
}
