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

// A Spool is a capture that is shipped: a bolt.Store in the recorder's process, or a bolt.Reader of a file. What is not
// shipped yet waits there and nowhere else.
type Spool interface {
	Info(ctx context.Context) (capture.Info, error)
	Blocks(ctx context.Context, from uint64) iter.Seq2[bolt.Block, error]
	// Wait is that of capture.Source.
	Wait(ctx context.Context, from uint64) error
}

// ShipOptions say how a capture is shipped. Host must be given.
type ShipOptions struct {
	Connect Options
	Limits  Limits // of the stream, if it has to be made

	Host string // that records

	// HostGuessed says that nobody has named the host: a capture that the stream has goes on as the host that it has
	// there.
	HostGuessed bool

	Tool string // name and version of the program that ships
	Name string // of the file, without its folder

	// Once ends Run when that is shipped which was committed when it began, without waiting for more.
	Once bool

	// GiveUp ends Run with the error that keeps it from shipping, when nothing was shipped for so long, and at once if
	// the error will not heal. 0 never gives up.
	GiveUp time.Duration

	// Busy reports that traffic needs the processor now; shipping then pauses, not forever. It may be nil.
	Busy func() bool

	// OnTrouble is told, once for each kind of trouble, what keeps the capture from being shipped, and with nil when
	// all is shipped again; an error that wraps ErrBroken is the last. It is called by the goroutine of Run, and may
	// be nil.
	OnTrouble func(error)
}

// A ShipStatus is how far a Shipper is.
type ShipStatus struct {
	Host      string // as which it ships
	Shipped   uint64 // the last arrival number that the stream has for sure; 0 until the server was asked
	Committed uint64 // the last that the capture had when the Shipper last looked
	Messages  uint64 // that this Shipper has published
	Steps     uint64 // in them
	Asked     bool   // the server has said what it has
	Err       error  // what keeps it from shipping; nil if nothing does
}

// A Shipper publishes the committed blocks of one capture, in order, to the subject of its recorder. It never holds up
// who records: it reads what is committed, as any other reader does, and keeps one message in memory at a time.
//
// It has no state of its own that lasts. Before it publishes for the first time, and whenever it cannot know what
// arrived (no acknowledgement, a new connection, another program that ships the same capture), it asks for the last
// message of the subject and goes on behind it. Each message says which one it expects to be the last; the server
// refuses any other. So each committed block arrives exactly once, in order, whoever ships it.
//
// Where the stream removes old messages, a subject may have lost all of its. This Shipper then goes on after what it
// has shipped; one in another process cannot know, and begins with the first block again. Of a block that was cut into
// parts the last ones may be missing, after a Shipper was killed; the next one begins the block again, and readers drop
// the beginning.
type Shipper struct {
	address Address
	spool   Spool
	options ShipOptions

	conn   *Conn
	open   atomic.Pointer[Conn] // the same
	wake   chan struct{}        // holds a value when the connection is there again
	broken atomic.Pointer[error]

	capture uuid.UUID
	subject string
	room    int       // bytes of data that a message may have
	next    uint64    // arrival number of the first step that is not in the stream
	last    uint64    // sequence of the last message of the subject; 0 for none
	state   *Recorder // what the last message of the subject says; nil if that is not known
	made    time.Time // when the stream was
	partial uint64    // sequence of an unfinished block of another shipper, when it was last looked at
	own     uint64    // sequence of the last message that this one has published
	tried   string    // identity of the last message that it has tried to publish
	until   uint64    // the last step to ship, with Once; 0 until that is known
	salt    string    // of message ids, after the server has taken one for a repetition

	begun     time.Time // of the last message
	full      bool      // it was as large as it may be
	went      bool      // something arrived in this session, or all was there
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
	lasting   time.Duration         // pause before what will not heal by itself is tried again
	lost      atomic.Pointer[error] // what the connection has said last, if it is not there
}

// NewShipper returns what ships a capture. Run does it.
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

// Status says how far it is. Anybody may ask.
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

// ErrBroken says that shipping has ended by a mistake of ours, and is not tried again.
var ErrBroken = errors.New("shipping has ended")

// survive keeps a mistake of ours from ending the recording.
func (s *Shipper) survive() {
	if v := recover(); v != nil {
		s.broken.Store(new(fmt.Errorf("%w: panic: %v; please report it", ErrBroken, v)))
	}
}

// tellBroken says so at once: who waits for Run may do that at the end of a recording alone.
func (s *Shipper) tellBroken(err error) {
	defer func() { _ = recover() }() // telling may be what is broken
	s.news.report(err, false)
}

// Run ships the capture until all is shipped and the recording has ended, which returns nil, or the context ends, which
// returns its error. It is called once. A server that is away, slow or full is not an error, unless GiveUp says so:
// what waits, waits in the capture. Errors of the capture itself, such as a damaged block, end it with GiveUp.
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
			s.conn.cut() // nothing is under way that is wanted
			s.conn.Close()
		}
	}()
	defer s.survive()
	defer context.AfterFunc(ctx, func() {
		if c := s.open.Load(); c != nil {
			c.cut()
		}
	})()
	var failing time.Time // since when nothing goes
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

// The pauses before what failed is tried again.
const (
	firstPause   = 100 * time.Millisecond
	lastPause    = 5 * time.Second
	lastingPause = 10 * time.Second // for what will not heal by itself
	partialPause = time.Second      // for another shipper that is about to finish a block
)

// rest waits, or until the connection is there again. It reports whether to go on.
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
