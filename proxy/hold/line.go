package hold

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"a2atap/proxy/budget"
	"a2atap/proxy/capture"
	"a2atap/proxy/relay"
)

// A Line holds messages on one client connection. Like a relay.Observer, it learns of the traffic before the relay
// forwards it. It wraps the connection to the agent.
type Line struct {
	desk  *Desk
	agent capture.Peer
	note  func(x int, f capture.Fact)
	name  func(head []byte) string // of a client; empty if the client has none

	mu      sync.Mutex
	stream  bool                  // the next exchange is one of HTTP/2
	current *exchange             // the last one that began
	open    map[int]*exchange     // that have not ended
	queue   []*exchange           // whose answers have not, in order
	dropped bool                  // the client's connection is broken off
	failure *relay.TransportError // why reconnecting to the agent failed; nil if it was not tried, or succeeded
}

// An exchange is one that the relay has begun. Its fields are guarded by the line's lock.
type exchange struct {
	x       int
	method  string
	client  string
	want    *Want             // when it began; nil if it is no longer checked
	whole   bool              // the request is complete
	known   *capture.Exchange // with the request; nil if that is not known
	started time.Time         // when the request began to wait; zero if it did not
	sent    bool              // the request continues to the agent
	on      chan struct{}     // closed when it has gone on
	item    *item             // of the request, on the desk
	dead    bool              // the agent has closed the connection while it waited
	passes  bool              // the answer is not held, or not any more
	room    *budget.Share     // that the request uses
}

// Line starts to hold messages between a client and an agent. Note is called with the facts to record, before the other
// side can notice; name returns the client that has sent a request with that head.
func (d *Desk) Line(agent capture.Peer, note func(x int, f capture.Fact), name func(head []byte) string) *Line {
	return &Line{desk: d, agent: agent, note: note, name: name, open: make(map[int]*exchange)}
}

// Stream, like relay.StreamObserver's, reports that the next exchange is on an HTTP/2 stream.
func (l *Line) Stream() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stream = true
}

// Request begins an exchange, like relay.Observer's.
func (l *Line) Request(x int, head []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stream {
		l.stream = false
		l.desk.Pass("messages over HTTP/2 are not held")
		return
	}
	e := &exchange{x: x, room: l.desk.room.Share()}
	l.current, l.open[x] = e, e
	l.queue = append(l.queue, e)
	w := l.desk.want.Load()
	if w == nil {
		return
	}
	h := capture.ParseRequestHead(head)
	if h.Fields.Has("Expect") || h.Fields.Has("Upgrade") {
		l.desk.Pass("requests with Expect or Upgrade are not held")
		e.passes = true
		return
	}
	e.want, e.method, e.client = w, h.Method, l.name(head)
}

// RequestEnd, like relay.Observer's, reports that a request is complete.
func (l *Line) RequestEnd(x int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.open[x]; e != nil {
		e.whole = true
	}
}

// AnswerEnd, like relay.Observer's, reports that an answer is complete.
func (l *Line) AnswerEnd(x int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = slices.DeleteFunc(l.queue, func(e *exchange) bool { return e.x == x })
}

// Ended forgets an exchange, like relay.Observer's.
func (l *Line) Ended(x int) {
	l.AnswerEnd(x)
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.open[x]; e != nil {
		e.room.Close()
	}
	delete(l.open, x)
}

// forget has the rest of an exchange pass, since there is no room for its request any more.
func (l *Line) forget(e *exchange) {
	e.room.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	e.want, e.known, e.passes = nil, nil, true
}

// Fault returns the error to record for a broken exchange, which tells whether the Line was the cause.
func (l *Line) Fault(x int, f relay.TransportError) relay.TransportError {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.open[x]
	if e != nil && e.waits() { // a note after its release would be too late
		defer l.told(e, "request", e.started, decision{})
	}
	switch {
	case f.Side != relay.SideAgent:
	case l.dropped:
		f.Kind, f.Side, f.Detail = capture.KindInjected, relay.SideProxy, "the connection was closed: a message was dropped"
	case l.failure != nil:
		f.Kind, f.Side, f.Detail = l.failure.Kind, l.failure.Side, l.failure.Detail
	case e != nil && e.waits():
		f.Kind, f.Side, f.Detail = capture.KindInjected, relay.SideProxy, "the request was held"
	}
	return f
}

// waits reports whether the request waits, and no part of it was sent.
func (e *exchange) waits() bool { return !e.started.IsZero() && !e.sent }

// asked returns the exchange whose request is being sent, its Want, which may be nil, and whether it is complete.
func (l *Line) asked() (e *exchange, want *Want, whole bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e = l.current; e == nil {
		return nil, nil, false
	}
	return e, e.want, e.whole
}

// ignore has the rest of a request pass as it comes.
func (l *Line) ignore(e *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.want = nil
}

// What becomes of bytes that come from the agent.
type fate uint8

const (
	passes fate = iota // they continue, or begin an answer that may be held
	lost               // they answer nothing: the request is held, and no part of it was sent
	broken             // the client's connection is broken off
)

// came decides the fate of n bytes from the agent, or of an error other than a deadline: it returns the exchange that
// they answer, and the Want for the answer; nil if it is not held.
func (l *Line) came(n int, deadline bool) (e *exchange, want *Want, what fate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.dropped:
		return nil, nil, broken
	case len(l.queue) == 0:
		return nil, nil, passes
	}
	e = l.queue[0]
	switch {
	case e.waits() && deadline, n == 0 && !e.waits():
		return e, nil, passes
	case e.waits():
		e.dead = true
		return e, nil, lost
	}
	w := l.desk.want.Load()
	if w == nil || !w.Answers || e.passes || e.known == nil || w.May != nil && !asks(w.May, e.known) {
		for _, e := range l.queue { // the start of the next answer is unknown
			e.passes = true
		}
		return e, nil, passes
	}
	return e, w, passes
}

// asks asks a function about an exchange. One that fails holds nothing.
func asks(f func(*capture.Exchange) bool, x *capture.Exchange) (holds bool) {
	defer func() {
		if recover() != nil {
			holds = false
		}
	}()
	return f(x)
}

// told records the outcome of a held message.
func (l *Line) told(e *exchange, what string, since time.Time, d decision) {
	took := time.Since(since).Round(time.Millisecond)
	words := fmt.Sprintf("held=%v: the %s", took, what)
	switch {
	case d.drop:
		words = fmt.Sprintf("dropped: the %s, after %v", what, took)
	case d.wire != nil:
		words = fmt.Sprintf("edited: the %s, after %v", what, took)
		if d.what != "" {
			words += ": " + d.what
		}
	}
	l.note(e.x, capture.Fact{Note: capture.FaultMadeHere + words, Rewrites: d.rewrites})
}

// Wrap returns a connection to the agent on which messages are held. Dial reconnects to the agent.
func (l *Line) Wrap(below net.Conn, dial func(context.Context) (net.Conn, error)) net.Conn {
	c := &conn{line: l, dial: dial, left: make(chan struct{}), gone: make(chan struct{})}
	c.below.Store(&below)
	return c
}
