package fleet

import (
	"cmp"
	"context"
	"maps"
	"time"

	"github.com/google/uuid"
)

// askAll asks all recorders of the stream for their state, repeatedly if they are slow to answer, and records what they
// report as missing. It returns the mirrors of reachable recorders, or that asking is not permitted.
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

// answers asks the wanted recorders for their state.
func (r *Reader) answers(ctx context.Context) (said map[uuid.UUID]*Answer, denied bool, err error) {
	said = make(map[uuid.UUID]*Answer)
	err = r.conn.ask(ctx, func(a *Answer, _, _ time.Time) bool {
		other := said[a.Recorder.Capture]
		switch {
		case !r.wants(a.Recorder.Host):
		case other == nil:
			said[a.Recorder.Capture] = a
		default: // another program ships the file of a running recorder
			other.Recorder.Live = other.Recorder.Live || a.Recorder.Live
			other.Recorder.grow(&a.Recorder)
			other.Shipped, other.Error = max(other.Shipped, a.Shipped), cmp.Or(other.Error, a.Error)
		}
		return len(said) < maxAnswers
	})
	denied, err = r.denied(err)
	return said, denied, err
}

// waitsFor reports whether an unfinished recorder has not answered, or one that answers has not started shipping.
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

// maxAnswers bounds the number of answers, since anyone can answer.
const maxAnswers = 10_000

// mirrorOf returns the mirror of a recorder that answers, and whether nothing was read from it. It returns nil if
// nothing is missing: the recorder has recorded nothing, or all of it is in the stream outside the wanted range.
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

// began reports whether a recorder has shipped anything after the last message that was read.
func (r *Reader) began(ctx context.Context, a *Answer) bool {
	last, err := r.conn.lastMessage(ctx, a.Recorder.Subject(r.conn.address.stream))
	return err == nil && last != nil && last.Sequence > r.until
}

// Ask asks all recorders for their state while Follow runs, and calls found with each new one, since nothing may ever
// be read from a recorder that cannot ship. It reports whether more may come: a recorder is reachable, or the stream
// has unread messages. Call Ask from the goroutine of Lives.
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
			continue // wanted messages will be read
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

// maxAwaited bounds the recorders that have only answered, since anyone can answer.
const maxAwaited = 1000

func (r *Reader) knows(a *Answer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mirrors[a.Recorder.Capture] != nil
}

// maxUnread bounds the placeholder captures for subjects with unreadable messages.
const maxUnread = 20

// spoil records an unreadable message on a subject. Unless a readable message follows, it is a gap in the subject's
// capture. It returns that capture's mirror if it is new.
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
