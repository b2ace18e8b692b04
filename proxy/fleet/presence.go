package fleet

import (
	"sync"
	"time"
)

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

const (
	quiet      = 10 * time.Second // after which a recorder is asked whether it is there
	unanswered = 3                // times that it does not answer, and it is not
	comesBack  = 10 * time.Second // for how long at least: it may come back to a server later than we do
	lasting    = time.Minute      // after which what it may have recorded since is missing, where nothing else says so
)
