package hold

import (
	"bytes"
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"a2atap/proxy/budget"
	"a2atap/proxy/relay"
)

var errReset = &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}

// A gathering is an answer that is held until it is complete.
type gathering struct {
	of      *exchange
	want    *Want
	scanner relay.AnswerScanner
	wire    []byte // that has come
	at      int    // how much of it was scanned
	head    []byte
	body    []byte // without framing, if it has any
	room    *budget.Share
	full    bool // there was none for it
}

// answering is the side of answers, for the one goroutine that reads.
type answering struct {
	out    []byte     // the data to read next
	err    error      // what follows it
	gather *gathering // nil if no answer is gathered
	buffer []byte
}

// Read returns the agent's data once it may continue.
func (c *conn) Read(p []byte) (int, error) {
	for {
		switch {
		case len(c.out) > 0:
			n := copy(p, c.out)
			if c.out = c.out[n:]; len(c.out) == 0 {
				c.out = nil
				c.went()
			}
			return n, nil
		case c.err != nil:
			return 0, c.err
		case c.gather != nil:
			if err := c.gatherOn(); err != nil {
				return 0, err
			}
			continue
		}
		n, err := c.agent().Read(p)
		e, want, what := c.line.came(n, errors.Is(err, os.ErrDeadlineExceeded))
		switch {
		case what == broken:
			return 0, errReset
		case what == lost:
			c.awaitSent(e)
			continue
		case want == nil:
			return n, err
		}
		c.gather = &gathering{of: e, want: want, room: c.line.desk.room.Share()}
		c.add(p[:n])
		c.gather.scanner.ToHead = e.method == "HEAD"
		if c.scan(); err != nil && c.gather != nil {
			c.broken(err)
		} else if err != nil {
			c.err = err
		}
	}
}

// awaitSent waits until the request of an exchange whose agent has closed the connection is sent: then there is a new
// connection.
func (c *conn) awaitSent(e *exchange) {
	l := c.line
	l.desk.agentLeft(e.item)
	<-e.on
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failure != nil {
		c.err = errReset
	}
}

// gatherOn reads more of the answer that is gathered.
func (c *conn) gatherOn() error {
	if c.buffer == nil {
		c.buffer = make([]byte, 32<<10)
	}
	n, err := c.agent().Read(c.buffer)
	c.add(c.buffer[:n])
	if n > 0 {
		c.scan()
	}
	switch {
	case err == nil:
	case c.gather == nil:
		c.err = err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return err
	default:
		c.broken(err)
	}
	return nil
}

// add appends received data to the gathered answer.
func (c *conn) add(p []byte) {
	g := c.gather
	var room bool
	if g.wire, room = g.room.Append(g.wire, p); !room {
		c.line.desk.Pass(noRoom)
		g.wire, g.full = append(g.wire, p...), true
	}
}

// broken handles the end of the agent's data.
func (c *conn) broken(err error) {
	c.err = err
	if g := c.gather; g.scanner.UntilClose() {
		c.complete()
		return
	}
	c.pass()
}

// pass has all that was gathered read as it came.
func (c *conn) pass() {
	g := c.gather
	c.line.mu.Lock()
	g.of.passes = true
	c.line.mu.Unlock()
	if len(c.out) == 0 {
		c.out = g.wire
	} else {
		c.out = append(c.out, g.wire...)
	}
	if len(c.out) > 0 {
		c.goes(g)
	} else {
		g.went()
	}
	c.gather, c.buffer = nil, nil
}

// goes notes that an answer is released. Its room is returned when the client has the answer or the connection is
// closed.
func (c *conn) goes(g *gathering) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.gone:
		g.went()
	default:
		c.going = g
	}
}

// went notes that the client has the released answer, if any.
func (c *conn) went() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.going != nil {
		c.going.went()
		c.going = nil
	}
}

// went releases the room of an answer.
func (g *gathering) went() {
	g.room.Close()
}

// scan examines the received part of the gathered answer.
func (c *conn) scan() {
	g := c.gather
	if g.full {
		c.pass()
		return
	}
	for g.at < len(g.wire) {
		b := g.wire[g.at:]
		n, what, err := g.scanner.Next(b)
		switch {
		case err != nil, what == relay.StretchUpgrade:
			c.pass()
			return
		case n == 0:
			return
		case what == relay.StretchInterim: // passes, and the answer is still to come
			c.out = append(c.out, b[:n]...)
			g.wire = g.wire[g.at+n:]
			g.at = 0
			continue
		case what == relay.StretchHead:
			g.head = bytes.Clone(b[:n])
			if why := holdable(g.head, &g.scanner); why != "" {
				c.line.desk.Pass(why)
				c.pass()
				return
			}
		case what == relay.StretchContent:
			if !g.scanner.Chunked() {
				break
			}
			var room bool
			if g.body, room = g.room.Append(g.body, b[:n]); !room {
				c.line.desk.Pass(noRoom)
				c.pass()
				return
			}
		}
		if g.at += n; g.at > MaxBody {
			c.line.desk.Pass(tooLong)
			c.pass()
			return
		}
		if g.scanner.Done() {
			c.complete()
			return
		}
	}
}

// complete holds the answer that was gathered, if it is to be, and has it read then.
func (c *conn) complete() {
	g, l := c.gather, c.line
	if !g.scanner.Chunked() {
		g.body = g.wire[len(g.head):g.at]
	}
	l.mu.Lock()
	x := answered(g.of.known, g.head, g.body)
	l.mu.Unlock()
	defer c.pass()
	if !asks(g.want.Match, x) {
		return
	}
	decided := make(chan decision, 1)
	it := l.desk.take(g.want, Message{Answer: true, Exchange: x}, g.room, func(d decision) { decided <- d })
	if it == nil {
		return
	}
	d := c.await(decided)
	l.desk.leave(it)
	l.told(g.of, "answer", it.Since, d)
	switch {
	case d.drop:
		l.mu.Lock()
		l.dropped = true
		l.mu.Unlock()
		g.wire, c.err = nil, errReset
		c.agent().Close()
	case d.wire != nil:
		g.wire = append(d.wire, g.wire[g.at:]...)
	}
}

// await waits for the user's decision while the client waits for the answer.
func (c *conn) await(decided <-chan decision) decision {
	c.mu.Lock()
	var late <-chan time.Time
	if !c.deadline.IsZero() {
		timer := time.NewTimer(time.Until(c.deadline))
		defer timer.Stop()
		late = timer.C
	}
	c.mu.Unlock()
	select {
	case d := <-decided:
		return d
	case <-late:
	case <-c.left:
	case <-c.gone:
	}
	return decision{}
}
