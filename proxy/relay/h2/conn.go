package h2

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy/budget"
	"a2atap/proxy/relay"
	"a2atap/proxy/relay/internal/inflow"
)

// A conn is a client's connection, together with its connection to the agent.
//
// The goroutine of Serve reads the client. A second goroutine, begun when the agent has been dialed, reads the agent.
type conn struct {
	cfg    relay.Config
	obs    relay.Observed
	edited relay.Edited

	client, agent *end
	up, down      *half // requests, answers
	reader        sync.WaitGroup
	deliveries    sync.WaitGroup
	ctx           context.Context // of the deliveries

	mu         sync.Mutex
	heads      *budget.Pool       // room for the heads of streams
	streams    map[uint32]*stream // that have not ended, including those that the relay answered itself
	next       int                // number of the next exchange
	lastID     uint32             // the highest stream that the client has begun
	refused    int                // streams that the relay answered itself
	silent     []uint32           // the last of these that were broken on purpose
	left       bool               // the client was told on purpose that no streams are taken beyond leftAfter
	leftAfter  uint32
	lastRouted uint32     // the highest stream that a Route took
	receivers  *receivers // nil if it took none
	idleSince  time.Time
	givenUp    givenUp               // guarded by mu
	cause      *relay.TransportError // why streams will never be finished; the first one stays
	firstFault error
	clientEOF  bool // the client has ended its sending
	lingers    bool // nothing more is sent to the client

	over atomic.Bool // nothing more is forwarded
}

// A half is one direction of a connection. Its goroutine reads frames from one end and forwards them to the other.
type half struct {
	*conn
	does       direction
	from, to   *end
	in         inflow.Buffer
	blocks     blockReader
	credit     credit // of what flows here
	data       dataFrame
	holding    []*body   // that are held for a bounded time
	left       int       // bytes of the current payload to forward unmodified
	within     bool      // a frame has begun and is incomplete, so the turn is kept
	begun      bool      // the first frame was there
	opaque     bool      // the data is not understood, and passes unmodified
	wake       time.Time // when a read is interrupted; zero for never
	blockSince time.Time // when the header block that is under way began
	strays     strayWatch
	alone      bool // without a receiver: the relay itself answers what the sender requests of the connection
}

// A direction has the differences between the two halves. It is called from the goroutine of the half.
type direction interface {
	// fields receives a complete header block: the header of a message, or its trailer.
	fields(b *block)
	// observe reports a piece of the body of a stream, whose lock is held.
	observe(s *stream, p []byte)
	// ended reports that the sender's side of a stream is complete. The lock of the stream is held.
	ended(s *stream, trailer []byte)
	// keep reports whether to keep holding a body. edit returns the replacement for a complete message, head and
	// content, or nil to send it unmodified. tooLarge, noRoom and tooSlow report that the message passes unmodified.
	keep(s *stream, content []byte) bool
	edit(s *stream, head, content, trailer []byte) []byte
	tooLarge(s *stream)
	noRoom(s *stream)
	tooSlow(s *stream, content []byte)
	// kept reports whether a message that was held must not be forwarded at all.
	kept(s *stream) bool
	// failed reports why nothing more can be read.
	failed(err error)
	// woken is called when a read was interrupted. It returns false to end the half.
	woken(now time.Time) bool
	// written reports that everything read so far has been written.
	written()
	// unsent reports why the receiver accepts no more data. It returns false to end the half.
	unsent(err error) bool
}

// Limits of one connection.
const (
	maxStreams = 20_000 // that are open at the same time
	maxRefused = 1_000  // that the relay answered itself
)

// other returns the half of the other direction.
func (c *conn) other(h *half) *half {
	if h == c.up {
		return c.down
	}
	return c.up
}

// streamOf returns a stream that has not ended, nil for any other.
func (c *conn) streamOf(id uint32) *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.streams[id]
}

// open begins a stream, and returns it locked, so that its request is reported before anything else about it.
func (c *conn) open(id uint32) *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &stream{id: id, x: c.next}
	s.mu.Lock()
	c.next++
	c.streams[id] = s
	return s
}

// all returns the streams that have not ended, those above a number.
func (c *conn) all(above uint32) (streams []*stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, s := range c.streams {
		if id > above {
			streams = append(streams, s)
		}
	}
	return streams
}

// begins records that the client begins a stream, and reports whether the stream is new: RFC 9113 section 5.1.1.
func (c *conn) begins(id uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id%2 == 0 || id <= c.lastID {
		return false
	}
	c.lastID = id
	return true
}

// lastAsked returns the highest stream that the client has begun.
func (c *conn) lastAsked() uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastID
}

// idle returns since when no stream is open; false if a stream is open.
func (c *conn) idle() (since time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.idleSince, len(c.streams) == c.refused
}

// endIfDone ends a stream if both of its sides are complete. Its lock is held.
func (c *conn) endIfDone(s *stream) {
	if s.asked && (s.answerDone || s.ours && s.delivery == nil) {
		c.end(s, nil)
	}
}

// end reports that a stream is over, with its fault, if any. Its lock is held.
func (c *conn) end(s *stream, f *relay.TransportError) {
	if s.late != nil {
		s.late.Stop()
	}
	if s.ended {
		return
	}
	s.ended = true
	s.heads.end()
	if s.delivery != nil && !s.answerDone {
		s.delivery.cancel()
	}
	if f != nil && !s.faulted {
		s.faulted = true
		c.noteFault(*f)
		c.obs.Fault(s.x, *f)
	}
	c.obs.Ended(s.x)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !s.ours { // of those, streams on which both ends may still send for a while
		delete(c.streams, s.id)
	}
	c.idleSince = time.Now()
}

// endAll ends all streams, those whose answer is complete without a fault.
func (c *conn) endAll(f relay.TransportError) {
	for _, s := range c.all(0) {
		s.mu.Lock()
		c.endBroken(s, f)
		s.mu.Unlock()
	}
}

// endBroken ends a stream that will not continue. A complete answer ends its exchange well, even if part of the request
// is missing: RFC 9113 section 8.1. gRPC clients may end their stream only after their message, and by then agents may
// have answered and reset the stream: such a request counts as complete. The lock of the stream is held.
func (c *conn) endBroken(s *stream, f relay.TransportError) {
	c.mu.Lock()
	c.givenUp.add(s.id)
	c.mu.Unlock()
	if s.unproven {
		return // the half of the answers ends it
	}
	if s.answerDone {
		if !s.asked && s.message.whole() {
			s.asked = true
			c.obs.RequestEnd(s.x, nil)
		}
		c.end(s, nil)
		return
	}
	c.end(s, &f)
}

// reason returns why streams are unfinished: the cause if one is known, otherwise f.
func (c *conn) reason(f relay.TransportError) relay.TransportError {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.cause != nil:
		return *c.cause
	case c.clientEOF:
		return left
	}
	return f
}

// setCause notes why the connection will break, unless a reason is known already.
func (c *conn) setCause(f relay.TransportError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = &f
	}
}

// noteFault keeps the first fault, which Serve returns.
func (c *conn) noteFault(f relay.TransportError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.firstFault == nil {
		f.Bytes = nil
		c.firstFault = f
	}
}

// stopWaiting ends all waiting for credit, in both halves.
func (c *conn) stopWaiting() {
	c.up.credit.end()
	c.down.credit.end()
}

// setReadDeadline bounds the next read of an end, unless only the end of the client's sending is waited for.
func (c *conn) setReadDeadline(e *end, t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.lingers || e != c.client {
		e.SetReadDeadline(t)
	}
}

// linger ends the sending to the client, and gives the client a moment to read the rest.
func (c *conn) linger() {
	relay.CloseWrite(c.client.Conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lingers = true
	c.client.SetReadDeadline(time.Now().Add(relay.LingerTime))
}

// isLingering reports whether linger was called.
func (c *conn) isLingering() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lingers
}

// wakeAt interrupts the next read at a time, if it lasts that long; the zero time means never.
func (h *half) wakeAt(t time.Time) {
	if !t.IsZero() && (h.wake.IsZero() || t.Before(h.wake)) {
		h.wake = t
		h.setReadDeadline(h.from, t)
	}
}

// rewake ends an interruption.
func (h *half) rewake() {
	h.wake = time.Time{}
	h.setReadDeadline(h.from, time.Time{})
}

// malformed reports a header block that cannot be decoded.
func (h *half) malformed(id uint32, why string) {
	f := relay.TransportError{Kind: relay.KindRefused, Side: h.from.side, Detail: why}
	h.setCause(f)
	s := h.streamOf(id)
	if s == nil {
		h.obs.Fault(-1, f)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h.endBroken(s, f)
}

// abandon ends the connection because its sender demands too much.
func (h *half) abandon(why string) {
	f := relay.TransportError{Kind: relay.KindRefused, Side: h.from.side, Detail: why}
	h.over.Store(true)
	h.setCause(f)
	h.endAll(f)
	h.stopWaiting()
	h.from.out.sayFinally(h.lastAsked(), http2.ErrCodeEnhanceYourCalm, "a2atap: "+why)
	if to := h.to.Conn; to != nil {
		relay.Reset(to)
	}
}
