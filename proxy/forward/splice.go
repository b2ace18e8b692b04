package forward

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"a2atap/proxy/relay"
)

// A splice forwards bytes between a client and an agent until both have stopped sending, one breaks off, or both are
// silent for too long.
type splice struct {
	client, agent net.Conn
	idle          time.Duration // that both may be silent; 0 or less is forever
	request       func([]byte)  // called with what has passed to the agent
	answer        func([]byte)  // called with what has passed to the client

	passed atomic.Int64 // when bytes passed last, since begun
	begun  time.Time
	mu     sync.Mutex
	fault  *relay.TransportError // what broke it off
}

// run returns the error that broke off the splice, or nil if both sides have ended.
func (s *splice) run(ctx context.Context) *relay.TransportError {
	stop := context.AfterFunc(ctx, func() { s.broken(relay.KindShutdown, relay.SideProxy, "the proxy was stopped") })
	defer stop()
	if s.idle > 0 {
		defer s.watch()()
	}
	var wg sync.WaitGroup
	wg.Go(func() { s.pass(s.client, s.agent, s.request, relay.SideClient, relay.SideAgent) })
	wg.Go(func() { s.pass(s.agent, s.client, s.answer, relay.SideAgent, relay.SideClient) })
	wg.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

// pass passes one direction.
func (s *splice) pass(from, to net.Conn, observe func([]byte), fromSide, toSide string) {
	switch side, err := copyBytes(from, to, func(p []byte) { s.touch(); observe(p) }); {
	case err == nil:
		relay.CloseWrite(to)
	case side == from:
		s.broken(relay.KindReset, fromSide, resetReason(err))
	default:
		s.broken(relay.KindReset, toSide, resetReason(err))
	}
}

// broken breaks both connections off, once.
func (s *splice) broken(kind, side, detail string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		s.fault = &relay.TransportError{Kind: kind, Side: side, Detail: detail}
	}
	relay.Reset(s.agent)
	relay.Reset(s.client)
}

// watch breaks off the splice when it has been silent for too long, until the returned function is called. The timer is
// checked when it fires, not moved with each piece.
func (s *splice) watch() (stop func()) {
	s.begun = time.Now()
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		timer := time.NewTimer(s.idle)
		defer timer.Stop()
		for {
			select {
			case <-done:
				return
			case <-timer.C:
			}
			left := s.idle - (time.Since(s.begun) - time.Duration(s.passed.Load()))
			if left <= 0 {
				s.broken(relay.KindTimeout, relay.SideProxy, fmt.Sprintf("the tunnel was silent for %v (--timeout-tunnel)", s.idle))
				return
			}
			timer.Reset(left)
		}
	}()
	return func() { close(done); <-watched }
}

// touch notes that bytes have passed.
func (s *splice) touch() {
	if s.idle > 0 {
		s.passed.Store(int64(time.Since(s.begun)))
	}
}

// copyBytes copies from one connection to another until the end. With an error it returns whose it was.
func copyBytes(from, to net.Conn, observe func([]byte)) (net.Conn, error) {
	var piece [16 << 10]byte
	for {
		n, err := from.Read(piece[:])
		if n > 0 {
			if _, err := to.Write(piece[:n]); err != nil {
				return to, err
			}
			observe(piece[:n])
		}
		switch err {
		case nil:
		case io.EOF:
			return nil, nil
		default:
			return from, err
		}
	}
}

// resetReason briefly describes why bytes could not pass, without ports, which make equal errors differ.
func resetReason(err error) string {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number.Error()
	}
	return "connection closed"
}
