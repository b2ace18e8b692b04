package relay

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/outbound"
	"a2atap/proxy/scheme"
)

// An agent whose URL has the wrong scheme answers: the fault says which is right. One that does not answer may be
// anything.
func TestWrongScheme(t *testing.T) {
	answering := func(text string) func(net.Conn) {
		return func(c net.Conn) {
			io.ReadFull(c, make([]byte, 1))
			io.WriteString(c, text)
			c.Close()
		}
	}
	tests := []struct {
		name   string
		secure bool // the agent's URL is https
		agent  func(net.Conn)
		kind   string
		says   string
	}{
		{"an alert", false, answering("\x15\x03\x03\x00\x02\x02\x46"), KindTLS, scheme.SpeaksTLS},
		{"ServerHello", false, answering("\x16\x03\x03\x00\x2a\x02\x00\x00\x26\x03\x03"), KindTLS, scheme.SpeaksTLS},
		{"no record", false, answering("\x17\x03\x03\x00\x02\x02\x46"), KindRefused, "malformed status line"},
		{"SSH", false, answering("SSH-2.0-x\r\n"), KindRefused, "malformed status line"},
		{"HTTP", true, answering("HTTP/1.1 400 Bad Request\r\n\r\n"), KindTLS, scheme.SpeaksPlainHTTP},
		{"HTTP/2", true, answering("\x00\x00\x00\x04\x00\x00\x00\x00\x00"), KindTLS, scheme.SpeaksPlainHTTP},
		{"closes in the handshake", true, answering(""), KindTLS, "TLS handshake: "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			agent := listen(t)
			defer agent.Close()
			go acceptAll(agent, test.agent)
			d := &outbound.Dialer{}
			w := newWire(t, false, func(c *Config) {
				c.Dial = func(ctx context.Context) (net.Conn, error) {
					return d.Dial(ctx, agent.Addr().String(), test.secure, "127.0.0.1", nil)
				}
			})
			client := w.client()
			client.send(w.host(post))
			if status, kind := ownAnswerOf(t, client); status != 502 || kind != test.kind {
				t.Errorf("the client got %d %s", status, kind)
			}
			client.Close()
			w.result()
			e := w.ended(0)
			wantFault(t, e.Fault, test.kind, SideAgent)
			expect.Contains(t, "the detail", test.says, e.Fault.Detail)
			if n := strings.Count(Message(*e.Fault), test.says); n != 1 {
				t.Errorf("%q says it %d times", Message(*e.Fault), n)
			}
		})
	}
}
