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

// errUncertain means that the stream's contents must be queried again. Users do not see it.
var errUncertain = errors.New("another message was the last one")

// Kinds of trouble. Each is reported once.
var (
	errSpool = errors.New("the capture cannot be read")
	errSlow  = errors.New("shipping falls behind")
	errSmall = errors.New("the messages of this server are too small")
	errAhead = errors.New("the stream has more of this capture than the file")
)

// kindOf returns the kind of an error; errors of one kind are reported once.
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

// isLasting reports whether only a person can resolve an error.
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

// troublePatience is how long an established connection may be away before that is reported. A restarted server, or a
// cluster that elects a leader, is back by then.
const troublePatience = 3 * time.Second

// lagPatience is the age of unshipped steps from which a Shipper counts as behind.
const lagPatience = 10 * time.Second

// lagOver is the maximum age of the newest shipped step when trouble counts as over.
const lagOver = time.Second

// A trouble reports each kind of trouble once, until it is over. Only Run's goroutine uses it.
type trouble struct {
	tell  func(error) // may be nil
	since time.Time   // of the first unreported error
	said  map[string]bool

	mark   uint64 // a step that was committed
	marked time.Time
	before bool // something went wrong after the mark: reaching it does not end the trouble
}

// report reports an error. If the server was reachable before, an error that may resolve itself is reported later.
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

// went notes how far shipping is.
func (t *trouble) went(shipped, committed uint64) {
	now := time.Now()
	t.since = time.Time{}
	switch {
	case shipped >= committed, shipped >= t.mark:
		// While traffic passes, some step was always committed just now.
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

// connection receives changes of the connection, on a goroutine of nats.go.
func (s *Shipper) connection(err error) {
	switch {
	case err == nil:
		s.lost.Store(nil)
		select {
		case s.wake <- struct{}{}:
		default:
		}
	case strings.Contains(err.Error(), answerSubject(s.address.stream)): // no one can ask for this recorder's state
	case errors.Is(err, nats.ErrSlowConsumer): // too many clients ask at the same time
	default:
		s.lost.Store(&err)
		if interrupt := s.interrupt.Load(); interrupt != nil {
			(*interrupt)()
		}
	}
}

// reason adds the connection's explanation to an error.
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

// jittered returns a random duration between half and one and a half times d.
func jittered(d time.Duration) time.Duration { return d/2 + rand.N(d) }

// isConflict reports whether the server refused a message because the subject's last message is not the expected one.
func isConflict(err error) bool {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return false
	}
	return api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant || api.ErrorCode == codeDuplicateInProcess
}

const codeDuplicateInProcess jetstream.ErrorCode = 10158

// spoolError wraps an error of the capture, as opposed to the server's.
func spoolError(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	return fmt.Errorf("%w: %w", errSpool, err)
}
