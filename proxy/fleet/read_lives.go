package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
)

// End says that no more will be read: recordings that go on and those that nobody continues are told apart by asking,
// and what was committed and not shipped is a gap of those that have ended, and of those that say what keeps them from
// it. Of a recorder that answers, and of which the stream has nothing, Recorded has a capture that is a gap.
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

// Release lets recordings that have ended end for those who read them, where Follow goes on. Until then each may go on:
// its recorder can be started again.
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

// Abandon says of recorders that Lives has given up, and that were not heard of for a while, what Release says of them:
// for who reads on forever. One that is heard of again goes on behind that. Abandon is for the goroutine of Lives.
func (r *Reader) Abandon() {
	for _, m := range r.found() {
		if m.presence.silentFor() > lasting {
			m.abandon()
		}
	}
}

// Lives reports whether any recording goes on, while Follow does. Those that were not heard of for a while are asked.
// One that does not answer is taken for ended, until it is heard of again. Lives is for one goroutine.
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

// alive asks which of the recorders that have not ended are there.
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
	if denied { // then nobody can say that one is not there
		for _, m := range waiting {
			alive[m] = true
		}
	}
	return alive, err
}

// complains says once what keeps a recorder from shipping.
func (r *Reader) complains(a *Answer) {
	if a.Error != "" {
		r.once("kept "+a.Recorder.Capture.String(), fmt.Sprintf("%s (%s) cannot ship what it records: %s", a.Recorder.Host,
			a.Recorder.Name, nameOf(a.Error)))
	}
}

// denied reports whether an error of asking says that the server does not let this user ask. That is told, and is not
// an error.
func (r *Reader) denied(err error) (bool, error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return false, err
	}
	r.once("asking", fmt.Sprintf("whether recorders are there cannot be asked: %v", err))
	return true, nil
}
