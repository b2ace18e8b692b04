package injection

import (
	"bytes"
	"io"
	"strconv"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/relay"
)

// answers is the reading side of a conn, for one goroutine. Its first fields are in the order in which they are read.
type answers struct {
	until time.Time // before anything is read
	out   []byte
	later []delayed
	hangs time.Time // nothing is delivered until this time; zero for no delay
	err   error     // that follows

	in      []byte // from the agent, not yet scanned
	scanner relay.AnswerScanner
	raw     bool      // data is not followed any more, and passes unmodified
	made    *exchange // the exchange whose answer currently gets a fault, or nil
	events  *events   // of a stream that is changed, or nil
}

// ready reports whether Read has something to do without the agent.
func (a *answers) ready() bool {
	return !a.until.IsZero() || len(a.out) > 0 || len(a.later) > 0 || !a.hangs.IsZero() || a.err != nil
}

// scan moves received data to the data to read. Each stretch of an answer with a fault is read before the next one is
// scanned.
func (c *conn) scan() {
	for len(c.in) > 0 {
		e, known := c.front()
		if c.raw || e == nil {
			c.pass(len(c.in))
			return
		}
		if c.ready() && known && e.fault != nil {
			return
		}
		c.scanner.ToHead = e.head.Method == "HEAD"
		n, what, err := c.scanner.Next(c.in)
		switch {
		case err != nil, what == relay.StretchUpgrade: // the end of what follows is unknown
			c.raw = true
			continue
		case n == 0:
			return
		case what == relay.StretchHead && !known:
			c.i.overtaken(e)
		}
		c.stretch(e, n, what)
		if c.scanner.Done() && c.err == nil {
			c.answerEnds()
		}
	}
}

// overtaken records that an exchange is answered before its request is complete. It gets no fault.
func (i *Injector) overtaken(e *exchange) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !e.known {
		e.known, e.passes, e.body = true, true, nil
	}
}

// pass delivers the first n bytes unmodified.
func (c *conn) pass(n int) {
	c.out = append(c.out, c.in[:n]...)
	c.drop(n)
}

func (c *conn) drop(n int) { c.in = append(c.in[:0], c.in[n:]...) }

// stretch deals with the first n bytes, which are of one kind.
func (c *conn) stretch(e *exchange, n int, what relay.Stretch) {
	content := what == relay.StretchContent
	switch {
	case what == relay.StretchHead && e.fault != nil:
		c.head(e, n)
	case c.events != nil && content:
		pieces, then := c.events.write(c.in[:n])
		c.drop(n)
		c.changed(pieces, then)
	case c.events != nil && what == relay.StretchTrailer:
		c.events.trailer = append(c.events.trailer, c.in[:n]...)
		c.drop(n)
	case c.events != nil && what == relay.StretchFraming:
		c.drop(n)
	case c.made != nil && c.made.fault.Kind == ResetBody && content:
		c.pass(n / 2)
		c.fail(errReset, true)
	default:
		c.pass(n)
	}
}

// head begins an answer that should get a fault, if the fault applies to it. The head has n bytes.
func (c *conn) head(e *exchange, n int) {
	raw := bytes.Clone(c.in[:n])
	h := capture.ParseResponseHead(raw)
	c.drop(n)
	switch f := e.fault; {
	case f.Kind.ofStream():
		raw = c.stream(e, raw, &h)
		c.out = append(c.out, raw...)
		if c.events != nil {
			c.changed(nil, c.events.then())
		}
		return
	case f.Kind == Delay:
		c.i.mark(e, "", nil)
		c.until = time.Now().Add(f.Delay)
	case f.Kind == Reset:
		c.i.mark(e, "the agent had answered with "+strconv.Itoa(h.Status), nil)
		c.made = e
		c.fail(errReset, true)
		return
	case f.Kind == ResetBody && !c.scanner.Done():
		c.i.mark(e, "", nil)
		c.made = e
	case f.Kind == ContentType:
		var was string
		raw, was = withField(raw, "Content-Type", f.Type)
		c.i.mark(e, "", []capture.Rewrite{{Place: "response.header[Content-Type]", Was: was, Now: f.Type}})
	}
	c.out = append(c.out, raw...)
}

// stream begins an answer whose events are changed, and returns its head. It does not touch answers that are not event
// streams, or are encoded.
func (c *conn) stream(e *exchange, raw []byte, h *capture.Head) []byte {
	framed := c.scanner.Chunked() || c.scanner.UntilClose()
	if h.Status != 200 || h.Fields.MediaType() != "text/event-stream" || len(h.Fields.Codings()) > 0 || !framed {
		return raw
	}
	c.i.mark(e, "", nil)
	c.made, c.events = e, newEvents(e.fault, c.scanner.Chunked())
	if e.fault.Kind == EndStream { // the connection to the agent ends with it
		raw, _ = withField(raw, "Connection", "close")
	}
	return raw
}

// changed delivers the changed piece of a stream, and applies any following fault.
func (c *conn) changed(pieces []delayed, then action) {
	for _, p := range pieces {
		if p.wait == 0 && len(c.later) == 0 {
			c.out = append(c.out, p.bytes...)
		} else {
			c.later = append(c.later, p)
		}
	}
	switch then {
	case breakOff:
		c.fail(io.ErrUnexpectedEOF, true)
	case endHere:
		c.out = append(c.out, c.events.end()...)
		c.fail(io.EOF, true)
	case hang:
		c.events, c.in, c.hangs = nil, nil, time.Now().Add(c.i.hang)
	}
}

// answerEnds ends an answer that is complete.
func (c *conn) answerEnds() {
	if c.events != nil {
		c.changed(c.events.flush())
		if c.events == nil {
			return
		}
		c.changed([]delayed{{bytes: c.events.end()}}, goOn)
	}
	c.scanner, c.made, c.events = relay.AnswerScanner{}, nil, nil
	c.answered()
}

// ended handles the end of the agent's data.
func (c *conn) ended(err error) {
	if c.events != nil {
		c.changed(c.events.flush())
		if c.err != nil || !c.hangs.IsZero() {
			return
		}
	}
	c.pass(len(c.in))
	c.err = err
}

// fail ends reading with an error, and closes the connection to the agent. If that is the fault, it is reported.
func (c *conn) fail(err error, isFault bool) {
	c.err, c.events, c.in, c.raw = err, nil, nil, true
	if isFault {
		c.i.breakOff(c.made)
	}
	c.Conn.Close()
}

// withField sets a field of a raw head, in place or else at the end, and returns the previous value.
func withField(head []byte, name, value string) (edited []byte, was string) {
	line := []byte(name + ": " + value + "\r\n")
	done := false
	for i, l := range bytes.SplitAfter(head, []byte("\n")) {
		field, text, found := bytes.Cut(l, []byte(":"))
		switch {
		case i > 0 && found && bytes.EqualFold(field, []byte(name)):
			if !done {
				edited, was = append(edited, line...), string(bytes.TrimSpace(text))
			}
			done = true
		case i > 0 && len(bytes.TrimRight(l, "\r\n")) == 0 && len(l) > 0 && !done:
			edited, done = append(append(edited, line...), l...), true
		default:
			edited = append(edited, l...)
		}
	}
	return edited, was
}
