package reading

import (
	"github.com/google/uuid"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/neighbor"
)

// maxCalls bounds the requests that a describer remembers until their answers are complete.
const maxCalls = 4096

// describer implements capture.Describer.
type describer struct {
	reader  Reader
	calls   map[uuid.UUID]*a2a.Call // of requests whose answers are not complete
	spare   []*a2a.Call             // that are not in use
	reading Reading                 // of the current exchange; empty in between
}

// NewDescriber returns a Describer that knows A2A exchanges: their index keys, and the places of their secrets. It
// learns from agent cards, and remembers the requests of a bounded number of open exchanges. Like any Describer, it is
// not safe for concurrent use; each recording needs a separate one.
func NewDescriber() capture.Describer {
	return &describer{calls: make(map[uuid.UUID]*a2a.Call), reading: Reading{brief: true}}
}

// Request implements capture.Describer.
func (d *describer) Request(x *capture.Exchange, m *capture.Parsed) capture.Description {
	r := &d.reading
	defer r.reset()
	d.reader.readRequest(r, x, m)
	d.remember(x, &r.Call)
	out := describe(r)
	if x.Agent.Name != "" {
		out.Keys = append(out.Keys, capture.Key{Kind: "agent", Value: x.Agent.Name})
	}
	if asks := r.Call.Asks(); asks != a2a.NoOperation {
		out.Keys = append(out.Keys, capture.Key{Kind: "operation", Value: asks.String()})
	} else if operation := neighborOperation(r, m); operation != "" {
		out.Keys = append(out.Keys, capture.Key{Kind: "operation", Value: operation})
	}
	return out
}

// neighborOperation returns the operation of a call that is not A2A; empty for other exchanges.
func neighborOperation(r *Reading, m *capture.Parsed) string {
	p := partsOf(m)
	if r.Call.A2A() || p.Head == nil {
		return ""
	}
	request := neighbor.Request{Method: p.Head.Method, Target: p.Head.Target, Fields: p.Head.Fields}
	if p.Doc != nil && p.Doc.Err == nil {
		request.Body = p.Doc.Root
	}
	if near := neighbor.Recognize(request, 0); near != nil {
		return near.Operation
	}
	return ""
}

// Event implements capture.Describer.
func (d *describer) Event(x *capture.Exchange, e *capture.Event, m *capture.Parsed) capture.Description {
	r := &d.reading
	defer r.reset()
	r.readEvent(d.call(x), e, m)
	out := describe(r)
	r.nameCredentials(&out)
	if !r.Call.A2A() && m != nil && m.Doc != nil {
		out.Pieces = neighbor.Pieces(m.Doc.Root)
	}
	return out
}

// Response implements capture.Describer.
func (d *describer) Response(x *capture.Exchange, m *capture.Parsed) capture.Description {
	asked := d.call(x)
	operation := asked.Operation
	r := &d.reading
	defer r.reset()
	r.readAnswer(asked, x, m)
	d.forget(x.ID)
	out := describe(r)
	if r.Card != nil && operation == a2a.NoOperation {
		out.Keys = append(out.Keys, capture.Key{Kind: "operation", Value: r.Call.Operation.String()})
	}
	if r.Card != nil {
		d.reader.Learn(x, r)
	}
	r.nameCredentials(&out)
	return out
}

// nameCredentials adds the names under which the card in the answer asks for credentials. Over gRPC a card is an event.
func (r *Reading) nameCredentials(out *capture.Description) {
	if r.Card != nil {
		places := r.Card.Credentials()
		out.Headers, out.Query = places.Headers, places.Query
	}
}

// call returns the call in the request of an exchange.
func (d *describer) call(x *capture.Exchange) *a2a.Call {
	call := d.calls[x.ID]
	if call == nil {
		call = &d.reader.ReadRequest(x, nil).Call
		d.remember(x, call)
	}
	return call
}

// remember stores a request for the reading of its answers.
func (d *describer) remember(x *capture.Exchange, call *a2a.Call) {
	if len(d.calls) >= maxCalls {
		clear(d.calls) // a request is read again when its next event comes
	}
	kept := d.calls[x.ID]
	if n := len(d.spare); kept == nil && n > 0 {
		kept, d.spare = d.spare[n-1], d.spare[:n-1]
	} else if kept == nil {
		kept = &a2a.Call{}
	}
	*kept = a2a.Call{ // only the data needed to read the answer: a stream keeps it while it is open
		Binding: call.Binding, Operation: call.Operation, Streams: call.Streams, Dialects: call.Dialects,
		Evidence: call.Evidence, Version: call.Version, Batch: emptied(call.Batch), Method: call.Method,
		RPC: call.RPC,
	}
	d.calls[x.ID] = kept
}

// maxSpare bounds the calls that are kept for requests to come.
const maxSpare = 64

// forget gives up the call of an exchange.
func (d *describer) forget(id uuid.UUID) {
	call := d.calls[id]
	delete(d.calls, id)
	if call != nil && len(d.spare) < maxSpare {
		*call = a2a.Call{}
		d.spare = append(d.spare, call)
	}
}

// reset empties a reading so that its memory is used again for a short one, as nearly all are.
func (r *Reading) reset() {
	const short = 16
	tasks, contexts := r.Tasks, r.Contexts
	*r = Reading{brief: true}
	if clear(tasks); cap(tasks) <= short {
		r.Tasks = tasks[:0]
	}
	if clear(contexts); cap(contexts) <= short {
		r.Contexts = contexts[:0]
	}
}

// emptied returns as many empty calls as given; nil for nil.
func emptied(batch []a2a.Call) []a2a.Call {
	if batch == nil {
		return nil
	}
	return make([]a2a.Call, len(batch))
}

func describe(r *Reading) capture.Description {
	const more = 2 // keys that are added
	d := capture.Description{
		Keys:    make([]capture.Key, 0, len(r.Tasks)+len(r.Contexts)+more),
		Secrets: a2a.SecretPointers(r.Call.Asks(), r.Dialects),
	}
	for _, id := range r.Tasks {
		d.Keys = append(d.Keys, capture.Key{Kind: "task", Value: id})
	}
	for _, id := range r.Contexts {
		d.Keys = append(d.Keys, capture.Key{Kind: "context", Value: id})
	}
	return d
}
