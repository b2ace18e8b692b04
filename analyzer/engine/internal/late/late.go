// Package late checks an agent's first exchanges again once the agent's card is known. The verdict must not depend on
// who read the card first.
//
// An agent's first exchanges wait for its card. When the card comes, they are checked twice: as if the card had been
// read before all of them, and without it. The findings that only the check with the card makes are due to the card. So
// no rule has to handle late cards; docs/decisions/0016-cards-that-come-late.md says when a card counts for earlier
// exchanges.
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
	maxFetched   = 1_000  // cards whose last fetch is remembered
	maxUnsettled = 4_000  // findings that may be revised; code that counts findings keeps them for that
	maxGoing     = 16     // exchanges open when the card comes, which are checked twice from then on
	maxFollowed  = 10_000 // steps of them
)

// A Judge follows the checking of one capture.
type Judge struct {
	session
	waiting   waiting
	fetched   *recent.Map[directory.Key, digest.Digest] // digest of the last answer to the fetch of each card
	came      *analysis.Observation                     // the card in the current step; nil without one
	going     map[uint64]*twice                         // exchanges that were open when the card came, by number
	unsettled int                                       // findings that may be revised
}

// New returns a judge for an engine's reader, dispatcher and counter.
func New(reader *intake.Reader, dispatcher *dispatch.Dispatcher, counter *tally.Counter) *Judge {
	return &Judge{
		session: session{reader, dispatcher, counter}, waiting: newWaiting(),
		fetched: recent.New[directory.Key, digest.Digest](maxFetched), going: make(map[uint64]*twice),
	}
}

// Card handles a card that an agent has shown in the current step. An extended card is for one client.
func (j *Judge) Card(o *analysis.Observation) {
	if o.Exchange.Call.Operation == a2a.GetCard && o.Body != nil {
		kept := *o
		j.came = &kept
	}
}

// Step handles a step after the engine, with its findings. It returns them, together with the findings due to a late
// card.
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

// End declares that no more steps will come.
func (j *Judge) End() {
	for seq, t := range j.going {
		j.ended(seq, t)
	}
}

// mark marks the findings that may be revised when a card comes, and bounds their number.
func (j *Judge) mark(found []analysis.Finding) {
	for i := range found {
		f := &found[i]
		f.Unsettled = j.unsettled < maxUnsettled && !f.Rule.Revises &&
			(f.Unsettled || j.waiting.has(f.Link.Agent, f.Place.Exchange))
		if f.Unsettled {
			j.unsettled++
		}
	}
}

// over handles the end of an exchange. An agent that cannot be reached, or whose recorder was killed, may be a
// different agent afterwards.
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

// judge checks the exchanges that waited for a card, unless the card has changed.
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

// moreComes reports whether another card fetch is open at the agent of a fetch. It may bring another card.
func (j *Judge) moreComes(x *analysis.Exchange) bool {
	for other := range j.reader.Open() {
		if other.Seq != x.Seq && other.Link.Agent == x.Link.Agent && !other.Ended &&
			(a2a.IsCardPath(other.Path) || other.Call.Operation == a2a.GetCard) {
			return true
		}
	}
	return false
}

// goOn checks a step of an exchange that was open when the card came.
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
