package hold

import (
	"context"
	"sync"
	"time"

	"a2atap/proxy/relay"
)

// sending is the side of requests. All writes to the agent hold its lock.
type sending struct {
	mu     sync.Mutex
	wire   []byte    // of the request that is not complete yet
	kept   bool      // and of which the agent has got nothing
	waits  *exchange // whose request is held; nil if none is
	behind []byte    // what came behind it
}

// Write forwards a request, or delays it: until it is complete if it may have to be held, and then while it is held.
func (c *conn) Write(p []byte) (int, error) {
	s := &c.sending
	s.mu.Lock()
	defer s.mu.Unlock()
	e, want, done := c.line.asked()
	switch {
	case s.waits != nil: // its client does not wait for the answer
		s.behind = append(s.behind, p...)
		c.line.ignore(e)
		c.goOn(decision{})
		return len(p), nil
	case want == nil:
		return c.agent().Write(p)
	}
	var room bool
	s.wire, room = e.room.Append(s.wire, p)
	s.kept = want.Requests
	long := len(s.wire) > MaxBody
	if !done && !long && room && want.Requests {
		return len(p), nil
	}
	wire := s.wire
	if !want.Requests { // only known, for its answer
		wire = p
	}
	if done || long || !room {
		c.line.ignore(e)
		switch {
		case !room:
			c.line.desk.Pass(noRoom)
			defer c.line.forget(e) // when the agent has it
			if want.Requests && len(wire) > 0 {
				if _, err := c.agent().Write(wire); err != nil {
					return 0, err
				}
			}
			wire = p
		case long:
			c.line.desk.Pass(tooLong)
			defer c.line.forget(e)
		case c.hold(e, want, s.wire):
			return len(p), nil
		}
		s.wire = nil
	}
	if _, err := c.agent().Write(wire); err != nil {
		return 0, err
	}
	return len(p), nil
}

// hold holds a complete request, if it is to be, and reports whether it does.
func (c *conn) hold(e *exchange, want *Want, wire []byte) bool {
	s, l := &c.sending, c.line
	x, copied := request(wire, l.agent, e.client)
	if !e.room.Take(copied) {
		l.desk.Pass(noRoom)
		return false
	}
	l.mu.Lock()
	e.known = x
	l.mu.Unlock()
	if !want.Requests || !asks(want.Match, x) {
		return false
	}
	select {
	case <-c.left:
		return false
	case <-c.gone:
		return false
	default:
	}
	goOn := func(d decision) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.waits == e {
			c.goOn(d)
		}
	}
	it := l.desk.take(want, Message{Exchange: x}, e.room, func(d decision) { go goOn(d) }) // the agent may take its time
	if it == nil {
		return false
	}
	l.mu.Lock()
	e.started, e.on, e.item = it.Since, make(chan struct{}), it
	l.mu.Unlock()
	s.waits, s.wire = e, wire
	return true
}

// goOn executes the decision about the held request. The caller holds the lock of sending.
func (c *conn) goOn(d decision) {
	s, l := &c.sending, c.line
	e, wire := s.waits, s.wire
	l.desk.leave(e.item)
	l.told(e, "request", e.started, d)
	if d.wire != nil {
		wire = d.wire
	}
	wire = append(wire, s.behind...)
	l.mu.Lock()
	e.sent, l.dropped = true, l.dropped || d.drop
	dead := e.dead
	l.mu.Unlock()
	switch {
	case d.drop:
		c.agent().Close()
	case dead && !c.connect():
	default:
		c.agent().Write(wire) //nolint:errcheck // reading will report the error
	}
	s.waits, s.wire, s.behind = nil, nil, nil
	if d.full {
		l.forget(e)
	}
	close(e.on)
}

// dialPatience bounds reconnecting, in addition to its own bounds.
const dialPatience = time.Minute

// connect reconnects to the agent, and reports whether it succeeded.
func (c *conn) connect() bool {
	select {
	case <-c.gone: // no one would read the answer
		return false
	default:
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialPatience)
	defer cancel()
	go func() {
		select {
		case <-c.gone:
			cancel()
		case <-ctx.Done():
		}
	}()
	anew, err := c.dial(ctx)
	l := c.line
	if err != nil {
		f := relay.DialFault(err, l.agent.Addr)
		l.mu.Lock()
		l.failure = &f
		l.mu.Unlock()
		return false
	}
	c.agent().Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.gone:
		anew.Close()
		return false
	default:
	}
	anew.SetReadDeadline(c.deadline) //nolint:errcheck // of a closed connection
	c.below.Store(&anew)
	return true
}

// CloseWrite is called when the client sends no more: it may have left, so held messages continue.
func (c *conn) CloseWrite() error {
	c.leave.Do(func() { close(c.left) })
	s := &c.sending
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.waits != nil:
		c.goOn(decision{})
	case len(s.wire) > 0 && s.kept: // a request that is not complete
		c.agent().Write(s.wire) //nolint:errcheck // reading will report the error
		s.wire = nil
	}
	relay.CloseWrite(c.agent())
	return nil
}
