package engine

import (
	"net/http"
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/digest"
	"a2atap/analyzer/directory"
	"a2atap/analyzer/internal/dispatch"
	"a2atap/analyzer/internal/tally"
	"a2atap/analyzer/recent"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// maxFetched bounds the cards of which it is known what was fetched last.
const maxFetched = 1_000

// maxMarked bounds the findings that may be revised. Those who count findings keep them for that.
const maxMarked = 4_000

// maxLateness is how long before its card an exchange may have begun that is judged by it: over a longer time the agent
// may have become another one.
const maxLateness = time.Hour

// late judges what passed at an agent before its card was known once more when it is, as if the card had been read
// first. It does so twice, with the card and without, and the difference is what the card shows.
//
// A card is not taken for that of an earlier time if anything says that the agent has changed since: it could not be
// reached, the same URL had another card or none, or an hour has passed.
type late struct {
	engine  *Engine
	waiting waiting
	fetched *recent.Map[directory.Key, digest.Digest] // what stands for the last answer to the fetch of each card
	came    *analyzer.Observation                     // the card that the step at hand has brought; nil if none
	twice   map[uint64]*twice                         // by number of an exchange that goes on
	marked  int                                       // findings that may be revised
}

func newLate(e *Engine) *late {
	return &late{
		engine: e, waiting: newWaiting(), fetched: recent.New[directory.Key, digest.Digest](maxFetched),
		twice: make(map[uint64]*twice),
	}
}

// card takes a card that an agent has shown. An extended one is for one client.
func (l *late) card(o *analyzer.Observation) {
	if o.Exchange.Call.Operation == a2a.GetCard {
		kept := *o
		l.came = &kept
	}
}

// mark marks those findings that may be revised when a card comes.
func (l *late) mark(found []analyzer.Finding) {
	for i := range found {
		f := &found[i]
		if l.marked < maxMarked && !f.Rule.Revises && l.waiting.has(f.Link.Agent, f.Place.Exchange) {
			f.Unsettled = true
			l.marked++
		}
	}
}

// step takes a step that the engine has taken, and returns what it shows together with a card that came late.
func (l *late) step(s capture.Step) []analyzer.Finding {
	var found []analyzer.Finding
	c := l.engine.reader.Case(s.Seq)
	if c == nil {
		return nil
	}
	switch what := s.What.(type) {
	case capture.Opened:
		if !a2a.IsCardPath(c.X.Path) && !l.engine.reader.Named(c.X.Address) {
			l.waiting.begin(c.X)
		}
		l.waiting.add(s)
	case capture.Closed:
		found = l.goOn(s)
		l.waiting.add(s)
		l.over(c.X, what.Fault)
	default:
		found = l.goOn(s)
		l.waiting.add(s)
	}
	if l.came != nil {
		found = append(found, l.judge(c, l.came)...)
		l.came = nil
	}
	return found
}

// over takes what the end of an exchange says of its agent.
func (l *late) over(x *analyzer.Exchange, fault *capture.Fault) {
	status := x.Response.Status
	switch {
	case fault != nil && fault.Kind == "unreachable":
		l.waiting.forget(x.Link.Agent)
	case x.Call.Operation == a2a.GetCard && (status == http.StatusNotFound || status == http.StatusGone || status >= 500):
		l.fetched.Put(keyOf(x), 0)
	}
}

func keyOf(x *analyzer.Exchange) directory.Key {
	return directory.Key{URL: x.URL(), Version: x.Call.Version}
}

// judge judges what waited for a card.
func (l *late) judge(c *dispatch.Case, card *analyzer.Observation) []analyzer.Finding {
	key := keyOf(c.X)
	last, again := l.fetched.Get(key)
	l.fetched.Put(key, c.Card)
	if again && last != c.Card {
		l.waiting.forget(c.X.Link.Agent)
		return nil
	}
	a := l.waiting.at(c.X.Link.Agent)
	if a == nil {
		return nil
	}
	named := a.named(l.engine.reader.Named, c.X.Started)
	delete(named, c.X.Seq)
	if len(named) == 0 || card.Body == nil {
		return nil
	}
	t := l.newTwice(card)
	for seq, x := range named {
		if x.open {
			l.twice[seq], t.open[seq] = t, true
		}
	}
	for _, s := range a.steps {
		t.tell(s)
	}
	var found []analyzer.Finding
	for _, s := range a.steps {
		if shown := t.shows(s); named[s.Seq] != nil {
			found = append(found, shown...)
		}
	}
	l.waiting.drop(a, named)
	l.settle(t)
	return found
}

// goOn gives a step of an exchange that went on when the card came.
func (l *late) goOn(s capture.Step) []analyzer.Finding {
	t := l.twice[s.Seq]
	if t == nil {
		return nil
	}
	t.tell(s)
	found := t.shows(s)
	if _, closed := s.What.(capture.Closed); closed || t.steps > maxSteps {
		delete(l.twice, s.Seq)
		delete(t.open, s.Seq)
		l.settle(t)
	}
	return found
}

// settle counts what was judged twice, when nothing of it goes on.
func (l *late) settle(t *twice) {
	if len(t.open) == 0 {
		l.engine.counter.Add(t.with.counter, t.without.counter)
	}
}

// end settles what goes on at the end of a capture.
func (l *late) end() {
	for seq, t := range l.twice {
		delete(l.twice, seq)
		delete(t.open, seq)
		l.settle(t)
	}
}

// A twice is an agent's traffic that is judged with a card and without it.
type twice struct {
	of            *Engine
	without, with *Engine
	card          uint64             // number of the exchange that brought it
	told          []analyzer.Finding // without the card
	open          map[uint64]bool    // exchanges that go on
	steps         int
}

// maxSteps bounds the steps that are judged twice.
const maxSteps = 10_000

func (l *late) newTwice(card *analyzer.Observation) *twice {
	t := &twice{of: l.engine, without: l.engine.beside(), with: l.engine.beside(), open: make(map[uint64]bool)}
	t.card = card.Exchange.Seq
	for _, s := range fetchOf(card) {
		t.with.Step(s)
	}
	t.with.counter.Forget()
	return t
}

// beside returns an engine with the same rules that tells nobody what it sees.
func (e *Engine) beside() *Engine {
	b := &Engine{counter: tally.New(e.rules)}
	b.reader = e.reader.Beside(b.counter, &b.hooks)
	b.dispatcher = e.dispatcher.Beside(b.reader, b.counter)
	b.reader.Start(b.dispatcher)
	return b
}

// tell judges a step without the card.
func (t *twice) tell(s capture.Step) { t.told = append(t.told, t.without.Step(s)...) }

// shows judges a step with the card, and returns what the card shows.
func (t *twice) shows(s capture.Step) []analyzer.Finding {
	t.steps++
	s.Arrival++ // all of it comes after the card
	t.with.reader.Step(s)
	var found []analyzer.Finding
	for _, f := range t.with.dispatcher.Findings(t.with.reader.Case) {
		if f.Place.Exchange != t.card && t.isNew(&f) && t.first(&f) {
			found = append(found, f)
		}
	}
	t.with.reader.Forget()
	return found
}

// isNew reports whether a finding is not made without the card. One that says more than others, or less grave, is to
// take their place.
func (t *twice) isNew(f *analyzer.Finding) bool {
	for i := range t.told {
		g := &t.told[i]
		same := g.Rule == f.Rule && g.Place == f.Place && g.Side == f.Side
		if same && (g.Severity == f.Severity || f.Rule.Revises && g.Severity > f.Severity) {
			return false
		}
		f.Revises = f.Revises || !f.Rule.Revises && f.SaysMoreThan(g)
	}
	return true
}

// first reports whether a finding is the first of its rule in the scope of that, in the whole capture.
func (t *twice) first(f *analyzer.Finding) bool {
	c := t.with.reader.Case(f.Place.Exchange)
	if c == nil {
		return true
	}
	x := *c.X
	here := &dispatch.Case{X: &x}
	if x.Endpoint != nil {
		t.of.reader.Place(here)
	}
	return t.of.dispatcher.First(here, f)
}

// fetchOf returns the steps of the fetch of a card at a time before all others, by a client that nobody is.
func fetchOf(o *analyzer.Observation) []capture.Step {
	x := o.Exchange
	request := x.Request
	request.Target = x.Path
	if x.Call.Query != "" {
		request.Target += "?" + x.Call.Query
	}
	var steps []capture.Step
	add := func(what capture.What, p *capture.Parsed) {
		steps = append(steps, capture.Step{Arrival: 1, Seq: x.Seq, Offset: capture.NotKnown, What: what, Parsed: p})
	}
	add(capture.Opened{ID: x.ID, Conn: x.Conn, Agent: capture.Peer{Name: x.Link.Agent, URL: x.Origin}},
		&capture.Parsed{Head: &request})
	if len(x.Body) > 0 {
		add(capture.RequestBody{Data: x.Body, Decoded: true}, nil)
	}
	add(capture.RequestEnd{Size: int64(len(x.Body))}, nil)
	add(capture.ResponseHead{}, &capture.Parsed{Head: &x.Response})
	add(capture.ResponseBody{Data: o.Body, Decoded: true}, nil)
	add(capture.ResponseEnd{Size: int64(len(o.Body))}, nil)
	add(capture.Closed{}, nil)
	return steps
}
