package late

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine/internal/dispatch"
	"a2atap/analyzer/engine/internal/intake"
	"a2atap/analyzer/engine/internal/tally"
	"a2atap/proxy/capture"
)

// A session checks steps.
type session struct {
	reader     *intake.Reader
	dispatcher *dispatch.Dispatcher
	counter    *tally.Counter
}

// beside returns a session with the same rules that reports to no one and may miss some of the traffic.
func (s *session) beside(missed bool) session {
	counter := s.counter.Beside()
	reader := s.reader.Beside(counter, &intake.Hooks{}, missed)
	dispatcher := s.dispatcher.Beside(reader, counter)
	reader.Start(dispatcher)
	return session{reader, dispatcher, counter}
}

// take checks a step. Its result is valid until the next step.
func (s *session) take(step capture.Step) []analysis.Finding {
	s.reader.Step(step)
	return s.dispatcher.Findings(s.reader.Case)
}

// A twice checks the traffic of an agent with its card and without.
type twice struct {
	of            *session // of the engine
	without, with session
	card          uint64             // number of the exchange that brought the card
	told          []analysis.Finding // without it
	going         map[uint64]bool    // exchanges that are still open
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

// tell checks a step without the card.
func (t *twice) tell(s capture.Step) {
	t.told = append(t.told, t.without.take(s)...)
	t.without.reader.Forget()
}

// shows checks a step with the card, and returns the findings due to the card.
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

// isNew reports whether a finding is made only with the card. A finding that says more, or has the true severity,
// replaces the one made without the card.
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

// isFirst reports whether a finding is the first of its rule, in the rule's scope, in all of the capture.
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

// settle counts how often rules applied and were broken because of the card, once no exchange is open.
func (t *twice) settle() {
	if len(t.going) == 0 {
		t.of.counter.Add(t.with.counter, t.without.counter)
	}
}

// fetchOf returns the steps of a card fetch that precedes everything else, by an invented client. So no client is
// checked against a card that it had not read.
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
