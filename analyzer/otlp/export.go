package otlp

import (
	"context"
	"io"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
)

// Export writes the spans of a capture as JSON lines. It includes the exchanges that keep selects, and the tasks that
// these exchanges were the first to show. The rules determine the outcome of calls and the findings. Every finding is
// in the span of its exchange.
//
// Options are for the engine that runs the rules, such as those that supply the data for Options.Parent. As for a
// Tracer, only facts known when an exchange ended count. The capture is read twice. whole means that keep needs
// exchanges as a whole.
func Export(
	ctx context.Context, w io.Writer, rules []*analysis.Rule, src capture.Source, spans *Spans,
	keep func(*capture.Exchange) bool, whole bool, options ...engine.Option,
) error {
	p := newPast(spans.o.Parent)
	options = append(options, engine.OnEvent(p.event), engine.OnEnded(p.ended))
	_, err := engine.Run(ctx, rules, src, p.found, options...)
	if err != nil {
		return err
	}
	spans.o.Parent = func(seq uint64) Parent { return p.parents[seq] }
	for task := range p.tasks.Rest() {
		p.task(task)
	}
	out := newWriter(w, spans)
	exchanges := src.Ends(ctx, 1, KeptEvents)
	if whole {
		exchanges = src.Exchanges(ctx, 1)
	}
	for x, err := range exchanges {
		if err != nil {
			return err
		}
		if !keep(x) {
			continue
		}
		if err := out.Write(spans.Exchange(x, p.failures[x.Seq], p.findings[x.Seq])); err != nil {
			return err
		}
		for _, task := range p.byExchange[x.Seq] {
			if span, ok := spans.Task(task); !ok {
				continue
			} else if err := out.Write(span); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// A past has the rules' results for a whole capture, from before any span is made.
type past struct {
	tasks      *Tasks
	failures   map[uint64]string
	findings   map[uint64][]analysis.Finding
	byExchange map[uint64][]*Task
	parent     func(uint64) Parent
	parents    map[uint64]Parent // as known when the exchange, or one that it caused, had ended
}

func newPast(parent func(uint64) Parent) *past {
	return &past{
		tasks: newTasks(), failures: make(map[uint64]string), findings: make(map[uint64][]analysis.Finding),
		byExchange: make(map[uint64][]*Task), parent: parent, parents: make(map[uint64]Parent),
	}
}

func (p *past) found(f analysis.Finding) {
	p.findings[f.Place.Exchange] = append(p.findings[f.Place.Exchange], f)
}

func (p *past) event(v summary.Event) { p.task(p.tasks.Event(&v)) }

func (p *past) ended(x summary.Summary) {
	if x.Outcome.Failure != "" {
		p.failures[x.Seq] = x.Outcome.Failure
	}
	p.settle(x.Seq)
	p.task(p.tasks.Ended(&x))
}

// settle records the cause of an exchange, and the cause of that cause.
func (p *past) settle(seq uint64) {
	for range maxDepth {
		if _, known := p.parents[seq]; known {
			return
		}
		cause := p.parent(seq)
		p.parents[seq] = cause
		if cause.Exchange == 0 || cause.Exchange >= seq {
			return
		}
		seq = cause.Exchange
	}
}

func (p *past) task(t *Task) {
	if t != nil {
		p.byExchange[t.Exchange] = append(p.byExchange[t.Exchange], t)
	}
}
