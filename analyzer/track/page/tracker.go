// Package page tracks the pages of lists of tasks by the tokens that lead from one to the next.
package page

import (
	"hash/maphash"
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/recent"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// maxPages bounds the tokens of further pages that are remembered. What goes beyond is forgotten, least recently used
// first.
const maxPages = 10_000

// Tracker remembers the pages that agents have led to.
var Tracker = &analyzer.Tracker{
	Name:  "page",
	Doc:   "the pages of lists of tasks, and the tokens that lead on from them",
	Needs: []*analyzer.Tracker{task.Tracker},
	On:    analyzer.RequestRead | analyzer.AnswerDone | analyzer.ExchangeDone,
	New: func(s *analyzer.Setup) analyzer.State {
		return &Memory{
			tasks:        s.State(task.Tracker).(*task.Memory),
			pages:        recent.New[uint64, *page](maxPages),
			seed:         maphash.MakeSeed(),
			from:         analyzer.NewSlot[*page](s),
			unknownToken: analyzer.NewSlot[bool](s),
		}
	},
}

// Of returns what is remembered of pages.
func Of(p *analyzer.Pass) *Memory { return p.State(Tracker).(*Memory) }

// Memory is what is remembered of pages.
type Memory struct {
	tasks        *task.Memory
	pages        *recent.Map[uint64, *page] // by the token that leads on
	seed         maphash.Seed
	missed       bool // an answer that may lead to a further page was not read
	from         analyzer.Slot[*page]
	unknownToken analyzer.Slot[bool]
}

// A page is what is known of a page of tasks by the token that leads on from it.
type page struct {
	agent, tenant string
	tasks         uint64          // digest of the ids on this page; 0 if it has none
	filter        uint64          // of the request
	oldest        time.Time       // the earliest timestamp on this page and those before it; zero if there was none
	place         analyzer.Place  // of the task that has it
	first         analyzer.Moment // when the exchange began that asked for the first page
}

// continues reports whether a page is of the list of which p is.
func (p *page) continues(next *page) bool {
	return p.agent == next.agent && p.tenant == next.tenant && p.filter == next.filter
}

// Take implements analyzer.State.
func (m *Memory) Take(p *analyzer.Pass) {
	x := p.Exchange
	switch {
	case p.Kind == analyzer.ExchangeDone:
		if unread(x) {
			m.missed = true
		}
	case x.Call.Operation != a2a.ListTasks:
	case p.Kind == analyzer.RequestRead:
		m.asked(p)
	case p.Event == nil: // of AnswerDone: a list is no stream
		m.answered(p.Observation)
	}
}

// Forgotten implements analyzer.State. Pages are not counted.
func (m *Memory) Forgotten() int { return 0 }

// asked notes which page a request for a list of tasks goes on from. If no answer in the whole recording has led to it,
// and none that is under way can, the request is marked.
func (m *Memory) asked(p *analyzer.Pass) {
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
func (m *Memory) complete(p *analyzer.Pass) bool {
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

// unread reports whether an exchange may have led to a further page, or may yet, and what it said was not read.
func unread(x *analyzer.Exchange) bool {
	return x.Call.Batch != nil || x.Call.Operation == a2a.ListTasks && (!x.Ended || x.Cut)
}

// UnknownToken reports whether a request asks for a page by a token that no agent gave anybody in the recording.
func (m *Memory) UnknownToken(x *analyzer.Exchange) bool { return m.unknownToken.Of(x) }

// answered remembers where the page at hand leads.
func (m *Memory) answered(o *analyzer.Observation) {
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

// Repeated reports whether the page at hand, which a token has led to, is the one that gave the token: with the same
// tasks and the same token. Tasks that move while somebody turns pages may come again, but then the token is another.
func (m *Memory) Repeated(x *analyzer.Exchange, list *a2a.Payload) bool {
	last := m.from.Of(x)
	return last != nil && last.tasks != 0 && last.agent == x.Agent && last.tenant == x.Tenant &&
		list.Value.Get("nextPageToken").Is(x.Call.PageToken) && m.idsOf(list) == last.tasks
}

// idsOf returns a number for the tasks of a page, by their ids and order; 0 if there are none.
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

// Misplaced returns the place of a task on an earlier page that a task on the page at hand, with this timestamp, should
// have stood before: the timestamp had been seen before the first page was asked for, so that nothing has changed it in
// between.
func (m *Memory) Misplaced(x *analyzer.Exchange, taskID string, at time.Time) (analyzer.Place, bool) {
	last := m.from.Of(x)
	if last == nil || last.oldest.IsZero() {
		return analyzer.Place{}, false
	}
	if !last.continues(&page{agent: x.Agent, tenant: x.Tenant, filter: m.filterOf(x)}) {
		return analyzer.Place{}, false
	}
	t := m.tasks.Get(x, taskID)
	if t == nil {
		return analyzer.Place{}, false
	}
	stamped, same := t.StampedWith(at)
	if !same || !last.oldest.Truncate(time.Second).Before(at.Truncate(time.Second)) {
		return analyzer.Place{}, false
	}
	asked := analyzer.Exchange{Opened: last.first.Arrival, Started: last.first.At}
	return last.place, asked.BeganAfter(stamped)
}

// filterOf returns a number for what a list is restricted to.
func (m *Memory) filterOf(x *analyzer.Exchange) uint64 {
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
