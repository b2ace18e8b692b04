package relay

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/expect"
)

// An upperCaser is an Editor that marks heads and puts held bodies into upper case.
type upperCaser struct {
	limit    int
	tooLarge chan int
}

func (u upperCaser) Request(x int, head []byte) []byte {
	return bytes.Replace(head, []byte("\r\n\r\n"), []byte("\r\nX-Edited: yes\r\n\r\n"), 1)
}

func (u upperCaser) Hold(x int, head []byte) int { return u.limit }

func (u upperCaser) Answer(x int, head, body, trailer []byte) []byte {
	if bytes.Contains(body, []byte("leave")) {
		return nil
	}
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body)+len(trailer),
		bytes.ToUpper(append(body, trailer...)))
}

func (u upperCaser) TooLarge(x int) { u.tooLarge <- x }

// A requestUpperCaser also holds requests, except those with "go on" in their body.
type requestUpperCaser struct {
	upperCaser
	patience time.Duration
	tooSlow  chan int
}

func (u requestUpperCaser) HoldRequest(int, []byte, []byte, bool) (int, time.Duration) {
	return u.limit, u.patience
}

func (u requestUpperCaser) KeepRequest(_ int, body []byte) bool {
	return !bytes.Contains(body, []byte("go on"))
}

func (u requestUpperCaser) RequestTooSlow(x int) { u.tooSlow <- x }

func (u requestUpperCaser) HeldRequest(x int, head, body, trailer []byte) []byte {
	if bytes.Contains(body, []byte("leave")) {
		return nil
	}
	return fmt.Appendf(nil, "%s%s", head, bytes.ToUpper(body))
}

const edited = "X-Edited: yes\r\n\r\n"

// TestHeldAnswer holds answers of every framing, and compares what the client gets and what the Observer gets.
func TestHeldAnswer(t *testing.T) {
	const (
		length  = "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"
		chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	)
	long := strings.Repeat("b", 30)
	heavy := ";" + strings.Repeat("x", maxChunkLine-100)
	tests := map[string]struct {
		pieces   []string // what the agent says, waiting for nothing
		closes   bool     // it closes then
		want     string
		tooLarge bool
		fault    bool
	}{
		"length": {pieces: []string{fmt.Sprintf(length, 5, "ca"), "rd!"}, want: fmt.Sprintf(length, 5, "CARD!")},
		"chunked": {
			pieces: []string{chunked, "2\r\nca\r\n3", "\r\nrd!\r\n0\r\nA: b\r\n", "\r\n"},
			want:   fmt.Sprintf(length, 11, "CARD!A: B\r\n"),
		},
		"close": {
			pieces: []string{"HTTP/1.1 200 OK\r\n\r\nca", "rd!"}, closes: true,
			want: fmt.Sprintf(length, 5, "CARD!"),
		},
		"no body": {pieces: []string{"HTTP/1.1 304 Not Modified\r\n\r\n"}, want: fmt.Sprintf(length, 0, "")},
		"left": {pieces: []string{chunked + "5;ext\r\n", "leave\r\n0\r\n\r\n"}, want: chunked +
			"5;ext\r\nleave\r\n0\r\n\r\n"},
		"too long": {
			pieces: []string{fmt.Sprintf(length, 30, long)}, want: fmt.Sprintf(length, 30, long),
			tooLarge: true,
		},
		"too many": {pieces: []string{chunked + "5\r\nabcde\r\n", "1e\r\n" + long, "\r\n0\r\n\r\n"}, want: chunked +
			"5\r\nabcde\r\n1e\r\n" + long + "\r\n0\r\n\r\n", tooLarge: true},
		"too heavy": {
			pieces: []string{chunked + "1" + heavy + "\r\na\r\n1" + heavy + "\r\nb\r\n", "1\r\nc\r\n0\r\n\r\n"},
			want:   chunked + "1" + heavy + "\r\na\r\n1" + heavy + "\r\nb\r\n1\r\nc\r\n0\r\n\r\n", tooLarge: true,
		},
		"broken": {
			pieces: []string{fmt.Sprintf(length, 5, "ca")}, closes: true, want: fmt.Sprintf(length, 5, "ca"),
			fault: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			editor := upperCaser{limit: 20, tooLarge: make(chan int, 1)}
			w := newWire(t, false, func(c *Config) { c.Editor = editor })
			client := w.client()
			client.send(w.host(get))
			agent := w.accept()
			agent.receive(strings.Replace(w.agentHost(get), "\r\n\r\n", "\r\n"+edited, 1))
			for _, p := range test.pieces {
				agent.send(p)
			}
			if test.closes {
				agent.Close()
			}
			client.receive(test.want)
			e := w.ended(0)
			expect.Equal(t, fmt.Sprintf("there is a fault: %v", e.Fault), test.fault, e.Fault != nil)
			if all := strings.Join(test.pieces, ""); !strings.HasPrefix(all, e.Answer) || e.Request != w.host(get) {
				t.Errorf("got %+v, want what client and agent sent", e)
			}
			expect.Equal(t, "reported as too large", test.tooLarge, len(editor.tooLarge) == 1)
		})
	}
}

// TestHeldRequest holds requests.
func TestHeldRequest(t *testing.T) {
	const head = "POST / HTTP/1.1\r\nHost: $HOST\r\n"
	tests := map[string]struct{ said, want string }{
		"length":    {head + "Content-Length: 4\r\n\r\nping", head + "Content-Length: 4\r\n" + edited + "PING"},
		"left":      {head + "Content-Length: 5\r\n\r\nleave", head + "Content-Length: 5\r\n" + edited + "leave"},
		"no body":   {head + "\r\n", head + edited},
		"too large": {head + "Content-Length: 30\r\n\r\nping", head + "Content-Length: 30\r\n" + edited + "ping"},
		"outgrown": {
			head + "Transfer-Encoding: chunked\r\n\r\n1e\r\nabcdefghijklmnopqrstuvwxyz",
			head + "Transfer-Encoding: chunked\r\n" + edited + "1e\r\nabcdefghijklmnopqrstuvwxyz",
		},
		"expect": {
			head + "Expect: 100-continue\r\nContent-Length: 4\r\n\r\n", head +
				"Expect: 100-continue\r\nContent-Length: 4\r\n" + edited,
		},
		"upgrade": { // which comes after the whole request: RFC 9110 section 7.8
			head + "Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 4\r\n\r\nping",
			head + "Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 4\r\n" + edited + "PING",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			editor := requestUpperCaser{upperCaser: upperCaser{limit: 20, tooLarge: make(chan int, 1)}}
			w := newWire(t, false, func(c *Config) { c.Editor = editor })
			client := w.client()
			client.send(w.host(test.said))
			agent := w.accept()
			agent.receive(w.agentHost(test.want))
		})
	}
}

// TestHeldRequestGoesOn gives the agent what there is of a request that is not to be edited, or takes too long: it can
// refuse it before it is complete.
func TestHeldRequestGoesOn(t *testing.T) {
	const head = "POST / HTTP/1.1\r\nHost: $HOST\r\n"
	for _, framing := range []struct{ head, begun, want, rest string }{
		{"Content-Length: 9\r\n\r\n", "go on,", "go on,", "now"},
		{"Transfer-Encoding: chunked\r\n\r\n", "5\r\ngo on\r\n", "5\r\ngo on\r\n", "0\r\n\r\n"},
		{"Content-Length: 9\r\n\r\n", "slow, ", "slow, ", "now"},
		{"Transfer-Encoding: chunked\r\n\r\n", "4\r\nslow\r\n", "4\r\nslow\r\n", "0\r\n\r\n"},
	} {
		t.Run(framing.begun, func(t *testing.T) {
			editor := requestUpperCaser{upperCaser: upperCaser{limit: 20}, patience: time.Hour, tooSlow: make(chan int, 1)}
			slow := strings.Contains(framing.begun, "slow")
			if slow {
				editor.patience = time.Millisecond
			}
			w := newWire(t, false, func(c *Config) { c.Editor = editor })
			client := w.client()
			client.send(w.host(head + framing.head + framing.begun))
			agent := w.accept()
			passed := strings.Replace(head+framing.head, "\r\n\r\n", "\r\n"+edited, 1)
			agent.receive(w.agentHost(passed + framing.want))
			const refused = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nleave"
			agent.tells(client, refused)
			client.send(framing.rest)
			agent.receive(framing.rest)
			expect.Equal(t, "reported as too slow", slow, len(editor.tooSlow) == 1)
		})
	}
}

// TestHeldRequestBreaks leaves in the middle of a held request: the agent sees as much as the client sent.
func TestHeldRequestBreaks(t *testing.T) {
	w := newWire(t, false, func(c *Config) { c.Editor = requestUpperCaser{upperCaser: upperCaser{limit: 20}} })
	client := w.client()
	client.send(w.host("POST / HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 4\r\n\r\npi"))
	agent := w.accept()
	client.Close()
	agent.receive(w.agentHost("POST / HTTP/1.1\r\nHost: $HOST\r\nContent-Length: 4\r\n" + edited + "pi"))
	agent.receiveEnd()
}
