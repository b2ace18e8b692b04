package judged

import (
	"context"
	"iter"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/kept"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/track/workflow"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Choose calls f with the rows of exchanges from..to, in order, and whether each is chosen, until f returns false. Where
// an index of the capture knows which exchanges can be chosen, f is not called with others.
func (j *Capture) Choose(
	ctx context.Context, s Selection, from, to uint64, f func(row *kept.Row, chosen bool) bool,
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

// prepare reads what the filter may ask for: the notes on the capture, if nobody has read them yet, and what caused what.
func (j *Capture) prepare(ctx context.Context, s *Selection) (err error) {
	if s.Noted && s.Notes == nil {
		s.Notes, err = source.Notes(ctx, j.Source)
	}
	if s.Linked && err == nil {
		s.Links, err = j.AllLinks(ctx)
	}
	return err
}

// candidates yields the rows of exchanges from one on that can be chosen, as far as that is known, in order.
func (j *Capture) candidates(ctx context.Context, s Selection, from, to uint64) iter.Seq2[*kept.Row, error] {
	seqs, known := s.candidates(ctx, j.Source, from)
	if from == to {
		seqs, known = func(yield func(uint64, error) bool) { yield(from, nil) }, true
	}
	if !known {
		return j.Rows(ctx, from)
	}
	return func(yield func(*kept.Row, error) bool) {
		for seq, err := range seqs {
			var row *kept.Row
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

// Match reports whether an exchange is chosen. It is read only where its row does not tell.
func (j *Capture) Match(ctx context.Context, s Selection, row *kept.Row) (bool, error) {
	if !s.isOf(row.Programs()) {
		return false, nil
	}
	facts := kept.Facts{Row: row, Marked: s.Notes.Of(row.Seq, row.ID).Marked}
	if s.Links != nil {
		facts.Workflow = s.Links.Of(row.Seq).Workflow
	}
	if match, certain := facts.Decide(s.filter); certain {
		return match, nil
	}
	x, err := j.Source.Exchange(ctx, row.Seq)
	if err != nil {
		return false, err
	}
	whole, err := j.Facts(ctx, x, row)
	return err == nil && s.Match(x, whole), err
}

// A Capture is a capture together with what judging it came to.
type Capture struct {
	*kept.Reading
	Source capture.Source
	close  func() error     // of what holds the reading, apart from the capture; nil if nothing does
	reader *reading.Reader  // nil until somebody asks
	links  *workflow.Index  // the same
	result *judgment.Result // of judging it now, without findings; nil if it was read
}

// Growing returns a capture that is being judged, with its reading as far as that has come.
func Growing(r *kept.Reading, src capture.Source) *Capture { return &Capture{Reading: r, Source: src} }

// Know takes what has been found out meanwhile: what caused what, and what reads single exchanges. Either may be nil.
func (j *Capture) Know(links *workflow.Index, reader *reading.Reader) {
	j.links, j.reader = links, reader
}

// WasRead reports whether the reading was kept, so that the capture was not judged now.
func (j *Capture) WasRead() bool { return j.result == nil }

// Close lets go of the reading, not of the capture.
func (j *Capture) Close() error {
	if j == nil || j.close == nil {
		return nil
	}
	return j.close()
}

func (j *Capture) with(result *judgment.Result) *Capture {
	j.result = result
	return j
}

// Reader returns what reads single exchanges of the capture, with the cards that it holds.
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

// AllLinks returns what caused what.
func (j *Capture) AllLinks(ctx context.Context) (*workflow.Index, error) {
	if j.links != nil {
		return j.links, nil
	}
	var err error
	j.links, err = j.Links(ctx)
	return j.links, err
}

// Facts returns what a filter or a printer asks of an exchange that was read.
func (j *Capture) Facts(ctx context.Context, x *capture.Exchange, row *kept.Row) (reading.Facts, error) {
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

// InWorkflow fills in to which workflow a finding belongs, as far as that is known while the recording goes on.
func InWorkflow(links *workflow.Index, f *analysis.Finding) {
	if at := f.Place.Exchange; at != 0 {
		f.Workflow = analysis.Workflow{Number: links.Of(at).Workflow, Caused: links.ByAgent(at)}
	}
}
