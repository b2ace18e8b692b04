package bolt

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
)

// maxReaders bounds the connections that a recorder serves at once; one more waits in the system's queue.
const maxReaders = 256

// A server answers other processes that read what is being recorded. Each connection has a goroutine; it copies a page
// out of the store and then writes it, so a reader that is slow or stuck holds nothing but its own page.
type server struct {
	access   access
	listener *net.UnixListener
	address  string
	ctx      context.Context // ends when the recording does: what waits is answered
	stop     context.CancelFunc
	running  sync.WaitGroup
	slots    chan struct{}

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

func serve(path string, a access) (*server, error) {
	l, address, err := listen(path)
	if err != nil {
		return nil, fmt.Errorf("open a socket for other readers of %s: %w; they can read when the recording has ended",
			path, err)
	}
	removeStale(path, address)
	s := &server{
		access: a, listener: l, address: address,
		slots: make(chan struct{}, maxReaders), conns: make(map[net.Conn]struct{}),
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.running.Go(s.accept)
	return s, nil
}

// close ends the serving. Answers under way have closeTimeout to get through.
func (s *server) close() {
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

func (s *server) accept() {
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

// keep notes a connection so that close finds it. It reports false when close has been there already.
func (s *server) keep(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[conn] = struct{}{}
	return s.ctx.Err() == nil
}

func (s *server) serveConn(conn net.Conn) {
	defer conn.Close()
	defer func() {
		s.mu.Lock()
		delete(s.conns, conn)
		s.mu.Unlock()
	}()
	for ok := s.keep(conn); ok; ok = s.ctx.Err() == nil {
		body, err := readFrame(conn, maxRequest)
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
		if writeFrame(conn, answer) != nil {
			return
		}
	}
}

// answer returns the whole body of an answer, or nil where the end of the recording cut the question short: the reader
// then goes to the file.
func (s *server) answer(q request) []byte {
	e := wireEncoder{encoder{b: []byte{answerOK}}}
	err := s.fill(&e, q)
	switch {
	case err == nil:
		return e.b
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

func (s *server) fill(e *wireEncoder, q request) error {
	switch q.ask {
	case askHello:
		e.holder(holder{
			version: wireVersion, pid: uint64(os.Getpid()), program: filepath.Base(os.Args[0]), asks: lastAsk,
		})
	case askInfo:
		info, err := s.access.info(s.ctx)
		e.info(&info)
		return err
	case askBlocks:
		found, last, err := s.access.blocks(s.ctx, q.from, q.limit)
		e.number(last)
		e.blocks(found)
		return err
	case askFetch:
		found, err := s.access.fetch(s.ctx, q.firsts, q.limit)
		e.blocks(found)
		return err
	case askLocate:
		at, err := s.access.locate(s.ctx, q.from, min(q.limit, pageExchanges))
		e.places(&at)
		return err
	case askFind:
		found, err := s.access.find(s.ctx, q.key, q.from, min(q.limit, pageFound))
		e.numbers(found)
		return err
	case askKept:
		found, err := s.access.kept(s.ctx, q.keys, q.limit)
		e.values(found)
		return err
	case askKeptRange:
		found, next, err := s.access.keptRange(s.ctx, q.low, q.end, q.limit)
		e.entries(found)
		e.bytes(next)
		return err
	case askMark:
		sum, err := s.access.mark(s.ctx)
		e.bytes(sum)
		return err
	case askWait:
		ctx, cancel := context.WithTimeout(s.ctx, waitRound)
		defer cancel()
		return s.access.wait(ctx, q.from)
	}
	return nil
}
