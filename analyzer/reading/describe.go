package reading

import (
	"github.com/google/uuid"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// maxCalls bounds the requests that a describer remembers while their answers come.
const maxCalls = 4096

// describer implements capture.Describer.
type describer struct {
	reader Reader
	calls  map[uuid.UUID]*a2a.Call // of requests whose answers are not complete
}

// NewDescriber returns what tells a recorder what A2A knows about an exchange: the keys it can be found by, and the
// places of its secrets. It learns from the agent cards that it is shown, and remembers the requests of a bounded
// number of open exchanges. Like any Describer it is for one goroutine; each recording needs one of its own.
func NewDescriber() capture.Describer {
	return &describer{calls: make(map[uuid.UUID]*a2a.Call)}
}

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
	return describe(ReadEvent(d.call(x), e, m))
}

// Response implements capture.Describer.
func (d *describer) Response(x *capture.Exchange, m *capture.Parsed) capture.Description {
	asked := d.call(x)
	r := ReadAnswer(asked, x, m)
	delete(d.calls, x.ID)
	out := describe(r)
	if r.Card != nil && asked.Operation == a2a.NoOperation {
		out.Keys = append(out.Keys, capture.Key{Kind: "operation", Value: r.Call.Operation.String()})
	}
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
	d.calls[x.ID] = &a2a.Call{ // what tells how answers are to be read: a stream holds it for as long as it is open
		Binding: call.Binding, Operation: call.Operation, Streams: call.Streams, Dialects: call.Dialects,
		Evidence: call.Evidence, Version: call.Version, Batch: emptied(call.Batch), Method: call.Method,
		RPC: call.RPC,
	}
}

// emptied returns as many calls as there are, empty; nil for nil.
func emptied(batch []a2a.Call) []a2a.Call {
	if batch == nil {
		return nil
	}
	return make([]a2a.Call, len(batch))
}

func describe(r *Reading) capture.Description {
	d := capture.Description{Secrets: a2a.SecretPointers(r.Call.Operation, r.Dialects)}
	for _, id := range r.Tasks {
		d.Keys = append(d.Keys, capture.Key{Kind: "task", Value: id})
	}
	for _, id := range r.Contexts {
		d.Keys = append(d.Keys, capture.Key{Kind: "context", Value: id})
	}
	return d
}
