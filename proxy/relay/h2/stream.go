package h2

import (
	"sync"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy/relay"
)

// A stream is an exchange that is under way. The fields that mu does not guard do not change.
type stream struct {
	id uint32
	x  int // its number for the Observer

	isGRPC bool // it is a call of gRPC

	mu         sync.Mutex // is held while the Observer is told of it
	ours       bool       // the answer is ours: what either end sends from then on goes nowhere
	connect    bool       // it asks for a tunnel
	answered   bool       // the head of the final answer was there
	asked      bool       // the request is complete
	answerDone bool       // the answer is complete
	faulted    bool       // its fault was reported
	ended      bool       // Ended was called
	late       *time.Timer
}

// streamOf returns a stream that has not ended, nil for any other.
func (c *conn) streamOf(id uint32) *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.streams[id]
}

// open begins a stream.
func (c *conn) open(id uint32) *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &stream{id: id, x: c.next}
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

// endIfDone ends a stream both of whose sides are complete. Its lock is held.
func (c *conn) endIfDone(s *stream) {
	if s.asked && (s.answerDone || s.ours) {
		c.end(s, nil)
	}
}

// end reports that nothing more will come of a stream, and how it broke, if it did. Its lock is held.
func (c *conn) end(s *stream, f *relay.Fault) {
	if s.ended {
		return
	}
	s.ended = true
	if s.late != nil {
		s.late.Stop()
	}
	if f != nil && !s.faulted {
		s.faulted = true
		c.noteFault(*f)
		c.obs.Fault(s.x, *f)
	}
	c.obs.Ended(s.x)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !s.ours { // of those, both ends may still speak for a while
		delete(c.streams, s.id)
	}
	c.idleSince = time.Now()
}

// endAll ends all streams, those whose answer is complete without a fault.
func (c *conn) endAll(f relay.Fault) {
	for _, s := range c.all(0) {
		s.mu.Lock()
		c.endBroken(s, f)
		s.mu.Unlock()
	}
}

// endBroken ends a stream of which nothing more comes. An answer that is complete ends its exchange well, whatever there is
// still of the request: RFC 9113 section 8.1. The lock of the stream is held.
func (c *conn) endBroken(s *stream, f relay.Fault) {
	if s.answerDone {
		c.end(s, nil)
		return
	}
	c.end(s, &f)
}

// reset notes that an end gives a stream up: RFC 9113 section 6.4. It reports whether the other end is to hear of it.
func (h *half) reset(fh http2.FrameHeader, payload []byte) bool {
	if h.credit.completes(fh.StreamID) {
		return false // all of its message is here, and goes on
	}
	h.up.credit.drop(fh.StreamID)
	h.down.credit.drop(fh.StreamID)
	s := h.streamOf(fh.StreamID)
	if s == nil {
		return true
	}
	code := http2.ErrCode(uint32(payload[0])<<24 | uint32(payload[1])<<16 | uint32(payload[2])<<8 | uint32(payload[3]))
	f := relay.Fault{Kind: relay.KindReset, Side: h.from.side, Detail: "the stream was reset: RST_STREAM with " + code.String()}
	if h.from.side == relay.SideClient && (code == http2.ErrCodeCancel || code == http2.ErrCodeNo) {
		f.Kind = relay.KindClientLeft
		f.Detail = "the client gave the stream up before the answer was complete: RST_STREAM with " + code.String()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h.endBroken(s, f)
	return !s.ours
}

// goAway notes that an end takes no more streams: RFC 9113 section 6.8. Those of the client that the agent will not look
// at have ended.
func (h *half) goAway(from *end, payload []byte) {
	last := (uint32(payload[0])<<24 | uint32(payload[1])<<16 | uint32(payload[2])<<8 | uint32(payload[3])) &^ (1 << 31)
	code := http2.ErrCode(uint32(payload[4])<<24 | uint32(payload[5])<<16 | uint32(payload[6])<<8 | uint32(payload[7]))
	detail := "GOAWAY with " + code.String()
	if why := payload[8:]; len(why) > 0 {
		detail += " (" + shown(why) + ")"
	}
	f := relay.Fault{Kind: relay.KindReset, Side: from.side, Detail: "the connection was given up: " + detail}
	if code != http2.ErrCodeNo {
		h.setCause(f)
	}
	if from.side == relay.SideClient {
		return
	}
	f.Detail = "the stream was not looked at: " + detail
	for _, s := range h.all(last) {
		s.mu.Lock()
		h.endBroken(s, f)
		s.mu.Unlock()
	}
}

// shown returns what a peer says in its own words, as much as a line takes.
func shown(p []byte) string {
	const most = 200
	text := make([]byte, 0, most)
	for _, c := range p[:min(len(p), most)] {
		if c < ' ' || c > '~' {
			c = '?'
		}
		text = append(text, c)
	}
	return string(text)
}
