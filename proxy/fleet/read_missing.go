package fleet

import (
	"cmp"
	"context"
	"maps"
	"time"

	"github.com/google/uuid"
)

// askAll asks all recorders of the stream how they are, as often as those need that do not answer at once, takes up what
// they say is missing, and returns the mirrors of those that are there, or that nobody can be asked.
func (r *Reader) askAll(ctx context.Context) (alive map[*mirror]bool, denied bool, err error) {
	var said map[uuid.UUID]*Answer
	for range unanswered {
		round := time.After(askPatience)
		var again map[uuid.UUID]*Answer
		again, denied, err = r.answers(ctx)
		if said == nil {
			said = again
		}
		maps.Copy(said, again)
		if err != nil || denied || !r.waitsFor(said) {
			break
		}
		select {
		case <-round:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
	alive = make(map[*mirror]bool)
	for _, a := range said {
		m, unknown := r.mirrorOf(ctx, a)
		if m == nil {
			continue
		}
		m.answered(a, unknown && r.options.Since.IsZero())
		if a.Recorder.Live {
			alive[m] = true
		}
	}
	return alive, denied, err
}

// answers asks the recorders that are read how they are.
func (r *Reader) answers(ctx context.Context) (said map[uuid.UUID]*Answer, denied bool, err error) {
	said = make(map[uuid.UUID]*Answer)
	err = r.conn.ask(ctx, func(a *Answer, _, _ time.Time) bool {
		other := said[a.Recorder.Capture]
		switch {
		case !r.wants(a.Recorder.Host):
		case other == nil:
			said[a.Recorder.Capture] = a
		default: // somebody ships the file of a recorder that goes on
			other.Recorder.Live = other.Recorder.Live || a.Recorder.Live
			other.Recorder.grow(&a.Recorder)
			other.Shipped, other.Error = max(other.Shipped, a.Shipped), cmp.Or(other.Error, a.Error)
		}
		return len(said) < maxAnswers
	})
	denied, err = r.denied(err)
	return said, denied, err
}

// waitsFor reports whether a recorder that has not ended has not answered, or one that answers has not come to shipping.
func (r *Reader) waitsFor(said map[uuid.UUID]*Answer) bool {
	for _, m := range r.found() {
		if m.lives() && said[m.id()] == nil {
			return true
		}
	}
	for _, a := range said {
		if a.Recorder.Live && a.Recorder.Committed > 0 && a.Shipped == 0 && a.Error == "" {
			return true
		}
	}
	return false
}

// maxAnswers bounds how many recorders are listened to: anybody can answer.
const maxAnswers = 10_000

// mirrorOf returns the mirror of a recorder that answers, and whether nothing of it was read. It is nil if nothing of
// it is missing: it has recorded nothing, or all is in the stream, and older than what is read or later.
func (r *Reader) mirrorOf(ctx context.Context, a *Answer) (m *mirror, unknown bool) {
	r.mu.Lock()
	m = r.mirrors[a.Recorder.Capture]
	r.mu.Unlock()
	if m != nil || a.Recorder.Committed == 0 {
		return m, false
	}
	shipping := a.Error == "" && a.Shipped > 0
	if !r.options.Since.IsZero() && shipping && a.Shipped >= a.Recorder.Committed {
		return nil, false
	}
	if shipping && r.began(ctx, a) {
		return nil, false
	}
	m, _ = r.mirror(&Message{Recorder: a.Recorder})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.presence.appears()
	if !r.options.Since.IsZero() {
		m.next = a.Shipped + 1
	}
	return m, true
}

// began reports whether a recorder has shipped what came after the last message that is read.
func (r *Reader) began(ctx context.Context, a *Answer) bool {
	last, err := r.conn.lastMessage(ctx, a.Recorder.Subject(r.conn.address.stream))
	return err == nil && last != nil && last.Sequence > r.until
}

// Ask asks all recorders how they are, for who follows, and tells of each that is new, as Follow does: of one that
// cannot ship, nothing else may ever be read. It reports whether more may come: because a recorder is there, or what the
// stream has was not taken yet. Ask is for the goroutine of Lives.
func (r *Reader) Ask(ctx context.Context, found func(Recorded)) (more bool) {
	said, denied, err := r.answers(ctx)
	if err != nil {
		return true
	}
	for _, a := range said {
		more = more || a.Recorder.Live
		if a.Recorder.Committed == 0 {
			continue
		}
		if !r.options.Since.IsZero() && a.Error == "" && a.Shipped >= a.Recorder.Committed {
			continue // if any of it is asked for, it comes
		}
		if r.awaited >= maxAwaited && !r.knows(a) {
			continue
		}
		m, fresh := r.mirror(&Message{Recorder: a.Recorder})
		if m.host() != a.Recorder.Host {
			continue // a copy
		}
		m.mu.Lock()
		m.recorder.grow(&a.Recorder)
		m.shipped = max(m.shipped, a.Shipped)
		m.mu.Unlock()
		r.complains(a)
		if fresh != nil {
			m.presence.appears()
			r.awaited++
			found(fresh.recorded())
		}
	}
	return more && !denied || !r.caught.Load()
}

// maxAwaited bounds how many recorders are taken up that have only answered, which anybody can do.
const maxAwaited = 1000

func (r *Reader) knows(a *Answer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mirrors[a.Recorder.Capture] != nil
}

// maxUnread bounds how many captures are made up for subjects whose messages cannot be read.
const maxUnread = 20

// spoil takes note that a message on a subject cannot be read. If nothing that can be follows it there, it is a gap of
// the capture whose subject it is. It returns the mirror of that, if it is new.
func (r *Reader) spoil(subject string) (found *mirror) {
	host, id, ok := ofCapture(subject)
	if !ok {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.mirrors[id]
	if m == nil || hostToken(m.host()) != host {
		m = r.unread[subject]
	}
	if m == nil && len(r.unread) < maxUnread {
		m = newMirror(r.spool, r.options.Since, r.tell, &r.held)
		m.recorder = Recorder{Host: nameOf(host), Name: id.String()}
		r.unread[subject] = m
		r.order = append(r.order, m)
		found = m
	}
	if m != nil {
		m.spoil()
	}
	return found
}
