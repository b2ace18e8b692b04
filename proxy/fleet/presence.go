package fleet

import (
	"sync"
	"time"
)

// A presence tracks whether a recorder is reachable.
type presence struct {
	mu     sync.Mutex
	heard  time.Time // when the latest of its messages was stored
	came   time.Time // when that message was read, or of a later answer
	silent int       // unanswered questions since the recorder was last reachable
	asked  time.Time // time of the first unanswered question; zero if it has answered
}

// message notes that a message was read, and when the server had stored it.
func (p *presence) message(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard, p.came, p.silent, p.asked = at, time.Now(), 0, time.Time{}
}

// appears notes that the recorder exists although none of its messages can be read.
func (p *presence) appears() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = time.Now()
	p.came = p.heard
}

// last returns when the latest message was stored, and when it was read or the recorder last answered.
func (p *presence) last() (heard, came time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heard, p.came
}

// silentFor returns the time since the recorder's last message or answer.
func (p *presence) silentFor() time.Duration {
	_, came := p.last()
	return time.Since(came)
}

// answers notes that the recorder has answered.
func (p *presence) answers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.came, p.silent, p.asked = time.Now(), 0, time.Time{}
}

// excuse notes that the recorder cannot be asked, and resets the time without an answer.
func (p *presence) excuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if since := time.Now().Add(-quiet); p.came.Before(since) {
		p.came = since
	}
	p.silent, p.asked = 0, time.Time{}
}

// mayAnswer records that the recorder has not answered, and reports whether it may still do so.
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
	quiet      = 10 * time.Second // after which a recorder is asked for its state
	unanswered = 3                // unanswered questions after which a recorder counts as gone
	comesBack  = 10 * time.Second // at least: it may reconnect to a server later than this process
	lasting    = time.Minute      // after which its later recording counts as missing, without evidence to the contrary
)
