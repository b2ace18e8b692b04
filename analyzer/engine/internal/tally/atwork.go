package tally

import (
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// Bounds of memory: tasks on a link, and messages that wait for an answer.
const (
	maxTasks   = 64
	maxSending = 4096
)

// atWork tracks when tasks were at work, as far as the traffic shows it: from the message that began the work until the
// task was last seen at work, or ended in the answer to that message.
type atWork struct {
	clock   uint64                   // counts events
	sending map[uint64]uint64        // when messages that wait for their answer were sent, by exchange
	tasks   map[analysis.Link][]*job // the newest ones, oldest first
}

// A job is the work on one task.
type job struct {
	task         string
	begun, last  uint64    // by the clock; last is 0 if the task was not seen at work
	first, ended time.Time // of its statuses: the first active one, and the newest; zero if unknown
	rests        bool      // it has ended, or waits for the client
	counted      bool
}

// meets reports whether two tasks were at work in parallel, by the order of observations or by the agent's timestamps.
func (j *job) meets(k *job) bool {
	if j.last > k.begun && k.last > j.begun {
		return true
	}
	return !j.first.IsZero() && !k.first.IsZero() && j.ended.After(k.first) && k.ended.After(j.first)
}

// sends reports whether an exchange sends a message.
func sends(x *analysis.Exchange) bool {
	return x.Call.Operation == a2a.SendMessage || x.Call.Operation == a2a.SendStreamingMessage
}

// Asked records that a request has been read.
func (w *atWork) Asked(x *analysis.Exchange) {
	w.clock++
	if !sends(x) || len(w.sending) == maxSending {
		return
	}
	if w.sending == nil {
		w.sending = make(map[uint64]uint64)
	}
	w.sending[x.Seq] = w.clock
}

// Ended records that an exchange has ended.
func (w *atWork) Ended(exchange uint64) { delete(w.sending, exchange) }

// seen records that a task was seen in a state. It returns how many more tasks are now known to have been at work while
// another task on the same link was.
func (w *atWork) seen(x *analysis.Exchange, seen *analysis.TaskObservation) int {
	w.clock++
	works := seen.State.Active() || seen.Event && !seen.State.Known()
	rests := seen.State.Terminal() || seen.State.Interrupted()
	if seen.Late || !works && !rests || x.Call.Operation == a2a.Webhook {
		return 0
	}
	j := w.job(x.Link, seen.TaskID)
	if j == nil {
		return 0
	}
	if begun, sent := w.sending[x.Seq]; sent && (j.begun == 0 || j.rests && works) {
		j.begun, j.first = begun, time.Time{}
	}
	if j.begun == 0 {
		j.begun = w.clock
	}
	if works && j.first.IsZero() {
		j.first = seen.Stamp
	}
	if !j.rests && seen.Stamp.After(j.ended) {
		j.ended = seen.Stamp
	}
	if works || !j.rests && (sends(x) || seen.Event) {
		j.last = w.clock
	}
	j.rests = rests
	more := 0
	for _, other := range w.tasks[x.Link] {
		if other == j || !j.meets(other) {
			continue
		}
		for _, one := range []*job{j, other} {
			if !one.counted {
				one.counted = true
				more++
			}
		}
	}
	return more
}

// job returns the work on a task, nil if too many links are tracked.
func (w *atWork) job(link analysis.Link, task string) *job {
	list, known := w.tasks[link]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].task == task {
			return list[i]
		}
	}
	if !known && len(w.tasks) == maxLinks {
		return nil
	}
	if w.tasks == nil {
		w.tasks = make(map[analysis.Link][]*job)
	}
	if len(list) == maxTasks {
		list = append(list[:0], list[1:]...)
	}
	j := &job{task: task}
	w.tasks[link] = append(list, j)
	return j
}
