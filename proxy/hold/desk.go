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

// A Want is what is to be held: messages of an exchange that matches, as far as that has come.
type Want struct {
	Requests, Answers bool

	// Match reports whether a whole message is held. Its exchange has the request as the agent is to get it and, if the
	// message is an answer, that. It is called by several goroutines.
	Match func(*capture.Exchange) bool
	// May reports whether the answer to a request may be held, whatever it is; nil is always.
	May func(*capture.Exchange) bool
}

// A State is what a Desk has, and what it could not hold.
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
	room   *budget.Share  // that the message takes
	decide func(decision) // is called once at most, without the lock, and returns at once
}

// A decision is what becomes of a message. The zero decision lets it go as it is.
type decision struct {
	drop bool
	full bool   // there is no room for it any more
	wire []byte // what goes on in its place; nil is the message itself
	what string // was changed, for people
}

// ErrGone is returned for a message that is not held any more.
var ErrGone = errors.New("it is not held any more")

// NewDesk returns a desk that wants nothing.
func NewDesk() *Desk {
	return &Desk{changed: make(chan struct{}, 1), room: budget.NewPool(budget.DeskBytes)}
}

// takeRoom takes n bytes of the room for a message. Where there are not as many, the oldest messages that are held go on. It
// reports false if that does not help, so that the message is not held.
func (d *Desk) takeRoom(room *budget.Share, n int) bool {
	for !room.Take(n) {
		d.mu.Lock()
		if len(d.held) == 0 || d.held[0].room == room {
			d.mu.Unlock()
			d.Pass(noRoom)
			return false
		}
		it := d.held[0]
		d.held = slices.Delete(d.held, 0, 1)
		d.mu.Unlock()
		d.Pass(noRoom)
		it.room.Close()
		it.decide(decision{full: true})
		d.tell()
	}
	return true
}

// Set says what is to be held from now on; nil is nothing. What is held already is let go.
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

// Close lets go all that is held. Nothing is held any more.
func (d *Desk) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.Set(nil)
}

// State returns what is held now.
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

// LetGo lets a message go as it is, or returns ErrGone.
func (d *Desk) LetGo(id uint64) error { return d.decide(id, decision{}) }

// Drop takes a message away, and breaks the client's connection off; or it returns ErrGone.
func (d *Desk) Drop(id uint64) error { return d.decide(id, decision{drop: true}) }

// Replace lets a message go with another head, which ends with its blank line, and another body; the framing is made for
// it. It returns ErrGone, or what is wrong with them.
func (d *Desk) Replace(id uint64, head, body []byte) error {
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
	return d.decide(id, decision{wire: wire, what: changes(&m, head, body)})
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
	d.tell()
	return it
}

// leave takes a message off the desk without a decision.
func (d *Desk) leave(it *item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.held, it); i >= 0 {
		d.held = slices.Delete(d.held, i, i+1)
		d.tell()
	}
}

// agentLeft notes that the agent has closed the connection on which a message would go on.
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
