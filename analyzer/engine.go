package analyzer

import (
	"cmp"
	"slices"
	"time"

	"a2atap/analyzer/recent"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// An Engine judges one capture. Give it every step in order of arrival, then End. It is for one goroutine. Tracker says
// in which order rules and trackers see what it observes.
type Engine struct {
	rules     []*Rule
	asks      []asks              // of each rule
	none      asks                // of what is no rule
	dialects  []a2a.Dialects      // of each rule
	covers    map[string][]string // rule id → ids that it covers, directly or through another; nil until it is needed
	wanting   map[aspect][]job    // which rules want an observation, worked out once for each kind of it
	states    []State             // of trackers, in the order in which they take observations
	takers    [64][]State         // by number of the kind, in that order
	asked     []*Tracker          // by options
	given     map[*Tracker][]any  // what options gave
	slots     int                 // of each exchange
	made      []Observation       // by trackers, and not yet observed
	sent      SentMessages        // nil if no tracker knows
	endpoints endpoints
	origins   *recent.Map[string, *onceAt]
	clients   *recent.Map[clientAt, *reported] // what is forgotten here is reported again
	cards     refetched
	shown     *recent.Map[string, *shownCard] // by the address that was asked for it
	open      map[uint64]*intake
	spare     []*intake // for exchanges that open: of those that are over
	held      int       // bytes of bodies of those that are open
	links     linkNames
	tallies   map[Link][]tally // for each link that is counted, one for each rule
	lastLink  Link             // whose tally was asked for last
	lastTally []tally          // nil as long as none was
	counts    Counts
	calls     linkCalls
	onEnded   []func(Summary)
	onEvent   func(PassedEvent) // nil if nobody asked
	onLate    func(uint64, capture.Fact)
	agents    agents
	walker    a2a.Walker
	whole     Observation // of the message at hand
	inner     Observation // of the task or card in it
	part      Observation // of the object in it
	partOf    *intake     // that the object belongs to
	times     []alike     // how often each rule was broken in the step at hand
	found     []Finding
	pass      Pass
	done      uint64    // the exchange that the step at hand closed; 0 if it closed none
	now       time.Time // the latest instant of a step

	evidence    evidence        // of the exchanges of other programs
	lookThrough func() evidence // nil if there is nothing to look through, or it was done

	knowing func(agentURL, target string) a2a.Known // what others know of a URL; nil if nobody does

	watch   *Watch                        // for others to look at what was observed; nil if nobody does
	unsure  map[string]bool               // agents, by name, of whose answers some are not known for faults made here
	faulted *recent.Map[uint64, struct{}] // exchanges with faults in their answers; nil without any

	requestMissed bool // a request was not recorded, or could not be read
}

// A job is a rule as the engine runs it: what it takes to do so stands together.
type job struct {
	check  func(*Pass)
	rule   *Rule
	asks   *asks
	number int // of the rule
}

// A tally counts how often a rule applied and was broken.
type tally struct{ applied, broken int }

// An aspect is all of an observation that decides which rules want it.
type aspect struct {
	kind     Kinds
	binding  a2a.Binding
	dialects a2a.Dialects // of a card those of its face of 0.x
	modern   bool         // a card has the face of 1.0
	card     bool         // it is a card, or looks like one
}

// Counts says how much was looked at.
type Counts struct {
	Exchanges int   // opened
	Judged    int   // of them, how many at least one rule applied to
	Lost      int64 // exchanges of which nothing was recorded, and exchanges with a gap in them
	Forgotten int   // tasks, endpoints, webhooks and cards dropped to bound memory
	Streams   int   // event streams seen
	Events    int   // events of streams seen
	Calls     int   // that are over: see Calls
	Failed    int   // of them, how many failed
	Unseen    int   // upgrades and tunnels: what passed in them was not observed
	Made      int   // exchanges in which the recorder made a fault because it was told to
	Unproved  int   // links with calls of which none is known to have succeeded
}

// NewEngine returns an engine that runs the rules. They must have passed Validate.
func NewEngine(rules []*Rule, options ...EngineOption) *Engine {
	e := &Engine{
		rules:     rules,
		wanting:   make(map[aspect][]job),
		given:     make(map[*Tracker][]any),
		endpoints: newEndpoints(),
		origins:   recent.New[string, *onceAt](maxEndpoints),
		clients:   recent.New[clientAt, *reported](maxEndpoints),
		cards:     newRefetched(),
		shown:     recent.New[string, *shownCard](maxShownCards),
		open:      make(map[uint64]*intake),
		tallies:   make(map[Link][]tally),
		times:     make([]alike, len(rules)),
		dialects:  make([]a2a.Dialects, len(rules)),
	}
	e.pass.engine, e.agents.links, e.calls = e, &e.links, newLinkCalls(&e.links)
	e.walker.Visit = e.visit
	for i, r := range rules {
		e.dialects[i] = r.Dialects()
	}
	for _, option := range options {
		option(e)
	}
	e.start()
	e.watch.show(e)
	return e
}

// Step takes the next step and returns the findings that it brought, in the order of the rules. The slice is valid
// until the next call.
func (e *Engine) Step(s capture.Step) []Finding {
	defer e.watch.begin()()
	e.found = e.found[:0]
	if lost, ok := s.What.(capture.Lost); ok {
		e.lost(s.Seq, lost)
		return nil
	}
	if s.Seq == 0 {
		return nil
	}
	e.step(s)
	kept := e.mergeCovered()
	if e.done != 0 {
		if in := e.open[e.done]; in != nil {
			e.held -= in.size
			*in = intake{}
			e.spare = append(e.spare, in)
		}
		delete(e.open, e.done)
		e.done = 0
	}
	return kept
}

// lost counts what was not recorded. What is known of an exchange with a gap is judged up to the gap only.
func (e *Engine) lost(seq uint64, lost capture.Lost) {
	if in := e.open[seq]; in != nil {
		in.gathered.step(&capture.Step{Seq: seq, Offset: capture.NotKnown, What: lost})
		e.gap(in)
		return
	}
	e.counts.Lost = capture.AddLost(e.counts.Lost, max(lost.Exchanges, 1))
	e.requestMissed = true
}

func (e *Engine) gap(in *intake) {
	if !in.gap {
		in.gap = true
		e.requestMissed = true
		e.counts.Lost = capture.AddLost(e.counts.Lost, 1)
	}
	in.cut()
}

// End says that no step will come. Live is true if that is only for now, since the recording goes on: then what is open
// is no finding.
func (e *Engine) End(live bool) []Finding {
	defer e.watch.begin()()
	e.found = e.found[:0]
	if live {
		e.tellOpen()
		return nil
	}
	streams := make([]*intake, 0, len(e.open))
	for _, in := range e.open {
		if in.x.Stream != nil {
			streams = append(streams, in)
		}
	}
	for _, in := range e.open {
		e.ended(in)
	}
	slices.SortFunc(streams, func(a, b *intake) int { return cmp.Compare(a.x.Seq, b.x.Seq) })
	for _, in := range streams {
		e.streamEnded(in, capture.Step{Offset: capture.NotKnown}, StreamEnd{Open: true, At: e.now})
	}
	e.observe(&intake{judged: true}, &Observation{Kind: CaptureDone, At: e.now})
	return e.mergeCovered()
}

// tellOpen tells who asked which exchanges are open.
func (e *Engine) tellOpen() {
	if len(e.onEnded) == 0 {
		return
	}
	for _, in := range e.open {
		open := in.summary()
		open.Call, open.Outcome = false, Outcome{}
		e.tellEnded(open)
	}
}

// Counts returns how much was looked at so far.
func (e *Engine) Counts() Counts {
	c := e.counts
	c.Forgotten = e.endpoints.forgotten()
	for _, state := range e.states {
		c.Forgotten += state.Forgotten()
	}
	for _, calls := range e.calls.byLink {
		c.Calls, c.Failed = c.Calls+calls.Made, c.Failed+calls.Failed
		if !calls.Proved() {
			c.Unproved++
		}
	}
	return c
}

// Coverage returns, for each rule and link, how often the rule applied and was broken: in the order of the rules, then
// of the links. Rules that never applied on a link are not in it.
func (e *Engine) Coverage() []Coverage {
	links := make([]Link, 0, len(e.tallies))
	for link := range e.tallies {
		links = append(links, link)
	}
	slices.SortFunc(links, Link.compare)
	var list []Coverage
	for i, r := range e.rules {
		for _, link := range links {
			if t := e.tallies[link][i]; t.applied > 0 {
				list = append(list, Coverage{Rule: r, Link: link, Applied: t.applied, Broken: t.broken})
			}
		}
	}
	return list
}

// observe gives an observation to the rules and then to the trackers that want it.
func (e *Engine) observe(in *intake, o *Observation) {
	if o.Kind&forTrackers == 0 {
		e.check(in, o)
	}
	e.take(in, o)
}

// check runs the rules that want the observation. Findings wait for mergeCovered, which knows all of the step.
func (e *Engine) check(in *intake, o *Observation) {
	jobs := e.wanted(o)
	if len(jobs) == 0 {
		return
	}
	var tallies []tally
	p := &e.pass
	p.Observation = o
	for i := range jobs {
		j := &jobs[i]
		p.Rule, p.asks, p.applied = j.rule, j.asks, false
		j.check(p)
		if !p.applied {
			continue
		}
		if !e.mayBlame(in) {
			continue
		}
		broken := len(p.findings) > 0
		if broken {
			e.keep(j.number)
		}
		if tallies == nil {
			tallies = e.tally(o.Exchange.Link)
		}
		tallies[j.number].applied++
		if broken {
			tallies[j.number].broken++
		}
	}
	if tallies != nil && !in.judged {
		in.judged = true
		e.counts.Judged++
	}
}

// maxAlike bounds the findings of one rule and severity in one step: a message may hold a million parts, all wrong
// alike.
const maxAlike = 16

// An alike counts the findings of a rule by severity, up to maxAlike.
type alike [Error + 1]uint8

// keep takes the findings of the pass, by rule number i, and leaves none in it.
func (e *Engine) keep(i int) {
	for _, f := range e.pass.findings {
		if n := &e.times[i][f.Severity]; *n < maxAlike {
			*n++
			e.found = append(e.found, f)
		}
	}
	e.pass.findings = e.pass.findings[:0]
}

// wanted returns the rules that want the observation and can be judged in its dialect and binding.
func (e *Engine) wanted(o *Observation) []job {
	key := aspect{kind: o.Kind, binding: o.Exchange.Call.Binding, dialects: o.Dialects}
	holds := func(i int) bool { return key.dialects.Intersect(e.dialects[i]) == key.dialects }
	if o.Kind == CardSeen || o.Kind == CardVerified { // a hybrid card is in several dialects at once
		key.dialects, key.modern = o.Card.Legacy, o.Card.Modern
		key.card = !o.Card.Shapes.Empty() || o.Card.Holds(a2a.Of(a2a.V0_1, a2a.V0_2, a2a.V0_3, a2a.V1_0))
		holds = func(i int) bool { return o.Card.Holds(e.dialects[i]) }
	} else if o.Dialects.Empty() {
		return nil
	}
	list, known := e.wanting[key]
	if !known {
		list = e.choose(o.Kind, func(i int) bool { return e.rules[i].Bindings.Has(key.binding) && holds(i) })
		e.wanting[key] = list
	}
	return list
}

func (e *Engine) choose(kind Kinds, holds func(rule int) bool) []job {
	var list []job
	for i, r := range e.rules {
		if r.On&kind != 0 && holds(i) {
			list = append(list, job{r.Check, r, &e.asks[i], i})
		}
	}
	return list
}

// tally returns the counts of a link, one entry for each rule.
func (e *Engine) tally(link Link) []tally {
	if e.lastTally != nil && e.lastLink == link {
		return e.lastTally
	}
	counted := e.links.counted(link)
	list, ok := e.tallies[counted]
	if !ok {
		list = make([]tally, len(e.rules))
		e.tallies[counted] = list
	}
	e.lastLink, e.lastTally = link, list
	return list
}
