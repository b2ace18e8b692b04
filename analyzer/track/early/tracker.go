// Package early tracks agents' behavior that is judged only if they use the protocol before 0.1 was published, which a
// much later call may show.
package early

import (
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/address"
	"a2atap/analyzer/internal/digest"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// Tracker observes the traits of agents from before 0.1 as soon as their version is known: at once if it was known
// before, so that the order of calls does not matter.
var Tracker = &analysis.Tracker{
	Name:  "early",
	Doc:   "behavior of agents that matters only before 0.1, until a call shows whether they are that old",
	Needs: []*analysis.Tracker{card.Tracker, task.Tracker},
	On:    analysis.RequestDone | analysis.CardSeen | analysis.TaskSeen | analysis.AnswerDone,
	Makes: analysis.EarlySeen,
	New: func(s *analysis.Setup) analysis.State {
		return &Memory{
			cards:   s.State(card.Tracker).(*card.Memory),
			tasks:   s.State(task.Tracker).(*task.Memory),
			agents:  recent.New[string, *agent](maxAgents),
			refused: analysis.RecentByTask[*refusal](maxRefused),
		}
	},
}

// Bounds of memory. Anything beyond is forgotten, and not reported.
const (
	maxAgents  = 500
	maxWaiting = 8 // traits of an agent that may be one of 0.1 as it was written down
	maxCards   = 4 // different ones of an agent
	maxRefused = 1_000
)

// A Trait is the subject of an EarlySeen. One of Card, History, Webhook and Cancel is set.
type Trait struct {
	Shown   analysis.Place // of the answer that shows how old the agent is
	Card    *a2a.Card      // that does not surely show it by itself
	History *int64         // entries that a client was given of the history of a completed task: it asked for more than one
	Webhook *a2a.Error     // that a webhook without TLS was refused with
	Cancel  *Cancel
}

// A Cancel is the refused cancellation of a task that was at work afterwards.
type Cancel struct {
	Refusal string
	Task    analysis.TaskObservation // as it was seen afterwards
}

// Of returns the trait that an EarlySeen is about.
func Of(p *analysis.Pass) *Trait { return p.Detail.(*Trait) }

// Memory remembers agents that may be from before 0.1.
type Memory struct {
	cards   *card.Memory
	tasks   *task.Memory
	agents  *recent.Map[string, *agent] // by address of the interface
	refused *recent.Map[analysis.TaskKey, *refusal]
}

// An agent has known facts about one interface.
type agent struct {
	shown   analysis.Place // the evidence that it is from before 0.1; the zero Place until found
	waiting []analysis.Observation
	cards   []digest.Digest // that were reported, or wait
}

// A refusal is a cancellation that was refused because the task could not be canceled.
type refusal struct {
	by   *analysis.Brief
	at   analysis.Place
	text string
	over analysis.Moment
}

// Take implements analysis.State.
func (m *Memory) Take(p *analysis.Pass) {
	x := p.Exchange
	switch p.Kind {
	case analysis.RequestDone:
		if x.Call.Operation.Sends() && x.Call.TaskID != "" && m.refused.Len() > 0 {
			m.refused.Put(x.TaskKey(x.Call.TaskID), nil) // it may be taken up again
		}
	case analysis.CardSeen:
		m.card(p)
	case analysis.TaskSeen:
		m.seen(p)
	case analysis.AnswerDone:
		if x.Endpoint != nil && x.Dialects.Has(a2a.V0_1) {
			m.answered(p)
			m.settle(p)
		}
	}
}

// Forgotten implements analysis.State: what waits for an agent to show its age is not counted.
func (m *Memory) Forgotten() int { return 0 }

func (m *Memory) at(address string) *agent {
	a, ok := m.agents.Get(address)
	if !ok {
		a = &agent{}
		m.agents.Put(address, a)
	}
	return a
}

// tell observes a trait of the agent at an address, now or when its age is known.
func (m *Memory) tell(p *analysis.Pass, a *agent, x *analysis.Exchange, at analysis.Place, t Trait) {
	o := analysis.Observation{
		Kind: analysis.EarlySeen, Exchange: x, Dialects: a2a.Of(a2a.V0_1), Place: at, Card: t.Card, Detail: &t,
		Arrival: p.Arrival, At: p.At,
	}
	switch {
	case a.shown != (analysis.Place{}):
		t.Shown = a.shown
		p.Observe(o)
	case len(a.waiting) < maxWaiting:
		a.waiting = append(a.waiting, o)
	}
}

// settle records evidence that an agent is from before 0.1, and reports the traits that waited for it.
func (m *Memory) settle(p *analysis.Pass) {
	if _, ok := p.Succeeded(); !ok || !p.Exchange.Call.Early && !p.Answer.Early {
		return
	}
	a := m.at(p.Exchange.Interface())
	if a.shown != (analysis.Place{}) {
		return
	}
	a.shown = p.Place
	for _, o := range a.waiting {
		o.Detail.(*Trait).Shown = a.shown
		p.Observe(o)
	}
	a.waiting = nil
}

// card records a card that may be from before 0.1 but does not prove it.
func (m *Memory) card(p *analysis.Pass) {
	if !p.Card.Legacy.Has(a2a.V0_1) || p.Card.Modern || p.Card.Legacy == a2a.Of(a2a.V0_1) && p.Card.Early() {
		return
	}
	for _, i := range p.Card.Interfaces {
		a := m.at(address.Of(i.URL))
		d := digest.Empty.Bytes(p.Card.Raw())
		if i.Binding != a2a.JSONRPC || slices.Contains(a.cards, d) || len(a.cards) == maxCards {
			continue
		}
		a.cards = append(a.cards, d)
		m.tell(p, a, p.Exchange.WithoutBodies(), p.Place, Trait{Card: p.Card})
		return
	}
}

// answered records the contents of an answer that may be of 0.1.
func (m *Memory) answered(p *analysis.Pass) {
	x, failure := p.Exchange, p.Answer.Err
	tell := func(at string, t Trait) { m.tell(p, m.at(x.Interface()), x.Keep().Exchange(), p.Place.At(at), t) }
	switch {
	case failure == nil:
		t := a2a.Task{Value: p.Answer.Payload.Value}
		if x.Call.Operation == a2a.GetTask && x.Call.HistoryLength > 1 && p.Answer.Payload.Kind == a2a.TaskPayload &&
			t.State() == a2a.Completed && m.promisesHistory(x) {
			n := int64(t.Get("history").Len())
			tell(p.Answer.Payload.Pointer, Trait{History: &n})
		}
	case x.Call.Operation == a2a.CreatePushConfig && failure.CodeKnown &&
		strings.HasPrefix(x.Call.PushConfig.URL(), "http:"):
		kept := *failure
		kept.Value = a2a.Value{}
		tell(failure.Pointer, Trait{Webhook: &kept})
	case x.Call.Operation == a2a.CancelTask && failure.Name == a2a.TaskNotCancelable && x.Call.TaskID != "" &&
		m.tasks.EndedBefore(x) == nil:
		m.refused.Put(x.TaskKey(x.Call.TaskID), &refusal{
			by: x.Keep(), at: p.Place.At(failure.Pointer), text: failure.String(), over: p.Moment(),
		})
	}
}

func (m *Memory) promisesHistory(x *analysis.Exchange) bool {
	return slices.ContainsFunc(m.cards.Before(x), func(c *card.Card) bool {
		flag, _ := c.Get("capabilities").Get("stateTransitionHistory").Bool()
		return flag
	})
}

// seen records an observation of a task that works after its cancellation was refused.
func (m *Memory) seen(p *analysis.Pass) {
	if m.refused.Len() == 0 || p.Task.Late || p.Task.State.Terminal() || !p.Task.State.Known() {
		return
	}
	key := p.Exchange.TaskKey(p.Task.TaskID)
	r, _ := m.refused.Get(key)
	if r == nil || !p.Exchange.BeganAfter(r.over) {
		return
	}
	m.refused.Put(key, nil)
	x := r.by.Exchange()
	m.tell(p, m.at(x.Interface()), x, r.at, Trait{Cancel: &Cancel{r.text, *p.Task}})
}
