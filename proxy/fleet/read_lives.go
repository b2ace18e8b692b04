package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
)

// End declares that no more will be read. It asks which recordings continue. For the others, and for recorders that
// report why they cannot ship, it turns committed but unshipped steps into a gap. A recorder that answers but has
// nothing in the stream becomes a capture that consists of a gap.
func (r *Reader) End(ctx context.Context) error {
	alive, denied, err := r.askAll(ctx)
	if err != nil {
		return err
	}
	for _, m := range r.found() {
		switch {
		case alive[m], denied && m.lives():
		case m.lives():
			r.tell(m.silence())
			m.end(true)
		default:
			m.end(false)
		}
	}
	r.Release()
	return nil
}

// Release ends the captures of ended recordings for their readers while Follow continues. Before Release each may still
// continue, because its recorder can be restarted.
func (r *Reader) Release() {
	mirrors := r.found()
	for _, m := range mirrors {
		m.abandon()
	}
	r.held.Store(false)
	for _, m := range mirrors {
		m.mu.Lock()
		m.wake()
		m.mu.Unlock()
	}
}

// Abandon reports recorders that Lives has given up and that have been silent for a while, as Release does, to readers
// that never stop. A recorder that returns continues after that. Call Abandon from the goroutine of Lives.
func (r *Reader) Abandon() {
	for _, m := range r.found() {
		if m.presence.silentFor() > lasting {
			m.abandon()
		}
	}
}

// Lives reports whether any recording continues, while Follow runs. It asks recorders that have been silent for a
// while; one that does not answer counts as ended until it returns. Call Lives from one goroutine only.
func (r *Reader) Lives(ctx context.Context) bool {
	live := false
	var silent []*mirror
	for _, m := range r.found() {
		switch {
		case m.isEnded():
		case m.complete():
			m.end(false)
		case m.presence.silentFor() < quiet:
			live = true
		default:
			silent = append(silent, m)
		}
	}
	if len(silent) == 0 {
		return live
	}
	var alive map[*mirror]bool
	err := nats.ErrDisconnected
	if r.conn.nats.IsConnected() {
		alive, err = r.alive(ctx, silent)
	}
	for _, m := range silent {
		switch {
		case err != nil:
			m.presence.excuse()
			live = true
		case alive[m]:
			m.presence.answers()
			live = true
		case m.lives() && m.presence.mayAnswer():
			live = true
		default:
			if m.lives() {
				r.tell(m.silence())
			}
			m.end(m.lives())
		}
	}
	return live
}

// alive asks which of the recorders that have not ended are reachable.
func (r *Reader) alive(ctx context.Context, mirrors []*mirror) (map[*mirror]bool, error) {
	waiting := make(map[uuid.UUID]*mirror)
	for _, m := range mirrors {
		if m.lives() {
			waiting[m.id()] = m
		}
	}
	alive := make(map[*mirror]bool)
	if len(waiting) == 0 {
		return alive, nil
	}
	err := r.conn.ask(ctx, func(a *Answer, _, _ time.Time) bool {
		if m := waiting[a.Recorder.Capture]; m != nil && a.Recorder.Live {
			r.complains(a)
			alive[m] = true
			delete(waiting, a.Recorder.Capture)
		}
		return len(waiting) > 0
	})
	denied, err := r.denied(err)
	if denied { // then no recorder can be called unreachable
		for _, m := range waiting {
			alive[m] = true
		}
	}
	return alive, err
}

// complains reports once what prevents a recorder from shipping.
func (r *Reader) complains(a *Answer) {
	if a.Error != "" {
		r.once("kept "+a.Recorder.Capture.String(), fmt.Sprintf("%s (%s) cannot ship what it records: %s", a.Recorder.Host,
			a.Recorder.Name, nameOf(a.Error)))
	}
}

// denied reports whether the server does not permit this user to ask. It prints a notice about that and drops the
// error.
func (r *Reader) denied(err error) (bool, error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return false, err
	}
	r.once("asking", fmt.Sprintf("it is unknown which recorders are live: %v", err))
	return true, nil
}
