// Package late judges what passed at an agent before its card was known, once more, when the card is: what a verdict
// says must not depend on who read the card first.
//
// An agent's first exchanges wait for its card. When that comes, they are judged twice: as if the card had been read
// before all of them, and without it. What is found with the card alone is what the card shows. So no rule has to know
// of cards that come late; docs/decisions/0016-cards-that-come-late.md says when a card is taken for that of an earlier
// time.
package late

import (
	"maps"
	"net/http"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine/internal/dispatch"
	"a2atap/analyzer/engine/internal/intake"
	"a2atap/analyzer/engine/internal/tally"
	"a2atap/analyzer/internal/digest"
	"a2atap/analyzer/internal/directory"
	"a2atap/analyzer/internal/recent"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

const (
	maxFetched   = 1_000  // cards of which it is known what was fetched last
	maxUnsettled = 4_000  // findings that may be revised: whoever counts findings keeps them for that
	maxGoing     = 16     // exchanges that go on when the card comes, and are judged twice from then on
	maxFollowed  = 10_000 // steps of them
)

// A Judge follows the reading of one capture.
type Judge struct {
	session
	waiting   waiting
	fetched   *recent.Map[directory.Key, digest.Digest] // what stands for the last answer to the fetch of each card
	came      *analysis.Observation                     // the card that the step at hand has brought; nil if none
	going     map[uint64]*twice                         // exchanges that went on when the card came, by number
	unsettled int                                       // findings that may be revised
}

// New returns a judge beside the reader and the dispatcher of an engine, which counts with the counter.
func New(reader *intake.Reader, dispatcher *dispatch.Dispatcher, counter *tally.Counter) *Judge {
	return &Judge{
		session: session{reader, dispatcher, counter}, waiting: newWaiting(),
		fetched: recent.New[directory.Key, digest.Digest](maxFetched), going: make(map[uint64]*twice),
	}
}

// Card takes a card that an agent has shown in the step at hand. An extended one is for one client.
func (j *Judge) Card(o *analysis.Observation) {
	if o.Exchange.Call.Operation == a2a.GetCard && o.Body != nil {
		kept := *o
		j.came = &kept
	}
}

// Step takes a step that the engine has taken, and what was found in it. It returns that, and what a card shows that
// came late.
func (j *Judge) Step(s capture.Step, found []analysis.Finding) []analysis.Finding {
	j.mark(found)
	c := j.reader.Case(s.Seq)
	if c == nil {
		return found
	}
	switch what := s.What.(type) {
	case capture.Opened:
		if !a2a.IsCardPath(c.X.Path) && !j.reader.Named(c.X.Address) {
			j.waiting.begin(c.X)
		}
		j.waiting.add(s)
	case capture.Closed:
		found = append(found, j.goOn(s)...)
		j.waiting.add(s)
		j.over(c.X, &what)
	default:
		found = append(found, j.goOn(s)...)
		j.waiting.add(s)
	}
	if j.came != nil {
		found = append(found, j.judge(c, j.came)...)
		j.came = nil
	}
	return found
}

// End says that no step will come.
func (j *Judge) End() {
	for seq, t := range j.going {
		j.ended(seq, t)
	}
}

// mark marks those findings that may be revised when a card comes.
func (j *Judge) mark(found []analysis.Finding) {
	for i := range found {
		f := &found[i]
		if j.unsettled < maxUnsettled && !f.Rule.Revises && j.waiting.has(f.Link.Agent, f.Place.Exchange) {
			f.Unsettled = true
			j.unsettled++
		}
	}
}

// over takes what the end of an exchange says of its agent: one that cannot be reached, or whose recorder was killed, may
// be another one when it is back.
func (j *Judge) over(x *analysis.Exchange, c *capture.Closed) {
	status := x.Response.Status
	switch {
	case c.Interrupted, c.Fault != nil && c.Fault.Kind == "unreachable" && c.Fault.Side == "agent":
		j.waiting.forget(x.Link.Agent)
	case x.Call.Operation == a2a.GetCard && (status == http.StatusNotFound || status == http.StatusGone || status >= 500):
		j.fetched.Put(keyOf(x), 0)
	}
}

func keyOf(x *analysis.Exchange) directory.Key {
	return directory.Key{URL: x.URL(), Version: x.Call.Version}
}

// judge judges what waited for a card, unless that has changed.
func (j *Judge) judge(c *dispatch.Case, card *analysis.Observation) []analysis.Finding {
	x := c.X
	last, again := j.fetched.Get(keyOf(x))
	j.fetched.Put(keyOf(x), c.Card)
	if again && last != c.Card {
		j.waiting.forget(x.Link.Agent)
		return nil
	}
	a := j.waiting.at(x.Link.Agent)
	if a == nil {
		return nil
	}
	named := a.named(j.reader.Named, x.Started)
	delete(named, x.Seq)
	if len(named) == 0 || j.moreComes(x) {
		return nil
	}
	t := newTwice(&j.session, card, a.holed)
	for _, seq := range slices.Sorted(maps.Keys(named)) {
		if named[seq].open && len(j.going) < maxGoing {
			j.going[seq], t.going[seq] = t, true
		}
	}
	for _, s := range a.steps {
		t.tell(s)
	}
	var found []analysis.Finding
	for _, s := range a.steps {
		if shown := t.shows(s); named[s.Seq] != nil {
			found = append(found, shown...)
		}
	}
	j.waiting.drop(a, named)
	t.settle()
	return found
}

// moreComes reports whether another fetch of a card is under way at the agent of a fetch. That may bring another one.
func (j *Judge) moreComes(x *analysis.Exchange) bool {
	for other := range j.reader.Open() {
		if other.Seq != x.Seq && other.Link.Agent == x.Link.Agent && !other.Ended &&
			(a2a.IsCardPath(other.Path) || other.Call.Operation == a2a.GetCard) {
			return true
		}
	}
	return false
}

// goOn judges a step of an exchange that went on when the card came.
func (j *Judge) goOn(s capture.Step) []analysis.Finding {
	t := j.going[s.Seq]
	if t == nil {
		return nil
	}
	t.tell(s)
	found := t.shows(s)
	if _, closed := s.What.(capture.Closed); closed || t.steps > maxFollowed {
		j.ended(s.Seq, t)
	}
	return found
}

func (j *Judge) ended(seq uint64, t *twice) {
	delete(j.going, seq)
	delete(t.going, seq)
	t.settle()
}
