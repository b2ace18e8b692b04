package relay

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// A generated value is a request or an answer: what one end writes, and what an Observer should get of it.
type generated struct {
	head, wire, body, trailer string
	interim                   []string
}

// A generator makes well-formed traffic with all liberties that RFC 9112 gives.
type generator struct{ *rand.Rand }

func (g generator) pick(s ...string) string { return s[g.IntN(len(s))] }

// spell returns a name with random case.
func (g generator) spell(name string) string {
	b := []byte(name)
	for i := range b {
		if g.IntN(3) == 0 {
			b[i] = strings.ToUpper(string(b[i]))[0]
		}
	}
	return string(b)
}

// text returns up to n random bytes of any value.
func (g generator) text(n int) string {
	b := make([]byte, g.IntN(n+1))
	for i := range b {
		b[i] = byte(g.IntN(256))
	}
	return string(b)
}

// fieldLines joins the given lines with random others in random order.
func (g generator) fieldLines(lines ...string) string {
	for range g.IntN(6) {
		name := g.pick("accept", "x-many", "a2a-version", "authorization", "te", "cookie", "x-odd!#$%&'*+-.^_`|~")
		value := g.pick("", "1", "a: b", "ä, ö", strings.Repeat("v", g.IntN(3000)), "\"q,;\"")
		lines = append(lines, g.spell(name)+":"+g.pick("", " ", "\t ")+value+g.pick("", " "))
	}
	g.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l + g.lineEnd())
	}
	return b.String()
}

func (g generator) lineEnd() string { return g.pick("\r\n", "\r\n", "\r\n", "\n") }

// chunked encodes a body with odd sizes, extensions and trailers.
func (g generator) chunked(body string) (wire, trailer string) {
	var b strings.Builder
	for len(body) > 0 {
		n := min(1+g.IntN(1+g.IntN(3000)), len(body))
		ext := g.pick("", "", ";a", ";a=b", " ; q=\"x;y\"", " ")
		fmt.Fprintf(&b, "%s%x%s\r\n%s\r\n", g.pick("", "", "0", "000"), n, ext, body[:n])
		body = body[n:]
	}
	b.WriteString(g.pick("0", "000", "0;last") + "\r\n")
	if g.IntN(2) == 0 {
		for range g.IntN(3) {
			trailer += g.spell("x-trailer") + ": " + g.pick("1", "two", "") + g.lineEnd()
		}
	}
	b.WriteString(trailer + "\r\n")
	return b.String(), trailer
}

// request makes a request; Host is written $HOST.
func (g generator) request() (m generated, method string) {
	method = g.pick("GET", "POST", "HEAD", "PUT", "OPTIONS", "DELETE", "PURGE", "get")
	lines := []string{g.spell("host") + ":" + g.pick("", " ", "  \t") + "$HOST" + g.pick("", " ")}
	switch g.IntN(3) {
	case 0:
		m.body = g.text(9000)
		lines = append(lines, fmt.Sprintf("%s: %d", g.spell("content-length"), len(m.body)))
		m.wire = m.body
	case 1:
		m.body = g.text(9000)
		lines = append(lines, g.spell("transfer-encoding")+": "+g.pick("chunked", "Chunked", "gzip, chunked"))
		m.wire, m.trailer = g.chunked(m.body)
	}
	target := g.pick("/", "/rpc?a=1;b=2", "*", "/%zz", "/ü", "http://else.where/x")
	m.head = g.pick("", "",
		"\r\n") + method + " " + target + " HTTP/1.1" + g.lineEnd() + g.fieldLines(lines...) + g.lineEnd()
	m.wire = m.head + m.wire
	return m, method
}

// answer makes an answer to a method. The last one may end with the connection.
func (g generator) answer(method string, last bool) (m generated) {
	for range g.IntN(3) {
		m.interim = append(m.interim,
			g.pick("HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"))
	}
	status := g.pick("200 OK", "200", "200 ", "404 Not found: ä", "204 No Content", "304 Not Modified", "500 x")
	bodiless := method == "HEAD" || status[:3] == "204" || status[:3] == "304"
	var lines []string
	switch n := g.IntN(3); {
	case bodiless && n == 0:
		lines = append(lines, "Content-Length: 4711")
	case bodiless && n == 1:
		lines = append(lines, "Transfer-Encoding: chunked")
	case bodiless:
	case n == 0 && last:
		m.body = g.text(20000)
		m.wire = m.body
	case n == 1:
		m.body = g.text(20000)
		lines = append(lines, g.spell("transfer-encoding")+": chunked")
		m.wire, m.trailer = g.chunked(m.body)
	default:
		m.body = g.text(20000)
		lines = append(lines, fmt.Sprintf("%s: %d", g.spell("content-length"), len(m.body)))
		m.wire = m.body
	}
	m.head = "HTTP/1.1 " + status + g.lineEnd() + g.fieldLines(lines...) + g.lineEnd()
	m.wire = strings.Join(m.interim, "") + m.head + m.wire
	return m
}

// write sends s in random pieces.
func (g generator) write(w io.Writer, s string) error {
	for len(s) > 0 {
		n := len(s)
		if g.IntN(4) > 0 {
			n = min(n, 1+g.IntN(1+g.IntN(4000)))
		}
		if _, err := io.WriteString(w, s[:n]); err != nil {
			return err
		}
		s = s[n:]
	}
	return nil
}

// TestByteForByte sends generated traffic, pipelined and in random pieces, and compares both ends byte by byte, and
// what the Observer was told with what was meant.
func TestByteForByte(t *testing.T) {
	bothWires(t, func(t *testing.T, secure bool) {
		for seed := range uint64(60) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) { byteForByte(t, secure, seed) })
		}
	})
}

func byteForByte(t *testing.T, secure bool, seed uint64) {
	g := generator{rand.New(rand.NewPCG(seed, 1))}
	var requests, answers []generated
	var asked, wanted string
	for i, n := 0, 1+g.IntN(6); i < n; i++ {
		q, method := g.request()
		a := g.answer(method, i == n-1)
		requests, answers = append(requests, q), append(answers, a)
		asked, wanted = asked+q.wire, wanted+a.wire
	}
	w := newWire(t, secure, nil)
	client := w.client()
	sent := make(chan error, 2)
	go func() {
		g := generator{rand.New(rand.NewPCG(seed, 2))}
		sent <- g.write(client, w.host(asked))
	}()
	agent := w.accept()
	go func() {
		g := generator{rand.New(rand.NewPCG(seed, 3))}
		for i, q := range requests {
			// Some answers are sent before the agent has read the end of their request.
			ahead := 0
			if body := len(q.wire) - len(q.head); body > 0 && g.IntN(3) == 0 {
				ahead = g.IntN(body)
			}
			want := w.agentHost(q.wire)
			err := errors.Join(
				agent.expect(want[:len(want)-ahead]),
				g.write(agent, answers[i].wire),
				agent.expect(want[len(want)-ahead:]),
			)
			if err != nil {
				sent <- err
				return
			}
		}
		sent <- agent.Close()
	}()
	client.receive(wanted)
	client.receiveEnd()
	client.Close()
	w.passed(sent, requests, answers)
}

// passed waits for both ends, and expects that what they have generated was recorded.
func (w *wire) passed(sent <-chan error, requests, answers []generated) {
	w.t.Helper()
	for range 2 {
		must.Do(w.t, <-sent)
	}
	if err := w.result(); err != nil {
		w.t.Errorf("Serve: %v", err)
	}
	for i, q := range requests {
		a := answers[i]
		want := recorded{
			Request: w.host(q.head), Body: q.body, RequestTrailer: q.trailer, RequestEnd: true,
			Interim: a.interim, Answer: a.head, AnswerBody: a.body, AnswerTrailer: a.trailer, AnswerEnd: true,
			Ended: true,
		}
		expect.Same(w.t, fmt.Sprintf("exchange %d reported", i), want, w.ended(i))
	}
}
