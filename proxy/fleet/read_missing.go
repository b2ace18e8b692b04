package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"a2atap/proxy/capture"
)

// askAll asks all recorders of the stream how they are, takes up what they say is missing, and returns the mirrors of
// those that are there, or that nobody can be asked.
func (r *Reader) askAll(ctx context.Context) (alive map[*mirror]bool, denied bool, err error) {
	var said []*Answer
	err = r.conn.ask(ctx, func(a *Answer, _, _ time.Time) bool {
		at := slices.IndexFunc(said, func(s *Answer) bool { return s.Recorder.Capture == a.Recorder.Capture })
		switch {
		case !r.wants(a.Recorder.Host):
		case at < 0:
			said = append(said, a)
		default: // somebody ships the file of a recorder that goes on
			live := said[at].Recorder.Live || a.Recorder.Live
			said[at].Recorder.grow(&a.Recorder)
			said[at].Recorder.Live = live
			said[at].Shipped, said[at].Error = max(said[at].Shipped, a.Shipped), cmp.Or(said[at].Error, a.Error)
		}
		return len(said) < maxAnswers
	})
	alive = make(map[*mirror]bool)
	for _, a := range said {
		m, unknown := r.mirrorOf(a)
		if m == nil {
			continue
		}
		m.answered(a, unknown && r.options.Since.IsZero())
		if a.Recorder.Live {
			alive[m] = true
		}
	}
	denied, err = r.denied(err)
	return alive, denied, err
}

// maxAnswers bounds how many recorders are listened to: anybody can answer.
const maxAnswers = 10_000

// mirrorOf returns the mirror of a recorder that answers, and whether nothing of it was read. It is nil if nothing of
// it is missing: it has recorded nothing, or all is in the stream and older than what is read.
func (r *Reader) mirrorOf(a *Answer) (m *mirror, unknown bool) {
	r.mu.Lock()
	m = r.mirrors[a.Recorder.Capture]
	r.mu.Unlock()
	older := !r.options.Since.IsZero() && a.Error == "" && a.Shipped >= a.Recorder.Committed
	if m != nil || a.Recorder.Committed == 0 || older {
		return m, false
	}
	m, _ = r.mirror(&Message{Recorder: a.Recorder})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heard = time.Now()
	if !r.options.Since.IsZero() {
		m.next = a.Shipped + 1
	}
	return m, true
}

// answered takes note of what a recorder says of itself. That a recorder is behind is nothing missing, unless it says
// what keeps it from shipping, or nothing of it is there at all.
func (m *mirror) answered(a *Answer, nothing bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recorder.grow(&a.Recorder)
	from, last := max(m.next, 1), a.Recorder.Committed
	if last < from || !nothing && a.Error == "" {
		return
	}
	why := fmt.Sprintf("steps %d to %d of %s are not in the stream", from, last, m.title())
	if a.Error != "" {
		why += ", since it cannot ship them: " + nameOf(a.Error)
	}
	m.lose(from, capture.Lost{Reason: why})
	m.notice(why)
	m.next = last + 1
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

func (m *mirror) host() string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.recorder.Host
}

func (m *mirror) spoil() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heard, m.came = time.Now(), time.Now()
	if !m.spoiled {
		m.spoilt, m.ended = true, false
	}
}

// mend takes back what spoil has noted: what came after it can be read.
func (m *mirror) mend() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spoilt = false
}

// sayRest says what could not be said as it came: that the last messages cannot be read, and how much else was missing.
func (m *mirror) sayRest() {
	if m.spoilt {
		m.spoilt, m.spoiled = false, true
		m.lose(max(m.next, 1), capture.Lost{
			Reason: "messages of " + m.title() + " cannot be read: they are damaged, or none of a recorder",
		})
	}
	if m.damages > 1 {
		m.notice(fmt.Sprintf("%s: %d blocks are damaged in all", m.title(), m.damages))
	}
	if m.gaps > 1 {
		m.notice(fmt.Sprintf("%s: %d gaps in all", m.title(), m.gaps))
	}
	m.damages, m.gaps = 0, 0
}
