package analyzer

import (
	"hash/maphash"
	"time"

	"a2atap/proxy/a2a"
)

// maxPages bounds the tokens of further pages that are remembered.
const maxPages = 20_000

// A page is what is known of a page of tasks by the token that leads on from it.
type page struct {
	agent, tenant string
	filter        uint64    // of the request
	oldest        time.Time // the earliest timestamp on this page and those before it; zero if there was none
	place         Place     // of the task that has it
	opened        uint64    // arrival number of the opening of the exchange that asked for the first page
	started       time.Time // when that was
}

// asksPage notes which page a request for a list of tasks goes on from. If no answer in the whole recording has led to it,
// and none that is under way can, the request is marked.
func (e *Engine) asksPage(in *intake) {
	x := in.x
	if x.Call.Operation != a2a.ListTasks || x.Call.PageToken == "" {
		return
	}
	known, ok := e.session.pages.get(e.session.hash(x.Call.PageToken))
	x.page, x.StrayPage = known, !ok && e.pagesComplete(in)
}

// pagesComplete reports whether all tokens that agents gave are known.
func (e *Engine) pagesComplete(in *intake) bool {
	s := e.session
	if s.blind || s.pagesMissed || s.pages.forgotten > 0 || e.counts.Lost > 0 {
		return false
	}
	for _, other := range e.open {
		if other != in && (!other.asked || other.x.Call.Operation == a2a.ListTasks && !other.ended) {
			return false
		}
	}
	return true
}

// missesPage notes that an answer which may have led to a further page was not read.
func (s *Session) missesPage(in *intake) {
	call := &in.x.Call
	if call.Batch != nil || call.Operation == a2a.ListTasks && (!in.ended || in.x.Cut) {
		s.pagesMissed = true
	}
}

// paged remembers where the page at hand leads.
func (s *Session) paged(o *Observation) {
	x, list := o.Exchange, &o.Answer.Payload
	token := list.Value.Get("nextPageToken").Text()
	if x.Call.Operation != a2a.ListTasks || list.Kind != a2a.TaskListPayload || token == "" {
		return
	}
	p := &page{agent: x.agent, tenant: x.tenant, filter: s.filterOf(x), opened: x.Opened, started: x.Started}
	if last := x.page; last != nil && last.agent == p.agent && last.tenant == p.tenant && last.filter == p.filter {
		p.opened, p.started, p.oldest, p.place = last.opened, last.started, last.oldest, last.place
	}
	for t := range list.Tasks() {
		if at, ok := t.Time(); ok && (p.oldest.IsZero() || at.Before(p.oldest)) {
			p.oldest, p.place = at, o.Place.At(t.Pointer())
		}
	}
	s.pages.put(s.hash(token), p)
}

// Misplaced returns the place of a task on an earlier page that a task on the page at hand, with this timestamp, should
// have stood before: the timestamp had been seen before the first page was asked for, so that nothing has changed it in
// between.
func (s *Session) Misplaced(x *Exchange, taskID string, at time.Time) (Place, bool) {
	first := x.page
	if first == nil || first.oldest.IsZero() || first.agent != x.agent || first.tenant != x.tenant || first.filter != s.filterOf(x) {
		return Place{}, false
	}
	t := s.TaskOf(x, taskID)
	if t == nil || !t.stamp.Equal(at) || !first.oldest.Truncate(time.Second).Before(at.Truncate(time.Second)) {
		return Place{}, false
	}
	asked := Exchange{Opened: first.opened, Started: first.started}
	return first.place, asked.BeganAfter(t.stamped)
}

// filterOf returns a number for what a list is restricted to.
func (s *Session) filterOf(x *Exchange) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	for _, name := range [...]string{"contextId", "status", "statusTimestampAfter"} {
		text := x.Call.Params.Get(name).Text()
		if x.Call.Binding == a2a.HTTPJSON {
			text, _ = x.Call.QueryValue(name)
		}
		h.WriteString(text) //nolint:errcheck // a hash takes everything
		h.WriteByte(0)      //nolint:errcheck // the same
	}
	return h.Sum64()
}

// hash returns a number for a text that is not to be kept.
func (s *Session) hash(text string) uint64 { return maphash.String(s.seed, text) }

// dated remembers when a timestamp of the task was seen first.
func (t *Task) dated(seen *Sighting) {
	if !seen.Stamp.IsZero() && !seen.Stamp.Equal(t.stamp) {
		t.stamp, t.stamped = seen.Stamp, Moment{seen.Arrival, seen.At}
	}
}
