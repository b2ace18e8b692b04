package playback

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/replay/live"
)

// A service is the handling of one request.
type service struct {
	p        *Player
	w        http.ResponseWriter
	r        *http.Request
	call     a2a.Call
	body     []byte
	neighbor *neighborRequest // nil before it was compared with what is not A2A
	marked   func(string)     // may be nil
}

// mark reports a deviation from the recording.
func (s *service) mark(format string, args ...any) {
	if s.marked != nil {
		s.marked(fmt.Sprintf(format, args...))
	}
}

// played reports that a recorded answer is given, if other requests get live ones.
func (s *service) played(seq uint64) {
	if f := s.p.opts.Forward; f != nil && f.After {
		s.mark("playback: the answer of exchange %d of the recording", seq)
	}
}

// pause waits for a recorded time at the speed of the options. It reports whether the client is still there.
func (s *service) pause(recorded time.Duration) bool {
	speed := s.p.opts.Speed
	if speed <= 0 || recorded <= 0 {
		return s.r.Context().Err() == nil
	}
	return live.Sleep(s.r.Context(), time.Duration(float64(recorded)/speed))
}

func (s *service) flush() {
	http.NewResponseController(s.w).Flush() //nolint:errcheck // the client has left: the next write tells
}

// cut ends a stream that is to end here. It panics, which tells net/http to close the connection.
func (s *service) cut(events int) {
	s.mark(faultMade+"the stream was cut after %d events", events)
	s.p.mu.Lock()
	s.p.report.Cut++
	s.p.mu.Unlock()
	panic(http.ErrAbortHandler)
}

// WithEnd returns a context for a request of a client that reads answers after its last request. When ended is closed, no
// request follows, and answers that stay open end.
func WithEnd(ctx context.Context, ended <-chan struct{}) context.Context {
	return context.WithValue(ctx, endKey{}, ended)
}

type endKey struct{}

// stay keeps the answer open until the live client leaves, or the player ends, and then breaks it off. It panics, which
// tells net/http to close the connection.
func (s *service) stay() {
	ended, _ := s.r.Context().Value(endKey{}).(<-chan struct{})
	select {
	case <-ended:
	case <-s.r.Context().Done():
	case <-s.p.ctx.Done():
	}
	panic(http.ErrAbortHandler)
}
