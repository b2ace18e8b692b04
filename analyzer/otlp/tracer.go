package otlp

import (
	"context"
	"fmt"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
)

// A Tracer makes spans while a capture is checked: of an exchange when it has ended, of a task when it has ended. Pass
// it the engine's events and findings, and call Step after each step. It reads the exchanges from the capture. It is
// for one goroutine.
type Tracer struct {
	spans   *Spans
	src     capture.Source
	emit    func(Span)
	now     func() time.Time
	tasks   *Tasks
	ended   []ended
	found   map[uint64][]analysis.Finding // of exchanges without a span yet
	finds   int                           // in found
	waiting map[uint64][]*Task            // by their exchange, which has no span yet
	waits   int                           // in waiting
	lost    int
	newest  uint64 // exchange with a span
}

// An ended is an exchange that has ended, and has no span yet.
type ended struct {
	seq     uint64
	failure string
}

// Bounds on what a Tracer remembers about open exchanges. Anything beyond them is counted.
const (
	maxFound   = 10_000
	maxWaiting = 10_000
)

// NewTracer returns a Tracer that calls emit with each span. now gives the time of findings that come after the span of
// their exchange was emitted.
func NewTracer(spans *Spans, src capture.Source, now func() time.Time, emit func(Span)) *Tracer {
	return &Tracer{
		spans: spans, src: src, emit: emit, now: now, tasks: newTasks(),
		found: make(map[uint64][]analysis.Finding), waiting: make(map[uint64][]*Task),
	}
}

// Event takes an event of a stream.
func (t *Tracer) Event(v *summary.Event) { t.task(t.tasks.Event(v)) }

// Ended takes an exchange that has ended.
func (t *Tracer) Ended(x *summary.Summary) {
	t.ended = append(t.ended, ended{x.Seq, x.Outcome.Failure})
	t.task(t.tasks.Ended(x))
}

// Found takes a finding.
func (t *Tracer) Found(f *analysis.Finding) {
	t.recall(f.Place.Exchange)
	if span, ok := t.spans.Finding(f, t.now()); ok {
		t.emit(span)
		return
	}
	if t.finds >= maxFound {
		t.lost++
		return
	}
	t.finds++
	t.found[f.Place.Exchange] = append(t.found[f.Place.Exchange], *f)
}

// Step makes the spans of the exchanges that have ended. Call it after passing the findings of the step that ended
// them. An error means that the capture could not be read; an error for one exchange does not affect others.
func (t *Tracer) Step(ctx context.Context) error {
	if len(t.ended) == 0 {
		return nil
	}
	var failed error
	for _, e := range t.ended {
		if err := t.exchange(ctx, e); err != nil {
			t.lost++
			failed = err
		}
	}
	t.ended = t.ended[:0]
	return failed
}

func (t *Tracer) exchange(ctx context.Context, e ended) error {
	found, waiting := t.found[e.seq], t.waiting[e.seq]
	delete(t.found, e.seq)
	delete(t.waiting, e.seq)
	t.finds, t.waits = t.finds-len(found), t.waits-len(waiting)
	x, err := endsOf(ctx, t.src, e.seq)
	if err != nil {
		t.lost += len(waiting)
		return err
	}
	t.newest = max(t.newest, e.seq)
	t.emit(t.spans.Exchange(x, e.failure, found))
	for _, task := range waiting {
		t.task(task)
	}
	return nil
}

// recall reads an exchange again whose span was made so long ago that it is forgotten.
func (t *Tracer) recall(seq uint64) {
	if seq == 0 || seq+maxKnown > t.newest || t.spans.knows(seq) {
		return
	}
	if x, err := endsOf(context.Background(), t.src, seq); err == nil && x.State != capture.StateOpen {
		t.spans.read(x)
	}
}

// endsOf reads an exchange, of a long stream its ends.
func endsOf(ctx context.Context, src capture.Source, seq uint64) (*capture.Exchange, error) {
	for x, err := range src.Ends(ctx, seq, KeptEvents) {
		if err != nil {
			return nil, err
		}
		if x.Seq == seq {
			return x, nil
		}
		break
	}
	return nil, fmt.Errorf("exchange %d: %w", seq, capture.ErrNotFound)
}

// task makes the span of a task, or stores the task until its exchange has a span.
func (t *Tracer) task(task *Task) {
	if task == nil {
		return
	}
	t.recall(task.Exchange)
	if span, ok := t.spans.Task(task); ok {
		t.emit(span)
		return
	}
	if t.waits >= maxWaiting {
		t.lost++
		return
	}
	t.waits++
	t.waiting[task.Exchange] = append(t.waiting[task.Exchange], task)
}

// Close makes the spans of open exchanges and tasks. It returns how many spans could not be made.
func (t *Tracer) Close(ctx context.Context) (lost int, err error) {
	err = t.Step(ctx)
	for task := range t.tasks.Rest() {
		t.task(task)
	}
	return t.lost + t.waits, err
}
