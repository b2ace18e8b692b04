package hold

import (
	"context"
	"sync"
	"time"

	"a2atap/proxy/relay"
)

// sending is the side of requests. What is written to the agent is written under its lock.
type sending struct {
	mu     sync.Mutex
	wire   []byte    // of the request that is not complete yet
	kept   bool      // and of which the agent has got nothing
	waits  *exchange // whose request is held; nil if none is
	behind []byte    // what came behind it
}

// Write passes a request on, or keeps it back: until it is complete where it may have to be held, and then as long as it
// is.
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
	room := c.line.desk.takeRoom(e.room, len(p))
	s.wire, s.kept = append(s.wire, p...), want.Requests
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
			c.line.forget(e)
		case long:
			c.line.desk.Pass(tooLong)
			c.line.forget(e)
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
	x := request(wire, l.agent, e.client)
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

// goOn does with the request that is held what was decided. The lock of sending is held.
func (c *conn) goOn(d decision) {
	s, l := &c.sending, c.line
	e, wire := s.waits, s.wire
	l.desk.leave(e.item)
	if d.full {
		l.forget(e)
	}
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
		c.agent().Write(wire) //nolint:errcheck // whoever reads will find out
	}
	s.waits, s.wire, s.behind = nil, nil, nil
	close(e.on)
}

// dialPatience bounds connecting anew, which bounds itself.
const dialPatience = time.Minute

// connect connects to the agent anew, and reports whether it could.
func (c *conn) connect() bool {
	select {
	case <-c.gone: // nobody would read the answer
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

// CloseWrite says that the client sends no more: it may have left, so that what is held goes on.
func (c *conn) CloseWrite() error {
	c.leave.Do(func() { close(c.left) })
	s := &c.sending
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.waits != nil:
		c.goOn(decision{})
	case len(s.wire) > 0 && s.kept: // a request that is not complete
		c.agent().Write(s.wire) //nolint:errcheck // whoever reads will find out
		s.wire = nil
	}
	relay.CloseWrite(c.agent())
	return nil
}
