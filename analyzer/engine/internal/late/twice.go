package late

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine/internal/dispatch"
	"a2atap/analyzer/engine/internal/intake"
	"a2atap/analyzer/engine/internal/tally"
	"a2atap/proxy/capture"
)

// A session is what judges steps.
type session struct {
	reader     *intake.Reader
	dispatcher *dispatch.Dispatcher
	counter    *tally.Counter
}

// beside returns a session with the same rules that tells nobody what it sees, and may miss some of that.
func (s *session) beside(missed bool) session {
	counter := s.counter.Beside()
	reader := s.reader.Beside(counter, &intake.Hooks{}, missed)
	dispatcher := s.dispatcher.Beside(reader, counter)
	reader.Start(dispatcher)
	return session{reader, dispatcher, counter}
}

// take judges a step. What it returns is valid until the next one.
func (s *session) take(step capture.Step) []analysis.Finding {
	s.reader.Step(step)
	return s.dispatcher.Findings(s.reader.Case)
}

// A twice is what passed at an agent, judged with its card and without.
type twice struct {
	of            *session // of the engine
	without, with session
	card          uint64             // number of the exchange that brought the card
	told          []analysis.Finding // without it
	going         map[uint64]bool    // exchanges that go on
	steps         int
}

func newTwice(of *session, card *analysis.Observation, missed bool) *twice {
	t := &twice{
		of: of, without: of.beside(missed), with: of.beside(missed), card: card.Exchange.Seq, going: make(map[uint64]bool),
	}
	for _, s := range fetchOf(card) {
		t.with.take(s)
		t.with.reader.Forget()
	}
	t.with.counter.Forget()
	return t
}

// tell judges a step without the card.
func (t *twice) tell(s capture.Step) {
	t.told = append(t.told, t.without.take(s)...)
	t.without.reader.Forget()
}

// shows judges a step with the card, and returns what the card shows.
func (t *twice) shows(s capture.Step) []analysis.Finding {
	t.steps++
	s.Arrival++ // all of it comes after the card
	var found []analysis.Finding
	for _, f := range t.with.take(s) {
		if f.Place.Exchange != t.card && t.isNew(&f) && t.isFirst(&f) {
			found = append(found, f)
		}
	}
	t.with.reader.Forget()
	return found
}

// isNew reports whether a finding is not made without the card. One that says more, or how grave it really is, is to
// take the place of what was told without.
func (t *twice) isNew(f *analysis.Finding) bool {
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

// isFirst reports whether a finding is the first of its rule, in the scope of that, in all of the capture.
func (t *twice) isFirst(f *analysis.Finding) bool {
	here, c := t.of.reader.Case(f.Place.Exchange), t.with.reader.Case(f.Place.Exchange)
	switch {
	case here != nil:
	case c == nil:
		return true
	default:
		x := *c.X
		here = &dispatch.Case{X: &x}
		if x.Endpoint != nil {
			t.of.reader.Place(here)
		}
	}
	return t.of.dispatcher.First(here, f)
}

// settle counts how often rules applied and were broken for the card, when nothing goes on.
func (t *twice) settle() {
	if len(t.going) == 0 {
		t.of.counter.Add(t.with.counter, t.without.counter)
	}
}

// fetchOf returns the steps of the fetch of a card at a time before all others, by a client that nobody is: no client
// is held to what it had not read.
func fetchOf(card *analysis.Observation) []capture.Step {
	x := card.Exchange
	request := x.Request
	request.Target = x.Path
	if x.Call.Query != "" {
		request.Target += "?" + x.Call.Query
	}
	steps := []capture.Step{
		{
			What:   capture.Opened{ID: x.ID, Conn: x.Conn, Agent: capture.Peer{Name: x.Link.Agent, URL: x.Origin}},
			Parsed: &capture.Parsed{Head: &request},
		},
		{What: capture.RequestEnd{}},
		{What: capture.ResponseHead{}, Parsed: &capture.Parsed{Head: &x.Response}},
		{What: capture.ResponseBody{Data: card.Body, Decoded: true}},
		{What: capture.ResponseEnd{Size: int64(len(card.Body))}},
		{What: capture.Closed{}},
	}
	for i := range steps {
		steps[i].Arrival, steps[i].Seq, steps[i].Offset = 1, x.Seq, capture.NotKnown
	}
	return steps
}
