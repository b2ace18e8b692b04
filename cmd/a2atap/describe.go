package main

import (
	"context"

	"github.com/google/uuid"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/jsonl"
)

// maxCalls bounds the requests that a describer remembers while their answers come.
const maxCalls = 4096

// A describer tells the recorder what A2A knows about an exchange: the keys it can be found by, and the places of its
// secrets. It implements capture.Describer and, like that, is for one goroutine.
type describer struct {
	reader analyzer.Reader
	calls  map[uuid.UUID]*a2a.Call // of requests whose answers are not complete
}

func newDescriber() *describer { return &describer{calls: make(map[uuid.UUID]*a2a.Call)} }

// Request implements capture.Describer.
func (d *describer) Request(x *capture.Exchange, m *capture.Parsed) capture.Description {
	r := d.reader.ReadRequest(x, m)
	d.remember(x, &r.Call)
	out := describe(r)
	if x.Agent.Name != "" {
		out.Keys = append(out.Keys, capture.Key{Kind: "agent", Value: x.Agent.Name})
	}
	if r.Call.Operation != a2a.NoOperation {
		out.Keys = append(out.Keys, capture.Key{Kind: "operation", Value: r.Call.Operation.String()})
	}
	return out
}

// Event implements capture.Describer.
func (d *describer) Event(x *capture.Exchange, e *capture.Event, m *capture.Parsed) capture.Description {
	return describe(analyzer.ReadEvent(d.call(x), e, m))
}

// Response implements capture.Describer.
func (d *describer) Response(x *capture.Exchange, m *capture.Parsed) capture.Description {
	r := analyzer.ReadAnswer(d.call(x), x, m)
	delete(d.calls, x.ID)
	out := describe(r)
	if r.Card != nil {
		d.reader.Learn(x, r)
		places := r.Card.Credentials()
		out.Headers, out.Query = places.Headers, places.Query
	}
	return out
}

// call returns what the request of an exchange asks.
func (d *describer) call(x *capture.Exchange) *a2a.Call {
	call := d.calls[x.ID]
	if call == nil {
		read := d.reader.ReadRequest(x, nil)
		call = &read.Call
		d.remember(x, call)
	}
	return call
}

func (d *describer) remember(x *capture.Exchange, call *a2a.Call) {
	if len(d.calls) >= maxCalls {
		clear(d.calls) // a request is read again when its next event comes
	}
	d.calls[x.ID] = call
}

func describe(r *analyzer.Reading) capture.Description {
	d := capture.Description{Secrets: a2a.SecretPointers(r.Call.Operation, r.Dialects)}
	for _, id := range r.Tasks {
		d.Keys = append(d.Keys, capture.Key{Kind: "task", Value: id})
	}
	for _, id := range r.Contexts {
		d.Keys = append(d.Keys, capture.Key{Kind: "context", Value: id})
	}
	return d
}

// An annotator adds to exported exchanges what the protocol knows about them. It implements jsonl.Annotator.
type annotator struct{ reader *analyzer.Reader }

// Annotate implements jsonl.Annotator.
func (a annotator) Annotate(x *capture.Exchange) jsonl.Annotation {
	r := a.reader.Read(x)
	out := jsonl.Annotation{
		Dialect: r.Dialects.String(), Binding: r.Call.Binding.String(),
		Task: r.Tasks, Context: r.Contexts, State: r.State(),
	}
	if r.Call.Operation != a2a.NoOperation {
		out.Operation = r.Call.Operation.String()
	}
	return out
}

// newReader returns a reader of a capture's exchanges that knows the cards in it already, where the capture can find
// them without reading everything.
func newReader(ctx context.Context, src capture.Source) (*analyzer.Reader, error) {
	reader := &analyzer.Reader{}
	if p, ok := src.(*progress); ok {
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
