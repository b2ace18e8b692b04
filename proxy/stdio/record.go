package stdio

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/recording"
	"a2atap/proxy/relay"
)

const (
	maxFrame = 1 << 20 // of a feed, above what Pass sends
	maxLine  = recording.DefaultMaxBody
	tailSize = 256    // of a longer line, its end that is searched for an id
	maxOpen  = 10_000 // requests without an answer
	maxQuote = 80     // bytes of a line in a fault
)

// The kinds of faults.
const (
	kindNotRPC = "not-json-rpc" // a line that is not a message
	kindReused = "id-reused"    // a request whose answer could not be told from another's
	kindBehind = "lost"         // the recorder missed bytes among which an answer may be
)

// Record reads the feed of one tool to its end, and reports its messages to the connection that begin returns. It
// returns an error if the feed breaks off or is malformed. Exchanges without an answer are then left open.
func Record(feed io.Reader, begin func(Hello) *recording.Conn) error {
	in := bufio.NewReaderSize(feed, chunk)
	kind, content, err := readFrame(in, nil)
	if err != nil {
		return err
	}
	var hello Hello
	if kind != frameHello || json.Unmarshal(content, &hello) != nil {
		return errors.New("read the feed of a tool: it does not begin with facts about the tool; use the same version of " +
			"a2atap for the tool and the recorder")
	}
	if !recording.ValidName(hello.Name) {
		hello.Name = "tool"
	}
	r := &recorder{Conn: begin(hello), name: hello.Name, open: make(map[string]int), first: -1}
	for {
		switch kind, content, err = readFrame(in, content); {
		case err == io.EOF:
			r.end()
			return nil
		case err != nil:
			return err
		}
		if len(content) < frameStart || content[0] > byte(Server) {
			return errors.New("read the feed of a tool: a frame has no side and time")
		}
		side, rest := Side(content[0]), content[frameStart:]
		r.Passed(time.Unix(0, int64(binary.BigEndian.Uint64(content[1:frameStart])))) //nolint:gosec // any time is accepted
		switch kind {
		case frameBytes:
			r.bytes(side, rest)
		case frameLost:
			if len(rest) == 8 {
				r.gap(side, int64(min(binary.BigEndian.Uint64(rest), 1<<62))) //nolint:gosec // bounded
			}
		case frameEnded:
			if r.first < 0 {
				r.first = int(side)
			}
		}
	}
}

// readFrame reads a frame into buf or a larger buffer.
func readFrame(in *bufio.Reader, buf []byte) (kind byte, content []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, buf, err
	}
	n := int(binary.BigEndian.Uint32(head[1:]))
	if n > maxFrame {
		return 0, buf, fmt.Errorf("read the feed of a tool: a frame has %d bytes, more than %d", n, maxFrame)
	}
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	_, err = io.ReadFull(in, buf[:n])
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return head[0], buf[:n], err
}

// A recorder turns what the two sides of a tool send into exchanges.
type recorder struct {
	*recording.Conn
	name   string // of the server
	client string // the client's name and version; empty before it has said them

	lines  [2]line
	next   int            // number of the next exchange
	open   map[string]int // requests of the client by id
	events int            // number of the exchange with the server's own messages plus one; 0 before it
	prints [2]int         // number of the exchange with lines that are not messages plus one; 0 if none is open
	missed bool           // bytes of the server are missing
	first  int            // the side that ended first; -1 if none has
}

// A line is the part of a line that has arrived.
type line struct {
	text    []byte // the first maxLine bytes
	dropped int64  // bytes after that
	tail    []byte // the last of those
	missing int64  // bytes that the recorder has missed, or that precede a gap: the line is not recorded
}

func (l *line) add(p []byte) {
	room := min(len(p), maxLine-len(l.text))
	l.text = append(l.text, p[:room]...)
	if rest := p[room:]; len(rest) > 0 {
		l.dropped += int64(len(rest))
		l.tail = append(l.tail, rest...)
		l.tail = append(l.tail[:0], l.tail[max(0, len(l.tail)-tailSize):]...)
	}
}

// bytes takes the next bytes of a side.
func (r *recorder) bytes(side Side, p []byte) {
	l := &r.lines[side]
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		switch {
		case end < 0:
			l.add(p)
			return
		case len(l.text) == 0 && l.missing == 0:
			r.line(side, line{text: p[:end]})
		default:
			l.add(p[:end])
			r.line(side, *l)
			text := l.text[:0]
			if *l = (line{}); cap(text) <= 16*chunk {
				l.text = text
			}
		}
		p = p[end+1:]
	}
}

// gap notes that bytes of a side are missing. The line around them is lost.
func (r *recorder) gap(side Side, n int64) {
	l := &r.lines[side]
	*l = line{missing: n + l.missing + int64(len(l.text)) + l.dropped}
	r.missed = r.missed || side == Server
}

// line takes a whole line of a side, without its end.
func (r *recorder) line(side Side, l line) {
	text := bytes.TrimSuffix(l.text, []byte("\r"))
	if l.missing > 0 {
		r.Lost(l.missing + int64(len(l.text)) + l.dropped)
		return
	}
	if len(bytes.TrimSpace(text)) == 0 && l.dropped == 0 {
		return
	}
	m, ok := readMessage(text, l.dropped, l.tail)
	if !ok {
		r.printed(side, m)
		return
	}
	r.endPrinted(side)
	if side == Client {
		r.sent(m)
	} else {
		r.answered(m)
	}
}

// begin opens an exchange.
func (r *recorder) begin(method, path, fields string) int {
	x := r.next
	r.next++
	var head strings.Builder
	fmt.Fprintf(&head, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, r.name)
	if r.client != "" {
		fmt.Fprintf(&head, "User-Agent: %s\r\n", r.client)
	}
	r.Request(x, []byte(head.String()+fields+"\r\n"))
	return x
}

// answer begins the answer of an exchange with the rest of its head.
func (r *recorder) answer(x int, head string) { r.Answer(x, []byte("HTTP/1.1 "+head+"\r\n")) }

const (
	jsonField = "Content-Type: application/json\r\n"
	textField = "Content-Type: text/plain\r\n"
)

// sent records a message of the client.
func (r *recorder) sent(m message) {
	if m.client != "" {
		r.client = m.client
	}
	x := r.begin("POST", "/", jsonField+"Accept: application/json, text/event-stream\r\n")
	r.RequestBody(x, m.text)
	r.Dropped(x, false, m.dropped)
	r.RequestEnd(x, nil)
	switch {
	case !m.asks || len(m.ids) == 0:
		r.answer(x, "202 Accepted\r\n")
		r.AnswerEnd(x, nil)
		r.Ended(x)
	case len(r.open) >= maxOpen:
		r.Fault(x, relay.TransportError{Kind: kindBehind, Side: relay.SideProxy, Detail: fmt.Sprintf(
			"a2atap does not wait for the answer: %d requests are open", maxOpen)})
		r.Ended(x)
	default:
		for _, id := range m.ids {
			if earlier, known := r.open[id]; known && earlier != x {
				r.forget(earlier)
				r.Fault(earlier, relay.TransportError{Kind: kindReused, Side: relay.SideClient, Detail: fmt.Sprintf(
					"the client sent another request with the id %s before it was answered", quote([]byte(id)))})
				r.Ended(earlier)
			}
			r.open[id] = x
		}
	}
}

// forget removes the ids of a request; a batch has several.
func (r *recorder) forget(x int) {
	maps.DeleteFunc(r.open, func(_ string, of int) bool { return of == x })
}

// answered records a message of the server.
func (r *recorder) answered(m message) {
	for _, id := range m.ids {
		x, known := r.open[id]
		if m.asks || !known {
			continue
		}
		r.forget(x)
		r.answer(x, "200 OK\r\n"+jsonField)
		r.AnswerBody(x, m.text)
		r.Dropped(x, true, m.dropped)
		r.AnswerEnd(x, nil)
		r.Ended(x)
		return
	}
	if r.events == 0 {
		x := r.begin("GET", "/", "Accept: text/event-stream\r\n")
		r.RequestEnd(x, nil)
		r.answer(x, "200 OK\r\nContent-Type: text/event-stream\r\n")
		r.events = x + 1
	}
	// In a stream, a carriage return would end the line. Between the parts of a message it is as good as a line feed.
	data := bytes.ReplaceAll(m.text, []byte("\r"), []byte("\ndata: "))
	r.AnswerBody(r.events-1, fmt.Appendf(nil, "event: message\ndata: %s\n\n", data))
	r.Dropped(r.events-1, true, m.dropped)
}

// printed records a line that is not a message.
func (r *recorder) printed(side Side, m message) {
	if r.prints[side] == 0 {
		method, path, fields := "POST", "/", textField
		f := relay.TransportError{
			Kind: kindNotRPC, Side: relay.SideClient, Detail: quote(m.text) + " is not a JSON-RPC message",
		}
		if side == Server {
			method, path, fields, f.Side = "GET", "/stdout", "", relay.SideAgent
			f.Detail = quote(m.text) + " on standard output is not a JSON-RPC message; the server must print anything else to " +
				"standard error"
		}
		x := r.begin(method, path, fields)
		if side == Server {
			r.RequestEnd(x, nil)
			r.answer(x, "200 OK\r\n"+textField)
		}
		r.Fault(x, f)
		r.prints[side] = x + 1
	}
	x, text := r.prints[side]-1, append(bytes.Clone(m.text), '\n')
	if side == Server {
		r.AnswerBody(x, text)
	} else {
		r.RequestBody(x, text)
	}
	r.Dropped(x, side == Server, m.dropped)
}

func quote(text []byte) string {
	if len(text) > maxQuote {
		return fmt.Sprintf("%q…", text[:maxQuote])
	}
	return fmt.Sprintf("%q", text)
}

// endPrinted ends the exchange with lines of a side that are not messages, if one is open.
func (r *recorder) endPrinted(side Side) {
	x := r.prints[side] - 1
	if x < 0 {
		return
	}
	r.prints[side] = 0
	if side == Server {
		r.AnswerEnd(x, nil)
	} else {
		r.RequestEnd(x, nil)
	}
	r.Ended(x)
}

// end ends everything that is open when the tool has ended.
func (r *recorder) end() {
	for side := range r.lines { // a last line without its end
		if l := r.lines[side]; len(l.text) > 0 || l.missing > 0 {
			r.line(Side(side), l)
		}
		r.endPrinted(Side(side))
	}
	f := relay.TransportError{
		Kind: relay.KindTruncated, Side: relay.SideAgent, Detail: "the server closed its standard output, or ended, before it answered",
	}
	switch {
	case r.missed:
		f = relay.TransportError{Kind: kindBehind, Side: relay.SideProxy, Detail: "the recorder fell behind and missed messages of the " +
			"server, perhaps this answer too"}
	case r.first == int(Client):
		f = relay.TransportError{
			Kind: relay.KindClientLeft, Side: relay.SideClient, Detail: "the client closed the server's standard input before the server answered",
		}
	case r.first < 0:
		f = relay.TransportError{Kind: kindBehind, Side: relay.SideProxy, Detail: "a2atap stdio ended before the server answered"}
	}
	for _, x := range slices.Compact(slices.Sorted(maps.Values(r.open))) {
		r.Fault(x, f)
		r.Ended(x)
	}
	if x := r.events - 1; x >= 0 {
		r.AnswerEnd(x, nil)
		r.Ended(x)
	}
}

// Peer returns the server as the record names it.
func (h *Hello) Peer() capture.Peer {
	p := capture.Peer{Name: h.Name, URL: "stdio://" + h.Name}
	if h.ByCommand {
		p.How = capture.ByCommand
	}
	return p
}
