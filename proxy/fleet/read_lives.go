package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"a2atap/proxy/capture"
)

const (
	quiet      = 10 * time.Second // after which a recorder is asked whether it is there
	unanswered = 3                // times that it does not answer, and it is not
	comesBack  = 10 * time.Second // for how long at least: it may come back to a server later than we do
	lasting    = time.Minute      // after which what it may have recorded since is missing, where nothing else says so
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

// abandon says of a recorder that did not say that it has ended, and does not answer, that it may have recorded more,
// and so of a capture that is there in several copies, of which one was read.
func (m *mirror) abandon() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended && m.recorder.Live && !m.abandoned {
		m.abandoned = true
		heard, _ := m.presence.last()
		m.lose(m.next, capture.Lost{
			Reason: m.title() + " has not said that it ended, and does not answer: what it recorded after " +
				heard.UTC().Format(heardFormat) + " is not in the stream",
		})
		m.wake()
	}
	m.sayRest()
	if m.copied != "" && !m.copyLost {
		m.copyLost = true
		m.lose(m.next, capture.Lost{Reason: m.copyText()})
		m.wake()
	}
}

// isCopy reports whether a message is of a copy of the capture that another host ships.
func (m *mirror) isCopy(msg *Message) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if msg.Recorder.Host == m.recorder.Host {
		return false
	}
	if m.copied == "" {
		m.copied = msg.Recorder.Host
		m.notice(m.copyText())
	}
	return true
}

func (m *mirror) copyText() string {
	return fmt.Sprintf("%s is in the stream as of host %s too; that copy is left out, and what may stand in it alone: "+
		"--host %[2]s reads it alone", m.title(), m.copied)
}

// heardFormat is how it is said when a recorder was heard of.
const heardFormat = "2006-01-02 15:04:05 UTC"

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

// denied reports whether an error of asking says that the server does not let this user ask; it is none then.
func (r *Reader) denied(err error) (bool, error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return false, err
	}
	r.once("asking", fmt.Sprintf("whether recorders are there cannot be asked: %v", err))
	return true, nil
}

// found returns the mirrors that have been found so far.
func (r *Reader) found() []*mirror {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.order)
}

func (m *mirror) id() uuid.UUID {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.recorder.Capture
}

func (m *mirror) lives() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.recorder.Live
}

func (m *mirror) isEnded() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.ended
}

// A presence is what is known of whether a recorder is there.
type presence struct {
	mu     sync.Mutex
	heard  time.Time // when the latest of its messages was stored
	came   time.Time // when that was read, or the recorder has answered since
	silent int       // how often the recorder has not answered since it was there
	asked  time.Time // when it did not for the first time; zero if it has
}

// message takes note that a message was read, which was stored at a time.
func (p *presence) message(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard, p.came, p.silent, p.asked = at, time.Now(), 0, time.Time{}
}

// appears takes note that the recorder is there, of which no message can be read.
func (p *presence) appears() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = time.Now()
	p.came = p.heard
}

// last returns when the latest message was stored, and when it was read or the recorder has answered since.
func (p *presence) last() (heard, came time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heard, p.came
}

// silentFor returns how long nothing has come of the recorder.
func (p *presence) silentFor() time.Duration {
	_, came := p.last()
	return time.Since(came)
}

// answers takes note that the recorder is there.
func (p *presence) answers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.came, p.silent, p.asked = time.Now(), 0, time.Time{}
}

// excuse takes note that the recorder cannot be asked: how long it has not answered counts anew.
func (p *presence) excuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if since := time.Now().Add(-quiet); p.came.Before(since) {
		p.came = since
	}
	p.silent, p.asked = 0, time.Time{}
}

// mayAnswer takes note that the recorder has not answered, and reports whether it may yet.
func (p *presence) mayAnswer() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.silent++; p.asked.IsZero() {
		p.asked = time.Now()
	}
	if p.silent < unanswered || time.Since(p.asked) < comesBack {
		return true
	}
	p.silent, p.asked = 0, time.Time{}
	return false
}

func (m *mirror) silence() string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	heard, _ := m.presence.last()
	return fmt.Sprintf("%s does not answer; it was last heard of at %s", m.title(), heard.UTC().Format(heardFormat))
}
