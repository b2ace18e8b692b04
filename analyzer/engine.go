package analyzer

import (
	"slices"

	"a2atap/analyzer/a2a"
	"a2atap/proxy/capture"
)

// An Engine judges one capture. Give it every step in order of arrival, then End. It is for one goroutine.
type Engine struct {
	rules    []*Rule
	dialects []a2a.Dialects      // of each rule
	covers   map[string][]string // rule id → ids that it covers
	session  *Session
	open     map[uint64]*intake
	coverage map[coverageKey]*Coverage
	counts   Counts
	agents   agents
	found    []Finding
	done     []uint64 // exchanges that the step at hand closed
	applied  bool
}

type coverageKey struct {
	rule string
	link Link
}

// Counts says how much was looked at.
type Counts struct {
	Exchanges int   // opened
	Judged    int   // of them, how many at least one rule applied to
	Lost      int64 // exchanges of which nothing was recorded, and exchanges with a hole in them
	Forgotten int   // tasks, endpoints, webhooks and cards dropped to bound memory
	Streams   int   // event streams seen
	Events    int   // events of streams seen
}

// NewEngine returns an engine that runs the rules. They must have passed Validate.
func NewEngine(rules []*Rule) *Engine {
	e := &Engine{
		rules:    rules,
		covers:   make(map[string][]string),
		session:  newSession(),
		open:     make(map[uint64]*intake),
		coverage: make(map[coverageKey]*Coverage),
	}
	for _, r := range rules {
		e.covers[r.ID] = r.Covers
		e.dialects = append(e.dialects, r.Dialects())
	}
	return e
}

// Step takes the next step and returns the findings that it brought, in the order of the rules. The slice is valid
// until the next call.
func (e *Engine) Step(s capture.Step) []Finding {
	e.found = e.found[:0]
	if lost, ok := s.What.(capture.Lost); ok {
		e.counts.Lost += max(lost.Exchanges, 1)
		if in := e.open[s.Seq]; in != nil {
			in.x.Cut = true
		}
		return nil
	}
	if s.Seq == 0 {
		return nil
	}
	e.take(s)
	kept := e.settle()
	for _, seq := range e.done {
		delete(e.open, seq)
	}
	e.done = e.done[:0]
	return kept
}

// End says that no step will come. Live is true if that is only for now, since the recording goes on: then what is open
// is no finding.
func (e *Engine) End(live bool) []Finding {
	e.found = e.found[:0]
	var streams []*Exchange
	for _, in := range e.open {
		if in.x.Stream != nil && !live {
			streams = append(streams, in.x)
		}
	}
	slices.SortFunc(streams, func(a, b *Exchange) int { return int(a.Seq) - int(b.Seq) })
	e.observe(&Observation{Kind: CaptureEnded, Open: streams})
	return e.settle()
}

// Session returns what the traffic has shown so far. It changes with the next step.
func (e *Engine) Session() *Session { return e.session }

// Counts returns how much was looked at so far.
func (e *Engine) Counts() Counts {
	c := e.counts
	c.Forgotten = e.session.Forgotten()
	return c
}

// Coverage returns, for each rule and link, how often the rule applied and was broken: in the order of the rules, then
// of the links.
func (e *Engine) Coverage() []Coverage {
	order := make(map[string]int, len(e.rules))
	for i, r := range e.rules {
		order[r.ID] = i
	}
	list := make([]Coverage, 0, len(e.coverage))
	for _, c := range e.coverage {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Coverage) int {
		if d := order[a.Rule.ID] - order[b.Rule.ID]; d != 0 {
			return d
		}
		return compareLinks(a.Link, b.Link)
	})
	return list
}

// observe runs the rules that want the observation. Findings wait for settle, which knows all of the step.
func (e *Engine) observe(o *Observation) {
	for i, r := range e.rules {
		if r.On&o.Kind == 0 || !holds(r, e.dialects[i], o) {
			continue
		}
		p := Pass{Observation: o, Rule: r, Session: e.session}
		r.Check(&p)
		if !p.applied {
			continue
		}
		e.count(r, o, &p)
		e.found = append(e.found, p.findings...)
	}
}

// holds reports whether the rule can be judged in the observation's dialect and binding.
func holds(r *Rule, dialects a2a.Dialects, o *Observation) bool {
	if o.Kind == CaptureEnded {
		return true
	}
	if !r.Bindings.Has(o.Exchange.Call.Binding) {
		return false
	}
	if o.Kind == CardSeen { // a hybrid card is in several dialects at once, not in one of several
		return o.Card.Holds(dialects)
	}
	return !o.Dialects.Empty() && o.Dialects.Intersect(dialects) == o.Dialects
}

func (e *Engine) count(r *Rule, o *Observation, p *Pass) {
	var link Link
	if o.Exchange != nil {
		link = o.Exchange.Link
	} else if len(p.findings) > 0 {
		link = p.findings[0].Link
	}
	key := coverageKey{r.ID, link}
	c := e.coverage[key]
	if c == nil {
		c = &Coverage{Rule: r, Link: link}
		e.coverage[key] = c
	}
	c.Applied++
	if len(p.findings) > 0 {
		c.Broken++
	}
	e.applied = true
}

// settle merges the findings of one step: a finding that another one covers at its place goes into that one's Also.
func (e *Engine) settle() []Finding {
	if len(e.found) == 0 {
		return nil
	}
	covered := make([]bool, len(e.found))
	for i := range e.found {
		for j := range e.found {
			if i != j && !covered[j] && e.coversFinding(&e.found[i], &e.found[j]) {
				covered[j] = true
				e.found[i].Also = append(e.found[i].Also, e.found[j].Rule.ID)
			}
		}
	}
	var kept []Finding
	for i, f := range e.found {
		if !covered[i] && e.first(&f) {
			kept = append(kept, f)
		}
	}
	return kept
}

// first reports whether the finding is the first of its rule in the rule's scope. The rules that it covers have then had
// their report there too.
func (e *Engine) first(f *Finding) bool {
	in := e.open[f.Place.Exchange]
	if in == nil || f.Rule.Once == Always {
		return true
	}
	reported := &in.reported
	id := f.Rule.ID
	if end := in.x.Endpoint; f.Rule.Once == PerEndpoint && end != nil {
		reported = &end.reported
		id += " " + in.x.Call.Dialects.String()
	}
	if (*reported)[id] {
		return false
	}
	if *reported == nil {
		*reported = make(map[string]bool)
	}
	(*reported)[id] = true
	for _, covered := range f.Also {
		(*reported)[covered] = true
	}
	return true
}

func (e *Engine) coversFinding(f, g *Finding) bool {
	return slices.Contains(e.covers[f.Rule.ID], g.Rule.ID) && f.Place.covers(g.Place)
}

func compareLinks(a, b Link) int {
	switch {
	case a == b:
		return 0
	case a.Client < b.Client, a.Client == b.Client && a.Agent < b.Agent:
		return -1
	}
	return 1
}

// Sightings and cards of other sides use the dialect of the message that brought them.
func dialectsOr(own, fallback a2a.Dialects) a2a.Dialects {
	if own.Empty() {
		return fallback
	}
	if both := own.Intersect(fallback); !both.Empty() {
		return both
	}
	return own
}
