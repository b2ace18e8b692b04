// Package page tracks the pages of lists of tasks by the tokens that lead from one to the next.
package page

import (
	"hash/maphash"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// maxPages bounds the remembered tokens of further pages; the least recently used ones are forgotten.
const maxPages = 10_000

// Tracker remembers the pages that agents have led to.
var Tracker = &analysis.Tracker{
	Name:  "page",
	Doc:   "the pages of task lists, and their tokens for the next page",
	Needs: []*analysis.Tracker{task.Tracker},
	On:    analysis.RequestRead | analysis.AnswerDone | analysis.ExchangeDone,
	New: func(s *analysis.Setup) analysis.State {
		return &Memory{
			tasks:        s.State(task.Tracker).(*task.Memory),
			pages:        recent.New[uint64, *page](maxPages),
			seed:         maphash.MakeSeed(),
			from:         analysis.NewSlot[*page](s),
			unknownToken: analysis.NewSlot[bool](s),
		}
	},
}

// Of returns the Memory of pages.
func Of(p *analysis.Pass) *Memory { return p.State(Tracker).(*Memory) }

// Memory remembers pages.
type Memory struct {
	tasks        *task.Memory
	pages        *recent.Map[uint64, *page] // by the token that leads on
	seed         maphash.Seed
	missed       bool // an answer that may lead to a further page was not read
	from         analysis.Slot[*page]
	unknownToken analysis.Slot[bool]
}

// A page has known facts about a page of tasks, under the token for the next page.
type page struct {
	agent, tenant string
	tasks         uint64          // digest of the ids on this page; 0 if it has none
	filter        uint64          // of the request
	oldest        time.Time       // the earliest timestamp on this page and those before it; zero if there was none
	place         analysis.Place  // of the task that has it
	first         analysis.Moment // when the exchange began that asked for the first page
}

// continues reports whether a page belongs to the same list as p.
func (p *page) continues(next *page) bool {
	return p.agent == next.agent && p.tenant == next.tenant && p.filter == next.filter
}

// Take implements analysis.State.
func (m *Memory) Take(p *analysis.Pass) {
	x := p.Exchange
	switch {
	case p.Kind == analysis.ExchangeDone:
		if unread(x) {
			m.missed = true
		}
	case x.Call.Operation != a2a.ListTasks:
	case p.Kind == analysis.RequestRead:
		m.asked(p)
	case p.Event == nil: // of AnswerDone: a list is no stream
		m.answered(p.Observation)
	}
}

// Forgotten implements analysis.State. Pages are not counted.
func (m *Memory) Forgotten() int { return 0 }

// asked notes the page that a request for a list of tasks continues. It marks the request if no answer in the whole
// recording has given the token, and no pending answer can.
func (m *Memory) asked(p *analysis.Pass) {
	x := p.Exchange
	if x.Call.PageToken == "" {
		return
	}
	if known, ok := m.pages.Get(m.hash(x.Call.PageToken)); ok {
		m.from.Put(x, known)
	} else if m.complete(p) {
		m.unknownToken.Put(x, true)
	}
}

// complete reports whether all tokens that agents gave are known.
func (m *Memory) complete(p *analysis.Pass) bool {
	if p.RequestMissed() || m.missed || m.pages.Forgotten() > 0 || p.Lost() > 0 {
		return false
	}
	for other := range p.Open() {
		if other != p.Exchange && (!other.Asked || unread(other)) {
			return false
		}
	}
	return true
}

// unread reports whether an exchange may have given the token of a further page, or may yet, in an answer that was not
// read.
func unread(x *analysis.Exchange) bool {
	return x.Call.Batch != nil || x.Call.Operation == a2a.ListTasks && (!x.Ended || x.Cut)
}

// UnknownToken reports whether a request has a page token that no agent sent in the recording.
func (m *Memory) UnknownToken(x *analysis.Exchange) bool { return m.unknownToken.Of(x) }

// answered remembers the token of the page after the current one.
func (m *Memory) answered(o *analysis.Observation) {
	x, list := o.Exchange, &o.Answer.Payload
	token := list.Value.Get("nextPageToken").Text()
	if list.Kind != a2a.TaskListPayload || token == "" {
		return
	}
	now := &page{agent: x.Agent, tenant: x.Tenant, filter: m.filterOf(x), tasks: m.idsOf(list), first: x.Began()}
	if last := m.from.Of(x); last != nil && last.continues(now) {
		now.first, now.oldest, now.place = last.first, last.oldest, last.place
	}
	for t := range list.Tasks() {
		if at, ok := t.Time(); ok && (now.oldest.IsZero() || at.Before(now.oldest)) {
			now.oldest, now.place = at, o.Place.At(t.Pointer())
		}
	}
	m.pages.Put(m.hash(token), now)
}

// Repeated reports whether the current page, requested with a token, equals the page that gave the token: same tasks
// and same token. Tasks that move during paging may come again, but then the token differs.
func (m *Memory) Repeated(x *analysis.Exchange, list *a2a.Payload) bool {
	last := m.from.Of(x)
	return last != nil && last.tasks != 0 && last.agent == x.Agent && last.tenant == x.Tenant &&
		list.Value.Get("nextPageToken").Is(x.Call.PageToken) && m.idsOf(list) == last.tasks
}

// idsOf returns a hash of the ids and order of a page's tasks; 0 if it has none.
func (m *Memory) idsOf(list *a2a.Payload) uint64 {
	var h maphash.Hash
	h.SetSeed(m.seed)
	n := 0
	for t := range list.Tasks() {
		h.WriteString(t.ID()) //nolint:errcheck // a hash takes everything
		h.WriteByte(0)        //nolint:errcheck // the same
		n++
	}
	if n == 0 {
		return 0
	}
	return max(h.Sum64(), 1)
}

// Misplaced returns the place of a task on an earlier page that should have come after a task on the current page, with
// this timestamp. It counts only if the timestamp had been seen before the request for the first page, so that it has
// not changed in between.
func (m *Memory) Misplaced(x *analysis.Exchange, taskID string, at time.Time) (analysis.Place, bool) {
	last := m.from.Of(x)
	if last == nil || last.oldest.IsZero() {
		return analysis.Place{}, false
	}
	if !last.continues(&page{agent: x.Agent, tenant: x.Tenant, filter: m.filterOf(x)}) {
		return analysis.Place{}, false
	}
	t := m.tasks.Get(x, taskID)
	if t == nil {
		return analysis.Place{}, false
	}
	stamped, same := t.StampedWith(at)
	if !same || !last.oldest.Truncate(time.Second).Before(at.Truncate(time.Second)) {
		return analysis.Place{}, false
	}
	asked := analysis.Exchange{Opened: last.first.Arrival, Started: last.first.At}
	return last.place, asked.BeganAfter(stamped)
}

// filterOf returns a hash of a list's filter.
func (m *Memory) filterOf(x *analysis.Exchange) uint64 {
	var h maphash.Hash
	h.SetSeed(m.seed)
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
func (m *Memory) hash(text string) uint64 { return maphash.String(m.seed, text) }
