package h2

import (
	"sync"
)

// lowCredit is the minimum credit of a sender while a body is held, since the sender may need more to complete it.
const lowCredit = 16 << 10

// initialCredit is the initial flow-control window of a connection: RFC 9113 section 6.9.2.
const initialCredit = 1<<16 - 1

// maxWindow is the largest window of a receiver: RFC 9113 section 6.9.1.
const maxWindow = 1<<31 - 1

// A credit is the number of bytes of DATA that one end may send to the other on the whole connection: RFC 9113 section
// 5.2. Usually the receiver's WINDOW_UPDATE goes to the sender, and both counts agree. They differ if a body is held,
// changed or created here. Then the relay grants the sender the missing credit, and deducts any excess from the
// receiver's next credit.
type credit struct {
	mu       sync.Mutex
	changed  sync.Cond
	sender   int64 // what the sender may send, by its own count
	receiver int64 // what the receiver takes
	initial  int64 // what the receiver takes on a new stream
	pending  int64 // bytes of bodies that have come and not gone
	held     int   // bodies that are held until they are complete
	bodies   map[uint32]*body
	turns    turns
	over     bool // nothing will change any more
	flushing bool // what bodies may send is about to be sent

	grant func(stream uint32, n int64) // sends credit to the sender
}

func (k *credit) init(grant func(stream uint32, n int64)) {
	k.changed.L = &k.mu
	k.sender, k.receiver, k.initial = initialCredit, initialCredit, initialCredit
	k.bodies = make(map[uint32]*body)
	k.grant = grant
}

// passes counts DATA that passes unmodified. If the relay has granted the sender more than the receiver accepts, passes
// waits until there is room.
func (k *credit) passes(n int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for n > k.receiver && k.sender > k.receiver && !k.over {
		k.changed.Wait()
	}
	k.sender -= n
	k.receiver -= n
}

// mustWait reports whether passes would wait.
func (k *credit) mustWait(n int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return n > k.receiver && k.sender > k.receiver && !k.over
}

// stays counts received DATA that is dropped or delayed. The data is pending only if a body has it.
func (k *credit) stays(n int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sender -= n
	k.settle()
}

// made counts the relay's own DATA.
func (k *credit) made(n int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.receiver -= n
}

// room returns how much of the relay's own DATA a new stream accepts now.
func (k *credit) room() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return min(k.receiver, k.initial)
}

// settle grants the sender the credit that it lacks. The lock is held.
func (k *credit) settle() {
	due := k.receiver - k.pending
	if k.held > 0 {
		due = max(due, lowCredit)
	}
	if n := due - k.sender; n > 0 {
		k.sender += n
		k.grant(0, n)
	}
}

// allowed notes that the receiver accepts n more bytes, and returns how many of them go to the sender.
func (k *credit) allowed(n int64) int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	debt := max(0, k.sender-k.receiver)
	k.receiver += n
	n = max(0, n-debt)
	k.sender += n
	k.changed.Broadcast()
	return n
}

// setInitial notes how much the receiver accepts on each stream from now on: RFC 9113 section 6.9.2.
func (k *credit) setInitial(n int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, b := range k.bodies {
		b.receiver += n - k.initial
		b.sender += n - k.initial
		k.allow(b)
	}
	k.initial = n
}

// newBody returns the body of a stream. The lock is held.
func (k *credit) newBody(s *stream, bare bool) *body {
	allowed := k.initial
	if !k.turns.kept { // for the answer; the client may have granted more since its request
		allowed += s.early.Load()
	}
	return &body{stream: s, receiver: allowed, sender: allowed, bare: bare}
}

// atFirst returns how much the receiver accepts on a new stream, or on the connection for stream 0.
func (k *credit) atFirst(stream uint32) int64 {
	if stream == 0 {
		return initialCredit
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.initial
}

// letDeliver lets the sender of a delivery begin. Its receiver is not the one that has announced the window of each
// stream.
func (k *credit) letDeliver(stream uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := initialCredit - k.initial; n > 0 {
		k.grant(stream, n)
	}
}

// end wakes all waiting goroutines; from then on, none waits.
func (k *credit) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	k.changed.Broadcast()
}
