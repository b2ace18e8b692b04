package analyzer

import (
	"slices"

	"github.com/google/uuid"

	"a2atap/proxy/a2a"
)

// A Product is what the artifacts of an ended task were, as one answer or stream showed them.
type Product struct {
	Place  Place // of the Task, or of the event that ended it
	Partly bool  // the artifacts were not all remembered

	seen      Sighting // when it was delivered
	viewer    digest
	list      []productPart
	link      Link
	exchange  uuid.UUID
	binding   a2a.Binding
	operation a2a.Operation
}

type productPart struct {
	key     artifactKey
	content Content
}

// Before reports whether the product was delivered before the exchange began, to one who is shown the same.
func (w *Product) Before(x *Exchange) bool { return w.Like(x) && x.beganAfter(&w.seen) }

// Earlier is like Before, and true as well of what the exchange itself has shown before.
func (w *Product) Earlier(x *Exchange) bool {
	return w.Before(x) || w.Like(x) && w.Place.Exchange == x.Seq
}

// Like reports whether the product was delivered to one who is shown the same, in whatever order. What another binding
// makes of a task is compared elsewhere.
func (w *Product) Like(x *Exchange) bool {
	return w != nil && !w.Partly && w.viewer == x.viewer() && w.binding == x.Call.Binding
}

// Len returns how many artifacts there are.
func (w *Product) Len() int { return len(w.list) }

// Of returns the content of an artifact, if the product has it.
func (w *Product) Of(a a2a.Artifact) (c Content, ok bool) {
	key, identified := keyOf(a)
	if !identified {
		return c, false
	}
	for i := range w.list {
		if w.list[i].key == key {
			return w.list[i].content, true
		}
	}
	return c, false
}

// Lacks returns the index of the first artifact of a Task that the product does not have; -1 if it has all.
func (w *Product) Lacks(t a2a.Task) int {
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

// Ago says that a finding is about the exchange that showed the product.
func (w *Product) Ago() Option {
	return func(f *Finding) {
		f.Link, f.ExchangeID, f.Binding, f.Operation = w.link, w.exchange, w.binding, w.operation
	}
}

func newProduct(o *Observation) *Product {
	x := o.Exchange
	return &Product{
		Place: o.Place, viewer: x.viewer(), seen: Sighting{Arrival: o.Arrival, At: o.At},
		link: x.Link, exchange: x.ID, binding: x.Call.Binding, operation: x.Call.Operation,
	}
}

// product returns what a Task shows of its artifacts.
func product(o *Observation, t a2a.Task) *Product {
	w := newProduct(o)
	for _, a := range t.Artifacts() {
		key, ok := keyOf(a)
		if !ok || len(w.list) == maxArtifacts || slices.ContainsFunc(w.list, func(p productPart) bool { return p.key == key }) {
			w.Partly = true
			return w
		}
		w.list = append(w.list, productPart{key, ContentOf(a)})
	}
	return w
}

// streamed returns what a stream made of the artifacts that it showed from their first piece on; nil if there are none.
func streamed(o *Observation) *Product {
	s := o.Exchange.Stream
	if s.Gap {
		return nil
	}
	var w *Product
	for i := range s.Pieces.list {
		piece := &s.Pieces.list[i]
		if !piece.Whole {
			continue
		}
		if w == nil {
			w = newProduct(o)
		}
		if len(w.list) < maxArtifacts {
			w.list = append(w.list, productPart{piece.key, piece.content})
		}
	}
	return w
}

// StreamedOf returns what a stream made of the artifacts of the task that the observation shows at its end, as far as it
// showed them whole; nil if that is not known, or was for somebody else.
func (s *Session) StreamedOf(o *Observation) *Product {
	x := o.Exchange
	if known := s.TaskOf(x, o.Task.TaskID); known != nil && known.Streamed != nil {
		if known.Streamed.Like(x) {
			return known.Streamed
		}
		return nil
	}
	if x.Stream != nil && !x.choosy() && x.Stream.Terminal == 0 && x.Stream.TaskID == o.Task.TaskID {
		return streamed(o)
	}
	return nil
}

// Snapshot returns the Task that the observation shows at its end, if it is the whole of an answer or event and may be
// compared with others.
func (o *Observation) Snapshot() (t a2a.Task, ok bool) {
	seen := o.Task
	if seen == nil || !seen.Snapshot || seen.Late || !seen.State.Terminal() || o.Answer == nil || o.Answer.Payload.Kind != a2a.TaskPayload {
		return t, false
	}
	return a2a.Task{Value: o.Answer.Payload.Value}, true
}

// choosy reports whether the client takes some media types only, so that its answer may leave out what others show.
func (x *Exchange) choosy() bool {
	return x.Call.Params.Get("configuration").Get("acceptedOutputModes").Len() > 0
}

// yielded remembers what a Task at its end, or the update that ends one, tells about the task's artifacts.
func (s *Session) yielded(o *Observation) {
	x := o.Exchange
	if o.Task.Late || !o.Task.State.Terminal() || x.choosy() {
		return
	}
	t := s.TaskOf(x, o.Task.TaskID)
	if !o.Task.Snapshot {
		if x.Stream != nil && t.Streamed == nil && x.Stream.Terminal == 0 && x.Stream.TaskID == t.ID {
			t.Streamed = streamed(o)
		}
		return
	}
	shown, ok := o.Snapshot()
	if !ok {
		return
	}
	if t.Terminal == o.Task && s.Waits(x) {
		t.Awaited = product(o, shown)
	}
	if t.Awaited.Before(x) && t.Awaited.Lacks(shown) >= 0 {
		t.Awaited, t.Shown = nil, nil // it was judged
	}
	if shown.Get("artifacts").Kind() != a2a.Array {
		return
	}
	if t.Streamed.Like(x) {
		t.Streamed = nil // it was judged
	}
	if t.Shown == nil || t.Shown.Like(x) {
		t.Shown = product(o, shown)
	}
}
