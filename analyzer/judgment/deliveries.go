package judgment

import (
	"cmp"
	"net/http"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/summary"
)

// deliveries tracks which notifications failed. A notification that its receiver accepts at any time has not failed:
// agents repeat refused notifications, and receivers may refuse duplicates. A notification that is never accepted
// counts as failed for each attempt. The zero deliveries are empty.
type deliveries struct {
	accepted *recent.Map[notification, bool]
	refused  map[notification][]FailedCalls // each attempt
	attempts int                            // in refused
	others   failures                       // attempts beyond maxSent, whose repetitions are not recognized
	taken    map[analysis.Link]int          // how many were accepted
}

// A notification identifies a notification across its repetitions.
type notification struct {
	link               analysis.Link
	host, target, task string
	state              string
	text               string
	size               int64
}

func notificationOf(s *summary.Summary) notification {
	return notification{s.Link, s.Host, s.Target, s.Task, s.State.String(), s.Text, s.RequestSize}
}

// take records a notification that has ended.
func (d *deliveries) take(s *summary.Summary) {
	if !s.Outcome.Known() {
		return
	}
	if d.accepted == nil {
		d.accepted = recent.New[notification, bool](maxSent)
		d.refused, d.taken = make(map[notification][]FailedCalls), make(map[analysis.Link]int)
	}
	n := notificationOf(s)
	if s.Outcome.Succeeded {
		d.accepted.Put(n, true)
		d.attempts -= len(d.refused[n])
		delete(d.refused, n)
		if _, known := d.taken[s.Link]; known || len(d.taken) < maxReceivers {
			d.taken[s.Link]++
		}
		return
	}
	if _, before := d.accepted.Get(n); before {
		return
	}
	f := FailedCalls{
		Exchange: s.Seq, Link: s.Link, Binding: s.Binding, Operation: s.Operation.String(),
		Error: s.Outcome.Failure, Text: cmp.Or(s.FailureText(), http.StatusText(s.Status)), Count: 1,
	}
	if d.attempts == maxSent {
		d.others.add(f)
		return
	}
	d.attempts++
	d.refused[n] = append(d.refused[n], f)
}

// failed returns the attempts to send notifications that were never accepted, in their order.
func (d *deliveries) failed() []FailedCalls {
	list := slices.Clone(d.others.list)
	for _, attempts := range d.refused {
		list = append(list, attempts...)
	}
	slices.SortFunc(list, func(a, b FailedCalls) int { return cmp.Compare(a.Exchange, b.Exchange) })
	return list
}

// calls returns the counts of the links on which notifications failed. Links whose notifications were all accepted are
// not counted as calls.
func (d *deliveries) calls() []Calls {
	var list []Calls
	seen := make(map[analysis.Link]bool)
	for _, f := range d.failed() {
		list = append(list, Calls{Link: f.Link, Made: f.Count, Failed: f.Count, Failures: map[string]int{f.Error: f.Count}})
		if n := d.taken[f.Link]; n > 0 && !seen[f.Link] {
			list = append(list, Calls{Link: f.Link, Made: n, Succeeded: n})
		}
		seen[f.Link] = true
	}
	return list
}
