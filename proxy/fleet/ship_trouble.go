package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"a2atap/proxy/capture"
)

// errUncertain says that it is not known what the stream has: it has to be asked. Nobody needs to hear of it.
var errUncertain = errors.New("another message was the last")

// Kinds of trouble. Each is told once.
var (
	errSpool = errors.New("the capture cannot be read")
	errSlow  = errors.New("shipping falls behind")
	errSmall = errors.New("the messages of this server are too small")
	errAhead = errors.New("the stream has more of this capture than the file")
)

// kindOf says which trouble an error is: errors of one kind are told once.
func kindOf(err error) string {
	for _, kind := range []error{
		ErrBroken, errSpool, errSlow, errSmall, errAhead, errFull, errForeignStream, capture.ErrFuture,
		nats.ErrPermissionViolation, nats.ErrAuthorization, nats.ErrAuthExpired, jetstream.ErrJetStreamNotEnabled,
		jetstream.ErrJetStreamNotEnabledForAccount,
	} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return fmt.Sprint("code ", api.ErrorCode)
	}
	return "away"
}

// isLasting reports whether an error is one that only people can do something about.
func isLasting(err error) bool {
	if slices.ContainsFunc([]error{
		errSpool, errSmall, errAhead, errFull, errForeignStream, capture.ErrFuture, nats.ErrPermissionViolation,
		nats.ErrAuthorization, nats.ErrAuthExpired, jetstream.ErrJetStreamNotEnabledForAccount,
	}, func(lasting error) bool { return errors.Is(err, lasting) }) {
		return true
	}
	var api *jetstream.APIError
	return errors.As(err, &api) && api.Code >= 400 && api.Code < 500 && !errors.Is(err, jetstream.ErrStreamNotFound)
}

// troublePatience is how long a connection that was there may be away before anybody is told: a server that is started
// again, or a cluster that chooses a leader, is back by then.
const troublePatience = 3 * time.Second

// lagPatience is how old what waits may get before a Shipper is said to be behind.
const lagPatience = 10 * time.Second

// lagOver is how old what is shipped may be when trouble is said to be over.
const lagOver = time.Second

// A trouble says each kind of trouble once, until it is over. It is for the goroutine of Run.
type trouble struct {
	tell  func(error) // nil for nobody
	since time.Time   // of the first error, if nobody was told of it
	said  map[string]bool

	mark   uint64 // a step that was committed
	marked time.Time
	before bool // something went wrong since: that the mark is reached does not say that it is over
}

// report tells of an error. What may heal in a moment is told later, if the server was there before.
func (t *trouble) report(err error, patient bool) {
	if t.tell == nil {
		return
	}
	t.before = true
	kind := kindOf(err)
	if t.since.IsZero() {
		t.since = time.Now()
	}
	if t.said[kind] || patient && !isLasting(err) && !errors.Is(err, errSlow) && time.Since(t.since) < troublePatience {
		return
	}
	if t.said == nil {
		t.said = map[string]bool{}
	}
	t.said[kind] = true
	t.tell(err)
}

// went takes note of how far shipping is.
func (t *trouble) went(shipped, committed uint64) {
	now := time.Now()
	t.since = time.Time{}
	switch {
	case shipped >= committed, shipped >= t.mark:
		// While traffic passes there is always something that was committed a moment ago.
		if (shipped >= committed || !t.before && now.Sub(t.marked) < lagOver) && len(t.said) > 0 {
			t.said = nil
			t.tell(nil)
		}
		t.mark, t.marked, t.before = committed, now, false
	case now.Sub(t.marked) > lagPatience:
		t.report(fmt.Errorf("%w: %d steps wait, the oldest for %v", errSlow, committed-shipped,
			now.Sub(t.marked).Round(time.Second)), false)
	}
}

// connection is told what becomes of the connection, by a goroutine of nats.go.
func (s *Shipper) connection(err error) {
	switch {
	case err == nil:
		s.lost.Store(nil)
		select {
		case s.wake <- struct{}{}:
		default:
		}
	case strings.Contains(err.Error(), answerSubject(s.address.stream)): // nobody can ask this recorder how it is
	case errors.Is(err, nats.ErrSlowConsumer): // too many ask at once
	default:
		s.lost.Store(&err)
		if interrupt := s.interrupt.Load(); interrupt != nil {
			(*interrupt)()
		}
	}
}

// reason adds what the connection has said of the cause to an error.
func (s *Shipper) reason(err error) error {
	known := s.lost.Load()
	if known == nil {
		return err
	}
	if errors.Is(*known, nats.ErrPermissionViolation) {
		s.lost.Store(nil)
		return fmt.Errorf("%s does not allow it: %w", s.address, *known)
	}
	if s.conn != nil && s.conn.nats.IsConnected() {
		s.lost.Store(nil)
	}
	return fmt.Errorf("the connection to %s is lost: %w", s.address, *known)
}

// jittered is a pause with up to half of it more or less, by chance.
func jittered(d time.Duration) time.Duration { return d/2 + rand.N(d) }

// isConflict reports whether the server refused a message because another was the last.
func isConflict(err error) bool {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return false
	}
	return api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant || api.ErrorCode == codeDuplicateInProcess
}

const codeDuplicateInProcess jetstream.ErrorCode = 10158

// spoolError is what is returned where the capture, and not the server, is the trouble.
func spoolError(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	return fmt.Errorf("%w: %w", errSpool, err)
}
