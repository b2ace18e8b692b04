package verdict

import (
	"context"
	"iter"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/track/workflow"
	"a2atap/analyzer/view"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Choose calls f with the rows of exchanges from..to, in order, and whether each is selected, until f returns false. If
// the capture has an index for the selection, Choose skips exchanges that the index rules out.
func (j *Capture) Choose(
	ctx context.Context, s Selection, from, to uint64, f func(row *snapshot.Row, chosen bool) bool,
) error {
	if err := j.prepare(ctx, &s); err != nil {
		return err
	}
	for row, err := range j.candidates(ctx, s, from, to) {
		if err != nil || row.Seq > to {
			return err
		}
		if is, err := j.Match(ctx, s, row); err != nil || !f(row, is) {
			return err
		}
	}
	return nil
}

// prepare loads the data that the filter may need: causes, and the notes on the capture unless they are loaded.
func (j *Capture) prepare(ctx context.Context, s *Selection) (err error) {
	if s.Noted && s.Notes == nil {
		s.Notes, err = source.Notes(ctx, j.Source)
	}
	if s.Linked && err == nil {
		s.Links, err = j.AllLinks(ctx)
	}
	return err
}

// candidates yields the rows of exchanges from..to that may be selected, in order.
func (j *Capture) candidates(ctx context.Context, s Selection, from, to uint64) iter.Seq2[*snapshot.Row, error] {
	seqs, known := s.candidates(ctx, j.Source, from)
	if from == to {
		seqs, known = func(yield func(uint64, error) bool) { yield(from, nil) }, true
	}
	if !known {
		return j.Rows(ctx, from)
	}
	return func(yield func(*snapshot.Row, error) bool) {
		for seq, err := range seqs {
			var row *snapshot.Row
			if err == nil && seq > to {
				return
			}
			if err == nil {
				row, err = j.Row(ctx, seq)
			}
			if (row != nil || err != nil) && !yield(row, err) {
				return
			}
		}
	}
}

// Match reports whether an exchange is selected. It reads the exchange only if its row cannot decide.
func (j *Capture) Match(ctx context.Context, s Selection, row *snapshot.Row) (bool, error) {
	if !s.isOf(row.Programs()) {
		return false, nil
	}
	facts := snapshot.Facts{Row: row, Marked: s.Notes.Of(row.Seq, row.ID).Marked}
	switch {
	case s.Links != nil:
		facts.Workflow = s.Links.Of(row.Seq).Workflow
	case s.Linked:
		of, err := j.Workflow(ctx, row.Seq)
		if err != nil {
			return false, err
		}
		facts.Workflow = of.Number
	}
	if match, certain := facts.Decide(s.filter); certain {
		return match, nil
	}
	x, err := j.Source.Exchange(ctx, row.Seq)
	if err != nil {
		return false, err
	}
	whole, err := j.Facts(ctx, x, row)
	whole.Workflow = facts.Workflow
	return err == nil && s.Match(x, whole), err
}

// A Capture is a capture with the results of checking it.
type Capture struct {
	*snapshot.Results
	Source capture.Source
	Stored bool // this process did not check it

	view   *view.View // nil if the caller owns it
	end    func() error
	say    func(format string, args ...any)
	reader *reading.Reader // nil until needed
	links  *workflow.Index // nil until needed
}

// With returns a capture with the results that its View has now. Close has nothing to do.
func With(r *snapshot.Results, src capture.Source) *Capture { return &Capture{Results: r, Source: src} }

// Know sets the links between exchanges and the reader of single exchanges, once they are available. Either may be nil.
func (j *Capture) Know(links *workflow.Index, reader *reading.Reader) {
	j.links, j.reader = links, reader
}

// Close ends the use of the results. The capture stays open.
func (j *Capture) Close() error {
	switch {
	case j == nil:
		return nil
	case j.view != nil:
		return j.view.Close()
	case j.end != nil:
		return j.end()
	}
	return nil
}

// Reader returns a reader of single exchanges that knows the capture's cards.
func (j *Capture) Reader(ctx context.Context) (*reading.Reader, error) {
	if j.reader != nil {
		return j.reader, nil
	}
	head := j.Head()
	if head.MoreCards {
		reader, err := source.NewReader(ctx, j.Source)
		j.reader = reader
		return reader, err
	}
	reader := &reading.Reader{}
	for _, seq := range head.Cards {
		x, err := j.Source.Exchange(ctx, seq)
		if err != nil {
			return nil, err
		}
		reader.Read(x)
	}
	j.reader = reader
	return reader, nil
}

// AllLinks returns the links between causes and effects.
func (j *Capture) AllLinks(ctx context.Context) (*workflow.Index, error) {
	if j.links != nil {
		return j.links, nil
	}
	var err error
	j.links, err = j.Links(ctx)
	return j.links, err
}

// Facts returns the facts about an exchange that filters and printers need.
func (j *Capture) Facts(ctx context.Context, x *capture.Exchange, row *snapshot.Row) (reading.Facts, error) {
	reader, err := j.Reader(ctx)
	if err != nil {
		return reading.Facts{}, err
	}
	found, err := j.FindingsOf(ctx, row)
	return reading.Facts{
		Reading: reader.Read(x), Findings: found, Failed: row != nil && row.Failed(),
		Notification: row != nil && row.Operation == a2a.Webhook,
	}, err
}

// InWorkflow sets the workflow of a finding, if it is already known during the recording.
func InWorkflow(links *workflow.Index, f *analysis.Finding) {
	if at := f.Place.Exchange; at != 0 {
		f.Workflow = analysis.Workflow{Number: links.Of(at).Workflow, Caused: links.ByAgent(at)}
	}
}
