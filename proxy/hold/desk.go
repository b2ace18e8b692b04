package hold

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/proxy/budget"
	"a2atap/proxy/capture"
)

// A Want selects the messages to hold: those of exchanges that match, as far as they have been received.
type Want struct {
	Requests, Answers bool

	// Match reports whether to hold a complete message. Its exchange has the request as the agent will get it and, if
	// the message is an answer, the answer. It is called by several goroutines.
	Match func(*capture.Exchange) bool
	// May reports whether any answer to a request may be held; nil means always.
	May func(*capture.Exchange) bool
}

// A State has the messages that a Desk holds, and reasons why others were not held.
type State struct {
	Held   []Message // in the order in which they came
	Passed []string  // why messages passed that were wanted, each reason once
}

// A Desk has the messages that are held. It may be used by several goroutines.
type Desk struct {
	want    atomic.Pointer[Want]
	changed chan struct{}
	room    *budget.Pool // for all messages that are held, or may be

	mu     sync.Mutex
	last   uint64
	held   []*item
	passed []string
	closed bool
}

// An item is a message that waits for a decision.
type item struct {
	Message
	room   *budget.Share  // that the message uses, until its receiver has it or will not get it
	decide func(decision) // is called once at most, without the lock, and returns at once
}

// A decision determines what happens to a message. The zero decision releases it unmodified.
type decision struct {
	drop bool
	full bool   // there is no room for it any more
	wire []byte // what is sent instead; nil means the message itself
	what string // was changed, for people

	rewrites []capture.Rewrite // the changes, without secrets
}

// ErrGone is returned for a message that is not held any more.
var ErrGone = errors.New("the message is no longer held")

// NewDesk returns a desk that wants nothing.
func NewDesk() *Desk {
	return &Desk{changed: make(chan struct{}, 1), room: budget.HeldRoom}
}

// letGoFor releases a message, because others need its room.
func (d *Desk) letGoFor(id uint64) {
	d.Pass(noRoom)
	d.decide(id, decision{full: true}) //nolint:errcheck // it continues already
}

// Set sets which messages to hold from now on; nil means none. It releases the held messages.
func (d *Desk) Set(w *Want) {
	d.mu.Lock()
	if d.closed {
		w = nil
	}
	d.want.Store(w)
	held := d.held
	d.held, d.passed = nil, nil
	d.mu.Unlock()
	for _, it := range held {
		it.decide(decision{})
	}
	d.tell()
}

// Close releases all held messages. From then on, nothing is held.
func (d *Desk) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.Set(nil)
}

// State returns the current State.
func (d *Desk) State() State {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := State{Passed: slices.Clone(d.passed)}
	for _, it := range d.held {
		s.Held = append(s.Held, it.Message)
	}
	return s
}

// Changed yields a value when the state has changed since a value was read last.
func (d *Desk) Changed() <-chan struct{} { return d.changed }

// LetGo releases a message unmodified, or returns ErrGone.
func (d *Desk) LetGo(id uint64) error { return d.decide(id, decision{}) }

// Drop discards a message, and breaks the client's connection; or it returns ErrGone.
func (d *Desk) Drop(id uint64) error { return d.decide(id, decision{drop: true}) }

// Replace releases a message with another head, which includes its blank line, and another body; it adapts the framing.
// The record gets the changes, which must not contain secrets. Replace returns ErrGone, or an error about head and body.
func (d *Desk) Replace(id uint64, head, body []byte, rewrites ...capture.Rewrite) error {
	d.mu.Lock()
	i := d.index(id)
	if i < 0 {
		d.mu.Unlock()
		return ErrGone
	}
	m := d.held[i].Message
	d.mu.Unlock()
	wire, err := framed(head, body, m.Answer)
	if err != nil {
		return err
	}
	return d.decide(id, decision{wire: wire, what: changes(&m, head, body), rewrites: rewrites})
}

func (d *Desk) index(id uint64) int {
	return slices.IndexFunc(d.held, func(it *item) bool { return it.ID == id })
}

func (d *Desk) decide(id uint64, what decision) error {
	d.mu.Lock()
	i := d.index(id)
	if i < 0 {
		d.mu.Unlock()
		return ErrGone
	}
	it := d.held[i]
	d.held = slices.Delete(d.held, i, i+1)
	d.mu.Unlock()
	it.decide(what)
	d.tell()
	return nil
}

// take begins to hold a message, if that is still wanted. It returns nil if it is not.
func (d *Desk) take(w *Want, m Message, room *budget.Share, decide func(decision)) *item {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.want.Load() != w {
		return nil
	}
	d.last++
	m.ID, m.Since = d.last, time.Now()
	it := &item{m, room, decide}
	d.held = append(d.held, it)
	room.Offer(func() { d.letGoFor(m.ID) })
	d.tell()
	return it
}

// leave removes a message from the desk without a decision.
func (d *Desk) leave(it *item) {
	it.room.Withdraw()
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.held, it); i >= 0 {
		d.held = slices.Delete(d.held, i, i+1)
		d.tell()
	}
}

// agentLeft notes that the agent has closed the connection on which a message would continue.
func (d *Desk) agentLeft(it *item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	it.AgentLeft = true
	d.tell()
}

// Pass notes why a message passes that may be wanted.
func (d *Desk) Pass(why string) {
	if d.want.Load() == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.want.Load() != nil && !slices.Contains(d.passed, why) {
		d.passed = append(d.passed, why)
		d.tell()
	}
}

func (d *Desk) tell() {
	select {
	case d.changed <- struct{}{}:
	default:
	}
}
