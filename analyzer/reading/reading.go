// Package reading reads exchanges one by one: for lists, filters, exports and the index of a recording.
//
// [Read] interprets one exchange: binding, dialects, operation, ids, states, errors. [NewDescriber] gives recorders the
// index keys of an exchange and the places of its secrets.
//
// Rules do not use it. They use the engine's results, which include facts from earlier exchanges: what a card declared,
// and what was seen at an address before.
package reading

import (
	"bytes"
	"slices"

	"a2atap/analyzer/internal/address"
	"a2atap/analyzer/internal/cardfetch"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/neighbor"
)

// A Reading is the interpretation of one exchange by itself, or with the cards that a Reader has seen: for lists,
// filters and exports.
type Reading struct {
	Call     a2a.Call
	Dialects a2a.Dialects // of the request, or else of the answer; empty if neither shows one
	Tasks    []string     // ids, in order of appearance
	Contexts []string
	Messages []string
	States   []string // normalised names, in order of appearance, without repetition
	Roles    []string // "user", "agent"
	Events   []EventReading
	Errors   []*a2a.Error
	Card     *a2a.Card        // that the answer holds, or nil
	Neighbor *neighbor.Reader // of a call that is not A2A; nil for others

	brief     bool // messages, states and roles are not noted
	delivered bool // it was sent to an address that was made for one agent's notifications
}

// An EventReading is the interpretation of one event of a stream.
type EventReading struct {
	K     int
	Kind  a2a.PayloadKind
	State a2a.State
	Err   *a2a.Error
}

// Read reads the recorded part of one exchange.
func Read(x *capture.Exchange) *Reading {
	head := capture.ParseRequestHead(x.Request.Head)
	return read(x, &head, a2a.Known{})
}

func read(x *capture.Exchange, head *capture.Head, known a2a.Known) *Reading {
	r := &Reading{delivered: x.Client.ByWebhook()}
	body, _ := x.Request.Body.Decode(head)
	r.asked(&capture.Parsed{Head: head, Text: body}, known)
	r.unreadable(head, body)
	switch {
	case x.Response == nil:
	case r.Call.A2A():
		r.response(x)
	case cardfetch.MayAsk(head, body):
		r.search(x, head, nil)
	}
	if r.Call.Asks() == a2a.NoOperation && !r.Call.A2A() {
		r.Neighbor = neighbor.Read(x, neighborRoom)
	}
	return r
}

// neighborRoom bounds the text and the arguments that are put together for a call that is not A2A, in bytes.
const neighborRoom = 1 << 20

// Kind returns the kind of the exchange.
func (r *Reading) Kind() neighbor.Kind {
	switch {
	case r.Neighbor != nil:
		return r.Neighbor.Kind
	case r.Call.Asks() != a2a.NoOperation || r.Call.A2A() || r.Card != nil:
		return neighbor.A2A
	}
	return neighbor.Other
}

// unreadable recognizes a request as a JSON-RPC call whose body cannot be parsed.
func (r *Reading) unreadable(head *capture.Head, body []byte) {
	const begin = 512
	if r.Call.A2A() || head.Method != "POST" || !bytes.Contains(body[:min(len(body), begin)], []byte(`"jsonrpc"`)) {
		return
	}
	if doc := a2a.Parse(body); doc.Err != nil {
		r.Call = a2a.Call{Binding: a2a.JSONRPC, Doc: doc}
	}
}

// asked reads a request.
func (r *Reading) asked(p *capture.Parsed, known a2a.Known) {
	r.Call = a2a.DecodeRequest(a2a.Request{
		Method: p.Head.Method, Target: p.Head.Target, Header: p.Head.Fields.Get, Body: p.Text, Doc: p.Doc,
		ForWebhook: r.delivered,
	}, known)
	r.Dialects = r.Call.Dialects
	r.request()
}

// partsOf returns a copy of the parsed parts, to be completed.
func partsOf(p *capture.Parsed) capture.Parsed {
	if p == nil {
		return capture.Parsed{}
	}
	return *p
}

// ReadAnswer decodes the recorded part of an exchange's answer, given the call in its request.
func ReadAnswer(call *a2a.Call, x *capture.Exchange) *Reading {
	r := &Reading{}
	r.readAnswer(call, x, nil)
	return r
}

// readAnswer is ReadAnswer into an empty reading. It reuses parsed data; nil means that nothing was parsed.
func (r *Reading) readAnswer(call *a2a.Call, x *capture.Exchange, parsed *capture.Parsed) {
	r.Call, r.Dialects = *call, call.Dialects
	switch {
	case x.Response == nil:
	case !call.A2A():
		if head := capture.ParseRequestHead(x.Request.Head); cardfetch.MayAsk(&head, x.Request.Body.Data) {
			r.search(x, &head, parsed)
		}
	case parsed == nil || parsed.Head == nil || x.Response.Stream:
		r.response(x)
	case len(parsed.Text) > 0:
		r.body(parsed)
	}
}

func (r *Reading) request() {
	r.note(&r.Tasks, r.Call.TaskID)
	r.note(&r.Contexts, r.Call.ContextID)
	if r.Call.Message.Exists() {
		r.message(a2a.Message{Value: r.Call.Message})
	}
}

func (r *Reading) response(x *capture.Exchange) {
	res := x.Response
	head := capture.ParseResponseHead(res.Head)
	overGRPC := r.Call.Binding == a2a.GRPC
	var status grpc.Status
	var told bool
	if overGRPC {
		status, told = statusOf(x, &head)
	}
	single := overGRPC && !r.Call.Streams
	for i := range res.Events {
		e := &res.Events[i]
		fields := e.Fields()
		if !overGRPC && !fields.HasData && e.Dropped == 0 {
			r.values(a2a.BareValues(e.Raw))
		}
		if e.K == 0 || !fields.HasData || single && (!told || status.Code != grpc.OK) { // the trailer decides whether it counts
			continue
		}
		a := a2a.DecodeEvent(&r.Call, fields.Data)
		state := r.answer(&a)
		if single {
			continue
		}
		r.Events = append(r.Events, EventReading{K: e.K, Kind: a.Payload.Kind, State: state, Err: a.Err})
	}
	if told && status.Code != grpc.OK {
		a := a2a.ReadStatus(&r.Call, &status)
		r.answer(&a)
	}
	if body, _ := res.Body.Decode(&head); !res.Stream && len(body) > 0 {
		r.body(&capture.Parsed{Head: &head, Text: body})
	}
}

func (r *Reading) body(p *capture.Parsed) {
	doc := p.Doc
	if doc == nil {
		doc = parsed(p.Text)
	}
	a := a2a.ReadAnswer(&r.Call, p.Head.Status, p.Head.Fields.MediaType(), doc)
	r.answer(&a)
	values, _ := r.Call.Values(p.Head.Status, p.Text, doc)
	r.values(values)
}

// values records the JSON values that came instead of events.
func (r *Reading) values(values []a2a.Doc) {
	for i := range values {
		a := a2a.ReadEvent(&r.Call, &values[i])
		r.answer(&a)
	}
}

// statusOf returns the status of a gRPC call, and whether its answer has one: in the trailer, or in the head of an
// answer without messages. Other programs may record trailers among the fields of the head.
func statusOf(x *capture.Exchange, head *capture.Head) (grpc.Status, bool) {
	messages := len(x.Response.Events)
	if capture.Foreign(x.ID) {
		messages = 0
	}
	trailer, _ := capture.ParseFields(x.Response.Trailer)
	return capture.GRPCStatusIn(trailer, head.Fields, messages)
}

// answer records the contents of an answer or an event and returns the state that it shows, if any.
func (r *Reading) answer(a *a2a.Answer) (state a2a.State) {
	if r.Dialects.Empty() {
		r.Dialects = a.Payload.Dialects
	}
	if a.Err != nil {
		r.Errors = append(r.Errors, a.Err)
	}
	switch v := a.Payload.Value; a.Payload.Kind {
	case a2a.TaskPayload:
		return r.task(a2a.Task{Value: v})
	case a2a.TaskListPayload:
		for t := range a.Payload.Tasks() {
			r.task(t)
		}
	case a2a.MessagePayload:
		r.message(a2a.Message{Value: v})
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: v}
		r.note(&r.Tasks, u.TaskID())
		r.note(&r.Contexts, u.ContextID())
		r.state(u.State())
		r.said(u.Status().Message())
		return u.State()
	case a2a.ArtifactPayload:
		u := a2a.ArtifactUpdate{Value: v}
		r.note(&r.Tasks, u.TaskID())
		r.note(&r.Contexts, u.ContextID())
	case a2a.CardPayload:
		card := a2a.DecodeCard(v)
		r.Card = &card
	}
	return state
}

func (r *Reading) task(t a2a.Task) a2a.State {
	r.note(&r.Tasks, t.ID())
	r.note(&r.Contexts, t.ContextID())
	r.state(t.State())
	r.said(t.StatusMessage())
	for _, m := range t.History() {
		r.said(m)
	}
	return t.State()
}

// said records a message inside a task or an update.
func (r *Reading) said(m a2a.Message) {
	if m.Exists() {
		r.message(m)
	}
}

func (r *Reading) message(m a2a.Message) {
	r.note(&r.Tasks, m.TaskID())
	r.note(&r.Contexts, m.ContextID())
	if !r.brief {
		r.note(&r.Messages, m.ID())
		r.note(&r.Roles, m.Role().String())
	}
}

func (r *Reading) state(s a2a.State) {
	if s.Known() && !r.brief {
		r.note(&r.States, s.String())
	}
}

func (r *Reading) note(list *[]string, value string) {
	if value != "" && !slices.Contains(*list, value) {
		*list = append(*list, value)
	}
}

// Asked describes the request in a few words: the operation, or an unknown method in quotes, or that its body cannot be
// read; "" if it is not a call.
func (r *Reading) Asked() string {
	if r.Neighbor != nil {
		return r.Neighbor.Title()
	}
	return summary.CallWords(&r.Call)
}

// State returns the last state that the exchange shows, or "".
func (r *Reading) State() string {
	if len(r.States) == 0 {
		return ""
	}
	return r.States[len(r.States)-1]
}

// ReadEvent decodes one event of the stream that answers a call, by itself. It reuses parsed data; nil means that
// nothing was parsed.
func ReadEvent(call *a2a.Call, e *capture.Event, parsed *capture.Parsed) *Reading {
	r := &Reading{}
	r.readEvent(call, e, parsed)
	return r
}

// readEvent is ReadEvent into an empty reading.
func (r *Reading) readEvent(call *a2a.Call, e *capture.Event, parsed *capture.Parsed) {
	r.Call, r.Dialects = *call, call.Dialects
	if parsed != nil && parsed.Doc != nil {
		a := a2a.ReadEvent(call, parsed.Doc)
		r.answer(&a)
	} else if parsed != nil && parsed.Message != nil {
		return // it cannot be read
	} else if fields := e.Fields(); fields.HasData {
		a := a2a.DecodeEvent(call, fields.Data)
		r.answer(&a)
	}
}

// search takes an answer that shows itself to be a card, of a request that does not ask for one by its path.
func (r *Reading) search(x *capture.Exchange, asked *capture.Head, p *capture.Parsed) {
	answer := partsOf(p)
	if answer.Head == nil {
		head := capture.ParseResponseHead(x.Response.Head)
		answer.Head = &head
	}
	if x.Response.Stream || !cardfetch.MayAnswer(answer.Head) || len(x.Response.Body.Data) > cardfetch.MaxBody {
		return
	}
	if answer.Text == nil {
		answer.Text, _ = x.Response.Body.Decode(answer.Head)
	}
	if !a2a.MayHoldCard(answer.Text) {
		return
	}
	if answer.Doc == nil {
		answer.Doc = parsed(answer.Text)
	}
	origin, path := address.Target(x.Agent.URL, asked.Target)
	call, found := cardfetch.Find(origin, path, answer.Doc.Root)
	if answer.Doc.Err != nil || !found {
		return
	}
	r.Call, r.Dialects = call, call.Dialects
	r.body(&answer)
}

func parsed(text []byte) *a2a.Doc {
	doc := a2a.Parse(text)
	return &doc
}
