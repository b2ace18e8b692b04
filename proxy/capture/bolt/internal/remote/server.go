package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
)

// maxReaders bounds the connections that a recorder serves at once; one more waits in the system's queue.
const maxReaders = 256

// A Server answers other processes that read a growing recording. Each connection has a goroutine; it copies a page out
// of the store and then writes it, so a slow or stuck reader holds only its own page.
type Server struct {
	access   Access
	listener *net.UnixListener
	address  string
	ctx      context.Context // ends when the recording does: what waits is answered
	stop     context.CancelFunc
	running  sync.WaitGroup
	slots    chan struct{}

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// Serve begins to answer readers of the capture at path. Close ends it.
func Serve(path string, a Access) (*Server, error) {
	l, address, err := listen(path)
	if err != nil {
		return nil, fmt.Errorf("open a socket for other readers of %s: %w; they can read after the recording has ended",
			path, err)
	}
	removeStale(path, address)
	s := &Server{
		access: a, listener: l, address: address,
		slots: make(chan struct{}, maxReaders), conns: make(map[net.Conn]struct{}),
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.running.Go(s.accept)
	return s, nil
}

// Close ends the serving. Answers under way have closeTimeout to get through.
func (s *Server) Close() {
	s.stop()
	s.listener.Close()
	os.Remove(s.address)
	s.mu.Lock()
	for c := range s.conns {
		c.SetReadDeadline(time.Unix(1, 0))
		c.SetWriteDeadline(time.Now().Add(closeTimeout))
	}
	s.mu.Unlock()
	s.running.Wait()
}

func (s *Server) accept() {
	for {
		s.slots <- struct{}{}
		conn, err := s.listener.Accept()
		if err != nil {
			<-s.slots
			if s.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			// Out of file descriptors, most likely: it passes, and the readers keep trying.
			select {
			case <-time.After(100 * time.Millisecond):
			case <-s.ctx.Done():
			}
			continue
		}
		s.running.Go(func() {
			defer func() { <-s.slots }()
			s.serveConn(conn)
		})
	}
}

// keep registers a connection so that close finds it. It returns false after close.
func (s *Server) keep(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[conn] = struct{}{}
	return s.ctx.Err() == nil
}

func (s *Server) serveConn(conn net.Conn) {
	defer conn.Close()
	defer func() {
		s.mu.Lock()
		delete(s.conns, conn)
		s.mu.Unlock()
	}()
	for ok := s.keep(conn); ok; ok = s.ctx.Err() == nil {
		body, err := ReadFrame(conn, MaxRequest)
		if err != nil {
			return
		}
		q, err := decodeRequest(body)
		if err != nil {
			return
		}
		answer := s.answer(q)
		if answer == nil {
			return
		}
		s.mu.Lock()
		if s.ctx.Err() == nil {
			conn.SetWriteDeadline(time.Now().Add(writeTimeout))
		}
		s.mu.Unlock()
		if WriteFrame(conn, answer) != nil {
			return
		}
	}
}

// answer returns the whole body of an answer, or nil where the end of the recording cut the question short: the reader
// then goes to the file.
func (s *Server) answer(q Request) []byte {
	e := Encoder{layout.Encoder{B: []byte{AnswerOK}}}
	err := s.fill(&e, q)
	switch {
	case err == nil:
		return e.B
	case errors.Is(err, capture.ErrEnded):
		return []byte{answerEnded}
	case errors.Is(err, context.DeadlineExceeded):
		return []byte{answerNotYet}
	case s.ctx.Err() != nil:
		return nil
	case errors.Is(err, capture.ErrDamagedEntry):
		return append([]byte{answerDamaged}, err.Error()...)
	}
	return append([]byte{answerFailed}, err.Error()...)
}

func (s *Server) fill(e *Encoder, q Request) error {
	switch q.Ask {
	case AskHello:
		e.Holder(Holder{
			Version: WireVersion, PID: uint64(os.Getpid()), Program: filepath.Base(os.Args[0]), asks: lastAsk,
		})
	case askInfo:
		info, err := s.access.Info(s.ctx)
		e.Info(&info)
		return err
	case AskBlocks:
		found, last, err := s.access.Blocks(s.ctx, q.From, q.Limit)
		e.Number(last)
		e.blocks(found)
		return err
	case AskFetch:
		found, err := s.access.Fetch(s.ctx, q.Firsts, q.Limit)
		e.blocks(found)
		return err
	case AskLocate:
		at, err := s.access.Locate(s.ctx, q.From, min(q.Limit, PageExchanges))
		e.places(&at)
		return err
	case AskFind:
		found, err := s.access.Find(s.ctx, q.key, q.From, min(q.Limit, PageFound))
		e.numbers(found)
		return err
	case AskKept:
		found, err := s.access.Kept(s.ctx, q.Keys, q.Limit)
		e.values(found)
		return err
	case AskKeptRange:
		found, next, err := s.access.KeptRange(s.ctx, q.Low, q.End, q.Limit)
		e.entries(found)
		e.Bytes(next)
		return err
	case askMark:
		sum, err := s.access.Mark(s.ctx)
		e.Bytes(sum)
		return err
	case AskWait:
		ctx, cancel := context.WithTimeout(s.ctx, waitRound)
		defer cancel()
		return s.access.Wait(ctx, q.From)
	}
	return nil
}
