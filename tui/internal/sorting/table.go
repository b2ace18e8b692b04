// Package sorting stores the values that sorting and grouping need of each exchange of a capture. It arranges exchanges
// in an order, and under headings that fold.
//
// A Table takes 25 bytes for each exchange, and for each different id of a task or a context its text and up to 19
// bytes. An Arrangement takes 8 bytes for each exchange of the capture and 72 for each heading. It maps positions to
// exchanges and back in constant time, regardless of size and folds.
package sorting

import (
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Facts are the values of an exchange in a Table.
type Facts struct {
	Started time.Time     // zero if unknown
	Took    time.Duration // capture.NotKnown if it has not ended
	Size    int64         // bytes of the bodies on the wire
	Task    string        // id of the one task that it is about, if known; else empty
	Context string        // the same
	State   a2a.State     // that the task was in last
	Failed  bool          // with a fault, an error of the protocol or of HTTP
}

// A Table has facts about the exchanges of a capture, in columns. The zero Table is empty. Use it from one goroutine at
// a time; results of Arrange do not refer to it.
type Table struct {
	started   []int64   // nanoseconds since 1970
	took      []float32 // nanoseconds; negative if not known
	size      []float32
	task      []uint32 // numbers of ids; 0 for none
	context   []uint32
	state     []uint8 // and failed
	tasks     ids
	contexts  ids
	contextOf []uint32 // of each task, by its number: what an exchange said that named both
}

// failedBit is the bit of state that marks a failed exchange.
const failedBit = 0x80

// Len returns the highest number of an exchange that was put.
func (r *Table) Len() uint64 { return uint64(len(r.state)) }

// Put stores an exchange, replacing earlier facts. Numbers count from 1.
func (r *Table) Put(seq uint64, x Facts) {
	if seq == 0 {
		return
	}
	r.reach(int(seq))
	i := seq - 1
	r.started[i] = 0
	if !x.Started.IsZero() {
		r.started[i] = x.Started.UnixNano()
	}
	r.took[i], r.size[i] = float32(x.Took), float32(x.Size)
	r.task[i], r.context[i] = r.tasks.number(x.Task), r.contexts.number(x.Context)
	r.state[i] = uint8(x.State)
	if x.Failed {
		r.state[i] |= failedBit
	}
	if t, c := r.task[i], r.context[i]; t > 0 && c > 0 {
		for len(r.contextOf) <= int(t) {
			r.contextOf = append(r.contextOf, 0)
		}
		if r.contextOf[t] == 0 {
			r.contextOf[t] = c
		}
	}
}

// reach makes room for so many exchanges. Nothing is known of those that are not put.
func (r *Table) reach(n int) {
	for len(r.state) < n {
		r.started = append(r.started, 0)
		r.took = append(r.took, float32(capture.NotKnown))
		r.size = append(r.size, 0)
		r.task, r.context = append(r.task, 0), append(r.context, 0)
		r.state = append(r.state, 0)
	}
}

// group returns the context and the task of an exchange. What only says its task is in that task's context.
func (r *Table) group(seq uint32) (context, task uint32) {
	task, context = r.task[seq-1], r.context[seq-1]
	if context == 0 && int(task) < len(r.contextOf) {
		context = r.contextOf[task]
	}
	return context, task
}

// stateOf returns the state that an exchange shows, and whether the exchange has failed.
func (r *Table) stateOf(seq uint32) (a2a.State, bool) {
	v := r.state[seq-1]
	return a2a.State(v &^ failedBit), v&failedBit != 0
}

// ended returns when an exchange was over, in nanoseconds since 1970; when it began if that is not known.
func (r *Table) ended(seq uint32) int64 {
	return r.started[seq-1] + int64(max(r.took[seq-1], 0))
}
