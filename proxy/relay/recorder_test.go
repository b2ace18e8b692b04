package relay

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"a2atap/proxy/must"
)

// recorded is what a recorder got of one exchange.
type recorded struct {
	Request        string
	Body           string
	RequestTrailer string
	RequestEnd     bool
	Interim        []string
	Answer         string
	AnswerBody     string
	AnswerTrailer  string
	AnswerEnd      bool
	Upgraded       bool
	Sides          []string // what SideEnded was called with
	Fault          *TransportError
	Ended          bool
}

// A recorder is an Observer that keeps everything and complains about calls out of order.
type recorder struct {
	t  testing.TB
	mu sync.Mutex
	// changed is closed and replaced with each call.
	changed         chan struct{}
	exchanges       map[int]*recorded
	withoutExchange []TransportError // those of no exchange
	events          int              // calls of AnswerBody
}

func newRecorder(t testing.TB) *recorder {
	return &recorder{t: t, changed: make(chan struct{}), exchanges: map[int]*recorded{}}
}

// note runs f on the exchange under the lock, after checking that calls may still come for it.
func (r *recorder) note(x int, call string, f func(*recorded)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.exchanges[x]
	switch {
	case e == nil && call != "Request":
		r.t.Errorf("exchange %d: %s before Request", x, call)
		e = new(recorded)
		r.exchanges[x] = e
	case e == nil:
		e = new(recorded)
		r.exchanges[x] = e
	case call == "Request":
		r.t.Errorf("exchange %d: a second Request", x)
	case e.Ended:
		r.t.Errorf("exchange %d: %s after Ended", x, call)
	case e.AnswerEnd && (call == "Answer" || call == "AnswerBody" || call == "AnswerEnd"):
		r.t.Errorf("exchange %d: %s after AnswerEnd", x, call)
	case e.Answer == "" && (call == "AnswerBody" || call == "AnswerEnd"):
		r.t.Errorf("exchange %d: %s before Answer", x, call)
	case e.RequestEnd && !e.Upgraded && (call == "RequestBody" || call == "RequestEnd"):
		r.t.Errorf("exchange %d: %s after RequestEnd", x, call)
	}
	f(e)
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *recorder) Request(x int, head []byte) {
	r.note(x, "Request", func(e *recorded) { e.Request = string(head) })
}

func (r *recorder) RequestBody(x int, p []byte) {
	r.note(x, "RequestBody", func(e *recorded) { e.Body += string(p) })
}

func (r *recorder) RequestEnd(x int, trailer []byte) {
	r.note(x, "RequestEnd", func(e *recorded) { e.RequestEnd, e.RequestTrailer = true, string(trailer) })
}

func (r *recorder) Informational(x int, head []byte) {
	r.note(x, "Informational", func(e *recorded) { e.Interim = append(e.Interim, string(head)) })
}

func (r *recorder) Answer(x int, head []byte) {
	r.note(x, "Answer", func(e *recorded) { e.Answer = string(head) })
}

func (r *recorder) Upgraded(x int) {
	r.note(x, "Upgraded", func(e *recorded) { e.Upgraded = true })
}

func (r *recorder) AnswerBody(x int, p []byte) {
	r.note(x, "AnswerBody", func(e *recorded) { e.AnswerBody += string(p); r.events++ })
}

func (r *recorder) AnswerEnd(x int, trailer []byte) {
	r.note(x, "AnswerEnd", func(e *recorded) { e.AnswerEnd, e.AnswerTrailer = true, string(trailer) })
}

func (r *recorder) SideEnded(x int, side, how string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.exchanges[x]; !e.Ended {
		e.Sides = append(e.Sides, side+" "+how)
	}
}

func (r *recorder) Fault(x int, f TransportError) {
	f.Bytes = bytes.Clone(f.Bytes)
	if x < 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.withoutExchange = append(r.withoutExchange, f)
		close(r.changed)
		r.changed = make(chan struct{})
		return
	}
	r.note(x, "Fault", func(e *recorded) {
		if e.Fault != nil {
			r.t.Errorf("exchange %d: a second fault: %v", x, f)
		}
		e.Fault = &f
	})
}

func (r *recorder) Ended(x int) { r.note(x, "Ended", func(e *recorded) { e.Ended = true }) }

// until waits for a condition on what was reported.
func (r *recorder) until(what string, holds func() bool) {
	r.t.Helper()
	limit := time.After(must.Patience)
	for {
		r.mu.Lock()
		ok, changed := holds(), r.changed
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-limit:
			r.t.Fatalf("%s: not reported within %v", what, must.Patience)
		}
	}
}

// ended waits for the end of an exchange and returns what was reported of it.
func (r *recorder) ended(x int) recorded {
	r.t.Helper()
	r.until("end of exchange", func() bool { return r.exchanges[x] != nil && r.exchanges[x].Ended })
	r.mu.Lock()
	defer r.mu.Unlock()
	return *r.exchanges[x]
}

// faultWithoutExchange waits for a fault of no exchange.
func (r *recorder) faultWithoutExchange() TransportError {
	r.t.Helper()
	r.until("fault without an exchange", func() bool { return len(r.withoutExchange) > 0 })
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.withoutExchange[0]
}

// wantFault compares kind and side, since details are for people.
func wantFault(t *testing.T, got *TransportError, kind, side string) {
	t.Helper()
	if got == nil {
		t.Errorf("got no fault, want %s %s", side, kind)
	} else if got.Kind != kind || got.Side != side {
		t.Errorf("got fault %v, want %s %s", got, side, kind)
	}
}
