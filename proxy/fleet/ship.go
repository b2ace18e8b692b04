package fleet

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/background"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
)

// A Spool is a capture to ship: a bolt.Store in the recorder's process, or a bolt.Reader of a file. Unshipped steps
// wait only there.
type Spool interface {
	Info(ctx context.Context) (capture.Info, error)
	Blocks(ctx context.Context, from uint64) iter.Seq2[bolt.Block, error]
	// Wait is the method of capture.Source.
	Wait(ctx context.Context, from uint64) error
}

// ShipOptions configure shipping. Host is required.
type ShipOptions struct {
	Connect Options
	Limits  Limits // of the stream, if it has to be created

	Host string // that records

	// HostGuessed means that the user did not name the host: a capture that is already in the stream keeps its host
	// there.
	HostGuessed bool

	Tool string // name and version of the shipping program
	Name string // file name without folder

	// Once ends Run when everything is shipped that was committed when Run started.
	Once bool

	// GiveUp ends Run with the current error after this time without progress, or at once if retrying cannot help. 0
	// never gives up.
	GiveUp time.Duration

	// Busy reports that traffic needs the processor; shipping then pauses for a limited time. It may be nil.
	Busy func() bool

	// OnTrouble receives the error that prevents shipping, once for each kind, and nil when everything is shipped
	// again. An error that wraps ErrBroken is the last. Run's goroutine calls it; it may be nil.
	OnTrouble func(error)
}

// A ShipStatus is a Shipper's progress.
type ShipStatus struct {
	Host      string // the host name in use
	Shipped   uint64 // last arrival number known to be in the stream; 0 before the server was asked
	Committed uint64 // last arrival number of the capture at the Shipper's last look
	Messages  uint64 // published by this Shipper
	Steps     uint64 // in these messages
	Asked     bool   // the server has reported its last message
	Err       error  // what prevents shipping; nil if nothing does
}

// A Shipper publishes the committed blocks of one capture, in order, to the subject of its recorder. It never delays
// the recorder: it reads committed blocks like any other reader, and keeps one message in memory at a time.
//
// It has no persistent state. Before the first message, and whenever it cannot know what arrived (no acknowledgment, a
// new connection, another program that ships the same capture), it asks for the last message of the subject and
// continues after it. Each message states which sequence it expects to be the last, and the server refuses it
// otherwise. Each committed block therefore arrives exactly once, in order, even if several programs ship it.
//
// If the stream removes old messages, a subject may have lost all of its messages. This Shipper then continues after
// what it has shipped; a Shipper in another process cannot know, and starts again at the first block. If a Shipper was
// killed in the middle of a block's parts, the next one starts the block again, and readers drop the first attempt.
type Shipper struct {
	address Address
	spool   Spool
	options ShipOptions

	conn   *Conn
	open   atomic.Pointer[Conn] // the same
	wake   chan struct{}        // holds a value when the connection is back
	broken atomic.Pointer[error]

	capture uuid.UUID
	subject string
	room    int       // maximum bytes of data in a message
	next    uint64    // arrival number of the first unshipped step
	last    uint64    // sequence of the last message of the subject; 0 for none
	state   *Recorder // from the last message of the subject; nil if unknown
	made    time.Time // when the stream was
	partial uint64    // sequence of another shipper's unfinished block, at the last look
	own     uint64    // sequence of the last message that this Shipper published
	tried   string    // id of the last message that it tried to publish
	until   uint64    // the last step to ship, with Once; 0 if not known yet
	salt    string    // of message ids, after the server has taken one for a duplicate

	begun     time.Time // of the last message
	full      bool      // it had the maximum size
	went      bool      // something arrived in this session, or everything was there
	data      []byte
	work      background.Work
	news      trouble
	shipped   atomic.Uint64
	committed atomic.Uint64
	messages  atomic.Uint64
	steps     atomic.Uint64
	asked     atomic.Bool
	failing   atomic.Pointer[error]
	host      atomic.Pointer[string]
	interrupt atomic.Pointer[context.CancelFunc]
	lasting   time.Duration         // pause before retrying what does not resolve itself
	lost      atomic.Pointer[error] // the connection's last error while it is down
}

// NewShipper returns a Shipper for a capture; Run ships it.
func NewShipper(a Address, spool Spool, o ShipOptions) *Shipper {
	if o.Connect.Client == "" {
		o.Connect.Client = "a2atap shipping from " + o.Host
	}
	if o.Connect.Patience == 0 {
		o.Connect.Patience = defaultPatience
	}
	s := &Shipper{address: a, spool: spool, options: o, wake: make(chan struct{}, 1), lasting: lastingPause}
	s.news = trouble{tell: o.OnTrouble}
	s.options.Connect.OnTrouble = s.connection
	s.host.Store(&o.Host)
	return s
}

// Status returns the Shipper's progress. It is safe for concurrent use.
func (s *Shipper) Status() ShipStatus {
	status := ShipStatus{
		Host:    *s.host.Load(),
		Shipped: s.shipped.Load(), Committed: s.committed.Load(), Messages: s.messages.Load(), Steps: s.steps.Load(),
		Asked: s.asked.Load(),
	}
	if err := s.failing.Load(); err != nil {
		status.Err = *err
	}
	return status
}

// ErrBroken means that shipping has ended because of a bug in a2atap, and is not retried.
var ErrBroken = errors.New("shipping has ended")

// survive prevents a bug in shipping from ending the recording.
func (s *Shipper) survive() {
	if v := recover(); v != nil {
		s.broken.Store(new(fmt.Errorf("%w: panic: %v; please report it", ErrBroken, v)))
	}
}

// tellBroken reports the error at once: the caller of Run may not look at its result before the recording ends.
func (s *Shipper) tellBroken(err error) {
	defer func() { _ = recover() }() // reporting itself may be broken
	s.news.report(err, false)
}

// Run ships the capture. It returns nil when everything is shipped and the recording has ended, or the context's error.
// Call it once. A server that is away, slow or full is an error only with GiveUp: unshipped steps wait in the capture.
// Errors of the capture, such as a damaged block, end Run if GiveUp is set.
func (s *Shipper) Run(ctx context.Context) (err error) {
	defer func() {
		if broken := s.broken.Load(); broken != nil {
			err = *broken
			s.tellBroken(err)
		}
		if err != nil && ctx.Err() == nil {
			s.failing.Store(&err)
		}
	}()
	defer func() {
		if s.conn != nil {
			s.conn.cut() // pending requests are no longer needed
			s.conn.Close()
		}
	}()
	defer s.survive()
	defer context.AfterFunc(ctx, func() {
		if c := s.open.Load(); c != nil {
			c.cut()
		}
	})()
	var failing time.Time // since when nothing was shipped
	for pause := firstPause; ; {
		s.went = false
		err := s.session(ctx)
		if s.went {
			failing, pause = time.Time{}, firstPause
		}
		if failing.IsZero() {
			failing = time.Now()
		}
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ErrBroken):
			return err
		case !errors.Is(err, errUncertain):
			s.failing.Store(&err)
			s.news.report(err, s.asked.Load())
		}
		lasting := isLasting(err)
		if s.options.GiveUp > 0 && (lasting || time.Since(failing) > s.options.GiveUp) {
			return err
		}
		if lasting {
			pause = s.lasting
		}
		if errors.Is(err, errPartial) {
			pause = max(pause, partialPause)
		}
		if !s.rest(ctx, jittered(pause)) {
			return ctx.Err()
		}
		pause = min(2*pause, lastPause)
	}
}

// Pauses before a retry.
const (
	firstPause   = 100 * time.Millisecond
	lastPause    = 5 * time.Second
	lastingPause = 10 * time.Second // for trouble that does not resolve itself
	partialPause = time.Second      // time for another shipper to finish a block
)

// rest waits for d or until the connection is back, and reports whether to continue.
func (s *Shipper) rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.wake:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
