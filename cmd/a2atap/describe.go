package main

import (
	"context"

	"a2atap/analyzer/reading"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/jsonl"
	"a2atap/proxy/capture/notes"
)

// An annotator adds to exported exchanges what the protocol knows about them, and what people noted. It implements
// jsonl.Annotator.
type annotator struct {
	reader *reading.Reader
	notes  *notes.Notes // nil if there are none
}

// Annotate implements jsonl.Annotator.
func (a annotator) Annotate(x *capture.Exchange) jsonl.Annotation {
	r := a.reader.Read(x)
	out := jsonl.Annotation{
		Dialect: r.Dialects.String(), Binding: r.Call.Binding.String(),
		Task: r.Tasks, Context: r.Contexts, State: r.State(),
	}
	note := a.notes.Of(x.Seq, x.ID)
	out.Marks, out.Comment = note.Marks(), note.Comment
	if r.Call.Operation != a2a.NoOperation {
		out.Operation = r.Call.Operation.String()
	}
	return out
}

// newReader returns a reader of a capture's exchanges that knows the cards in it already, where the capture can find
// them without reading everything.
func newReader(ctx context.Context, src capture.Source) (*reading.Reader, error) {
	reader := &reading.Reader{}
	if p, ok := src.(*cli.Progress); ok {
		src = p.Source
	}
	index, ok := src.(capture.Index)
	if !ok {
		return reader, nil
	}
	for _, op := range []a2a.Operation{a2a.GetCard, a2a.GetExtendedCard} {
		for seq, err := range index.Find(ctx, capture.Key{Kind: "operation", Value: op.String()}, 1) {
			if err != nil {
				return nil, err
			}
			x, err := src.Exchange(ctx, seq)
			if err != nil {
				return nil, err
			}
			reader.Read(x)
		}
	}
	return reader, nil
}
