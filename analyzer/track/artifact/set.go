package artifact

import (
	"slices"

	"github.com/google/uuid"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
	"a2atap/proxy/a2a"
)

// A Set has the artifacts of an ended task, as one answer or stream showed them.
type Set struct {
	Place  analysis.Place // of the Task, or of the event that ended it
	Partly bool           // the artifacts were not all remembered

	seen      analysis.Moment // when it was delivered
	viewer    digest.Digest
	list      []part
	first     [1]part // room for the first of them
	link      analysis.Link
	exchange  uuid.UUID
	binding   a2a.Binding
	operation a2a.Operation
}

type part struct {
	key     key
	content digest.Content
}

// Before reports whether the set was delivered before the exchange began, to one who is shown the same.
func (w *Set) Before(x *analysis.Exchange) bool { return w.like(x) && x.BeganAfter(w.seen) }

// Earlier is like Before, but also true for sets that the exchange itself has shown before.
func (w *Set) Earlier(x *analysis.Exchange) bool {
	return w.Before(x) || w.like(x) && w.Place.Exchange == x.Seq
}

// like reports whether the set is complete and was delivered to the same viewer over the same binding. Bindings are
// compared elsewhere.
func (w *Set) like(x *analysis.Exchange) bool {
	return w != nil && !w.Partly && w.viewer == x.Viewer() && w.binding == x.Call.Binding
}

// Len returns the number of artifacts.
func (w *Set) Len() int { return len(w.list) }

// Of returns the content of an artifact, if the set has it.
func (w *Set) Of(a a2a.Artifact) (c digest.Content, ok bool) {
	id, identified := keyOf(a)
	if !identified {
		return c, false
	}
	for i := range w.list {
		if w.list[i].key == id {
			return w.list[i].content, true
		}
	}
	return c, false
}

// Lacks returns the index of the first artifact of a Task that the set does not have; -1 if it has all.
func (w *Set) Lacks(t a2a.Task) int {
	for i, a := range t.Artifacts() {
		if _, identified := keyOf(a); !identified {
			continue
		}
		if _, ok := w.Of(a); !ok {
			return i
		}
	}
	return -1
}

// About makes a finding be about the exchange that showed the set.
func (w *Set) About() analysis.Option {
	return func(f *analysis.Finding) {
		f.Link, f.ExchangeID, f.Binding, f.Operation = w.link, w.exchange, w.binding, w.operation
	}
}

func newSet(o *analysis.Observation) *Set {
	x := o.Exchange
	w := &Set{
		Place: o.Place, viewer: x.Viewer(), seen: o.Moment(),
		link: x.Link, exchange: x.ID, binding: x.Call.Binding, operation: x.Call.Operation,
	}
	w.list = w.first[:0]
	return w
}

// shown returns the Set of a Task's artifacts.
func shown(o *analysis.Observation, t a2a.Task) *Set {
	w := newSet(o)
	for _, a := range t.Artifacts() {
		id, ok := keyOf(a)
		if !ok || len(w.list) == maxArtifacts || slices.ContainsFunc(w.list, func(p part) bool { return p.key == id }) {
			w.Partly = true
			return w
		}
		w.list = append(w.list, part{id, digest.ContentOf(a.Parts())})
	}
	return w
}
