package intake

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/address"
	"a2atap/analyzer/internal/cardfetch"
	"a2atap/analyzer/internal/directory"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/background"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/neighbor"
)

// request decodes a whole request and observes it: the whole, and the objects in it.
func (ob *observer) request(in *openExchange, s capture.Step) {
	x := in.X
	var lacks string
	if ob.leavesOut(len(in.request.Data), s.Parsed) {
		ob.drop(in, noTime)
		return
	}
	if x.Message = ob.requestMessage(in, s.Parsed); x.Message != nil {
		x.Body, x.Parsed = x.Message.Text, &x.Message.Doc
	} else {
		x.Body, x.Parsed, lacks = ob.content(&in.request, &x.Request, s.Parsed)
	}
	if lacks == "" && len(x.Body) > len(in.request.Data) && !ob.hold(in, len(x.Body)) {
		ob.gap(in)
	}
	if lacks != "" || x.Cut {
		ob.drop(in, lacks)
		return
	}
	if x.Message == nil {
		x.Doc() // which the call and its neighbors share
	}
	x.Call = a2a.DecodeRequest(a2a.Request{
		Method: x.Request.Method,
		Target: x.Request.Target,
		Header: x.Request.Fields.Get,
		Body:   x.Body, HasBody: len(x.Body) > 0, BodyKept: true, Doc: x.Parsed, ForWebhook: x.Sender != "",
	}, ob.known(in))
	switch {
	case x.Call.Binding == a2a.HTTPJSON:
		x.Call.TaskID = strings.Clone(x.Call.TaskID) // it is remembered longer than its request
	case x.Message == nil || x.Message.Err == nil || errors.Is(x.Message.Err, grpc.ErrNoMessage):
	case errors.Is(x.Message.Err, grpc.ErrNotKept):
		in.lack("its request's body", "was not kept")
		ob.missed = true
	default:
		in.lack("its request's message", "cannot be read: "+x.Message.Err.Error())
		ob.missed = true
	}
	if x.Parsed == nil && len(x.Body) > 0 && (x.Call.Doc.Err != nil || x.Call.Doc.Root.Exists()) {
		x.Parsed = &x.Call.Doc
	}
	if x.Parsed != nil && x.Judged() && !ob.hold(in, x.Parsed.Size()) {
		ob.gap(in)
		ob.drop(in, "was too large to keep")
		return
	}
	o := ob.message(x, analysis.RequestDecoded, s)
	o.Place = x.RequestPlace().Body()
	if x.Call.Operation == a2a.Webhook || !x.Call.A2A() {
		x.Dialects = x.Call.Dialects
		ob.observe(in, o)
	}
	if mayLack(&in.request, x.Call.Doc.Err != nil) {
		x.Call = a2a.Call{}
		in.lack("its request's body", "was not kept")
		ob.missed = true
		in.cut()
	}
	in.gathered.asked(&x.Call)
	ob.givenUp.asked(&x.Call)
	if x.Judged() {
		ob.endpoints.place(&in.Case)
		ob.counter.Asked(x)
	}
	near := ob.meet(in)
	o.Kind, o.Dialects = analysis.RequestRead, x.Dialects
	ob.observe(in, o)
	if !x.Judged() {
		x.Parsed = nil // it would be held for nothing
	}
	if near {
		ob.held -= len(in.request.Data)
		in.size -= len(in.request.Data)
		in.request.Data, x.Body = nil, nil
	}
	in.seeking = !x.Judged() && !x.Gather && !near && cardfetch.MayAsk(&x.Request, x.Body)
	if !x.Judged() || x.Call.Operation == a2a.GetCard || x.Call.Operation == a2a.Webhook {
		return // the answer decides what to check
	}
	if len(bytes.TrimSpace(x.Body)) > 0 {
		o.Doc = &x.Call.Doc
	}
	o.Kind = analysis.RequestSeen
	ob.observe(in, o)
	ob.requestObjects(in, o)
	o.Kind = analysis.RequestDone
	ob.observe(in, o)
	ob.batchAsked(in, s)
}

// drop drops a request whose body is missing or exceeds the bounds.
func (ob *observer) drop(in *openExchange, lacks string) {
	in.X.Body, in.X.Parsed, in.X.Call = nil, nil, a2a.Call{}
	if ob.meet(in) && in.X.Neighbor.Kind != neighbor.Other {
		return
	}
	in.lack("its request's body", lacks)
	ob.missed = true
	in.cut()
}

// answer decodes a complete response that is not an event stream. It observes the whole response, the outcome of the
// request, the objects in the response, and then the tasks or the card.
func (ob *observer) answer(in *openExchange, s capture.Step) {
	x := in.X
	if ob.leavesOut(len(in.response.Data), s.Parsed) {
		in.lack("its answer's body", noTime)
		in.cut()
		return
	}
	if isLarge(&in.response, &x.Response, s.Parsed) {
		defer background.Large()()
	}
	body, doc, lacks := ob.content(&in.response, &x.Response, s.Parsed)
	if !x.Judged() {
		if lacks == "" && x.Answered && !x.Cut {
			o := ob.message(x, analysis.BodySeen, s)
			o.Place, o.Body = x.ResponsePlace().Body(), body
			ob.observe(in, o)
		}
		return
	}
	if lacks != "" || !x.Answered || x.Cut || x.Response.Status == http.StatusPartialContent {
		in.lack("its answer's body", lacks)
		in.cut()
		return
	}
	if x.Call.Operation == a2a.Webhook {
		if x.Response.Status >= 300 {
			in.gathered.Said = summary.ErrorLine(body)
		}
		ob.webhook(in, s)
		return
	}
	if doc == nil {
		doc = ob.shown.readAnswer(x, body)
	}
	text := body
	if x.Call.Streams && doc.Err != nil {
		if lines, is := a2a.Separated(body); is {
			text, doc = lines, parsed(lines)
		}
	}
	ob.read = a2a.ReadAnswer(&x.Call, x.Response.Status, x.Response.Fields.MediaType(), doc)
	if mayLack(&in.response, ob.read.Doc.Err != nil) {
		in.lack("its answer's body", "was not kept")
		in.cut()
		return
	}
	values, count := x.Call.Values(x.Response.Status, text, doc)
	ob.read.Values = count
	ob.takeAnswer(in, s, &ob.read, x.ResponsePlace().Body(), body)
	ob.takeValues(in, s, values)
	ob.read = a2a.Answer{}
}

// takeAnswer observes a decoded answer at its place.
func (ob *observer) takeAnswer(in *openExchange, s capture.Step, a *a2a.Answer, place analysis.Place, body []byte) {
	x := in.X
	settle(x, &a.Payload)
	in.gathered.answered(a, nil)
	in.Card = cardOf(x, body)
	o := ob.message(x, analysis.AnswerSeen, s)
	o.Place = place
	o.Dialects = a.Payload.Dialects.NarrowedBy(answerDialects(x))
	o.Answer, o.Body = a, body
	if a.Early && x.Endpoint != nil {
		x.Endpoint.Early = true
	}
	if len(bytes.TrimSpace(body)) > 0 || a.Doc.Root.Exists() {
		o.Doc = &a.Doc
	}
	ob.observe(in, o)
	ob.answered(in, o)
	in.members = membersOf(x, a)
	ob.outcome(in, o, analysis.OutcomeSeen)
	ob.answerObjects(in, o, &a.Payload)
	ob.payload(in, o, &a.Payload)
	ob.answerDone(in, o)
	ob.batchAnswered(in, s, a.Doc.Root)
}

// event decodes one event of a stream, and observes its contents like an answer's.
func (ob *observer) event(in *openExchange, s capture.Step, raw capture.Event) {
	x := in.X
	if x.Stream == nil || raw.K == 0 {
		return
	}
	ob.leaveOut(in, &s, &raw)
	ev := &analysis.Event{K: raw.K, Raw: raw.Raw, Dropped: raw.Dropped, Unterminated: raw.Unterminated}
	var doc *a2a.Doc
	switch {
	case x.Call.Binding == a2a.GRPC:
		if ev.Message = in.withheld(raw.K); ev.Message == nil {
			ev.Message = ob.answerMessage(x, &s, raw.Raw)
		}
		ev.Fields = capture.EventFields{Data: ev.Message.Text, HasData: true, DataLines: 1, Retry: capture.NotKnown}
		doc = &ev.Message.Doc
	case s.Parsed != nil && s.Parsed.Fields != nil:
		ev.Fields, doc = *s.Parsed.Fields, s.Parsed.Doc
	default:
		ev.Fields = raw.Fields()
	}
	in.gathered.typed(ev.Fields.Type)
	ob.counter.Counts.Events++
	x.Stream.Gap = x.Stream.Gap || raw.K > in.lastK+1 || raw.Dropped > 0
	in.lastK = raw.K
	if raw.Dropped == 0 && !ev.Fields.HasData && ev.Message == nil {
		values := a2a.BareValues(ev.Raw)
		x.Stream.Bare += len(values)
		ob.takeValues(in, s, values)
	}
	switch {
	case raw.Unterminated:
		x.Stream.Rest = ev
		return
	case raw.Dropped > 0 && in.withheld(raw.K) == nil:
		return
	}
	o := ob.message(x, analysis.EventSeen, s)
	o.Place = x.ResponsePlace().Event(raw.K)
	if o.Event = ev; ev.Message != nil && ev.Message.Err != nil {
		x.Stream.Gap = true
		in.lack("a message of its answer", "cannot be read: "+ev.Message.Err.Error())
		if !ev.Message.Limit() { // every client's library then fails the call
			x.Outcome = analysis.Outcome{Failure: analysis.NoProtocol}
		}
	}
	if len(bytes.TrimSpace(ev.Fields.Data)) > 0 {
		if doc == nil {
			doc = parsed(ev.Fields.Data)
		}
		a := a2a.ReadEvent(&x.Call, doc)
		settle(x, &a.Payload)
		if keepsAlive(ev, &a) {
			if string(ev.Fields.Type) == "error" {
				x.Stream.ErrorData = string(ev.Fields.Data[:min(len(ev.Fields.Data), maxErrorData)])
			}
			return
		}
		readInStream(x, &a.Payload)
		in.gathered.answered(&a, ev)
		o.Answer, o.Doc = &a, &a.Doc
		o.Dialects = a.Payload.Dialects.NarrowedBy(answerDialects(x))
	}
	ob.takeEvent(in, o)
}

// takeEvent observes a decoded event.
func (ob *observer) takeEvent(in *openExchange, o *analysis.Observation) {
	x := in.X
	ob.observe(in, o)
	if o.Answer == nil {
		return
	}
	ob.answered(in, o)
	ob.tellEvent(x, o, in)
	switch own := o.Answer.Payload.Dialects; {
	case x.Stream.Events == 0 && !x.Stream.Gap:
		ob.outcome(in, o, analysis.OutcomeSeen)
	case !own.Empty() && !x.Dialects.Empty() && own.Intersect(x.Dialects).Empty():
		ob.outcome(in, o, analysis.ForeignSeen)
	}
	ob.answerObjects(in, o, &o.Answer.Payload)
	ob.payload(in, o, &o.Answer.Payload)
	if before := x.Stream.Over; addEvent(x.Stream, o) && !before {
		in.overAt = in.offset(o)
	}
	ob.answerDone(in, o)
}

// answered records the outcome of a call, and if the call was refused because of its credentials, whether it had any.
func (ob *observer) answered(in *openExchange, o *analysis.Observation) {
	in.answered(o)
	if isCall(in.X) && o.RefusesCredentials() {
		in.gathered.Credentials = ob.endpoints.credentials(in.X)
	}
}

// outcome observes the contents of an answer or an event again, now as the outcome of the request. It uses the dialects
// of the request instead of the answer's.
func (ob *observer) outcome(in *openExchange, o *analysis.Observation, as analysis.Kinds) {
	kind, dialects := o.Kind, o.Dialects
	in.spoken = dialects
	o.Kind, o.Dialects = as, o.Exchange.Dialects
	ob.observe(in, o)
	o.Kind, o.Dialects = kind, dialects
}

// maxErrorData bounds the stored bytes of an event of type "error" that is not an A2A event.
const maxErrorData = 256

// keepsAlive reports whether an event has a custom type and no A2A content, such as a "ping" that keeps a connection
// open. A2A does not define such types.
func keepsAlive(ev *analysis.Event, a *a2a.Answer) bool {
	kind := string(ev.Fields.Type)
	if kind == "" || kind == "message" || a.IsEnvelope || a.Err != nil {
		return false
	}
	return a.Payload.Kind == a2a.NoPayload || a.Payload.Kind == a2a.UnknownPayload
}

// answerDone records what an answer or an event shows about the agent, and ends its observation.
func (ob *observer) answerDone(in *openExchange, o *analysis.Observation) {
	x := o.Exchange
	switch {
	case x.Call.Operation == a2a.GetCard && o.Answer.Doc.Err != nil && x.Response.Status < 300 &&
		x.Response.Fields.MediaType() == "application/json":
		ob.counter.BadCard(x, "is not JSON")
	case isCall(x) && o.Answer.Err != nil && o.Answer.Err.Name != a2a.NoErrorName:
		ob.counter.Refused(x)
	}
	if spoken, ok := o.Succeeded(); ok {
		if x.Stream == nil || x.Stream.Events <= 1 {
			ob.counter.Answered(x)
		}
		x.Endpoint.Answered |= spoken
	}
	o.Kind = analysis.AnswerDone
	ob.observe(in, o)
}

// streamEnded observes the end of a stream, or of the capture.
func (ob *observer) streamEnded(in *openExchange, s capture.Step, end analysis.StreamEnd) {
	x := in.X
	o := ob.message(x, analysis.StreamEnded, s)
	o.Place = x.ResponsePlace().Body()
	o.Dialects = x.Stream.Dialects.NarrowedBy(answerDialects(x))
	o.End = &end
	ob.observe(in, o)
}

// undelivered observes a notification whose receiver has not answered, and never will. A broken request counts as a
// notification if it went to an address that was made for an agent's notifications.
func (ob *observer) undelivered(in *openExchange, s capture.Step) {
	x := in.X
	switch {
	case x.Call.Operation == a2a.Webhook && x.Asked && !x.Cut && !in.notified:
		ob.webhook(in, s)
	case x.Sender != "" && x.Request.Method == http.MethodPost && (!x.Asked || x.Cut) && !x.Call.A2A():
		x.Call.Operation = a2a.Webhook
		in.gathered.asked(&x.Call)
	}
}

// webhook observes a notification once its receiver has answered, or can no longer answer.
func (ob *observer) webhook(in *openExchange, s capture.Step) {
	x := in.X
	in.notified = true
	doc := x.Doc()
	p := a2a.ReadWebhook(doc)
	in.gathered.payload(&p, true)
	o := ob.message(x, analysis.WebhookSeen, s)
	o.Place = x.RequestPlace().Body()
	if len(x.Body) > 0 {
		o.Doc = doc
	}
	if o.Dialects.Empty() {
		o.Dialects = p.Dialects
	}
	ob.observe(in, o)
	if x.Agent != "" {
		// Before 1.0 the agent decides what to send.
		if o.Dialects == a2a.Of(a2a.V1_0) && (p.Dialects.Empty() || p.Dialects.Has(a2a.V1_0)) {
			ob.answerObjects(in, o, &p)
		}
		ob.payload(in, o, &p)
	}
	o.Kind = analysis.WebhookDone
	ob.observe(in, o)
}

// payload observes the protocol objects that came with an answer, an event or a notification.
func (ob *observer) payload(in *openExchange, o *analysis.Observation, p *a2a.Payload) {
	switch p.Kind {
	case a2a.CardPayload:
		ob.card(in, o, p)
	case a2a.TaskListPayload:
		base := p.Pointer
		if p.Value.Kind() == a2a.Object {
			base += "/tasks"
		}
		i := 0
		for t := range p.Tasks() {
			ob.task(in, o, t, base+"/"+strconv.Itoa(i))
			i++
		}
	case a2a.TaskPayload:
		ob.task(in, o, a2a.Task{Value: p.Value}, p.Pointer)
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: p.Value}
		ob.taskSeen(in, o, analysis.TaskObservation{
			Object: o.Place.At(p.Pointer), TaskID: u.TaskID(), ContextID: u.ContextID(), IDNamed: !u.Has("taskId"),
			State: u.State(), Spelling: u.StateText(),
		})
		ob.taskEnded(in, u.TaskID(), u.State(), u.Status().Message())
	case a2a.ArtifactPayload:
		u := a2a.ArtifactUpdate{Value: p.Value}
		ob.taskSeen(in, o, analysis.TaskObservation{
			Object: o.Place.At(p.Pointer), TaskID: u.TaskID(), ContextID: u.ContextID(), IDNamed: !u.Has("taskId"),
		})
	}
}

func (ob *observer) task(in *openExchange, o *analysis.Observation, t a2a.Task, pointer string) {
	id, state := t.ID(), t.State()
	stamp, _ := t.Time()
	ob.taskSeen(in, o, analysis.TaskObservation{
		Object: o.Place.At(pointer), Snapshot: true,
		TaskID: id, ContextID: t.ContextID(), State: state, Spelling: t.StateText(), Stamp: stamp,
	})
	ob.taskEnded(in, id, state, t.StatusMessage())
}

// taskSeen observes a task, if it has an id.
func (ob *observer) taskSeen(in *openExchange, o *analysis.Observation, seen analysis.TaskObservation) {
	if seen.TaskID == "" {
		return
	}
	x := o.Exchange
	if seen.State == a2a.Completed && x.Call.Operation != a2a.Webhook {
		ob.counter.Completed(x)
	}
	seen.TaskID, seen.ContextID = ob.ids.one(seen.TaskID), ob.ids.one(seen.ContextID)
	in.saw(seen.TaskID)
	seen.Exchange, seen.Arrival, seen.At = x.Seq, o.Arrival, o.At
	seen.Late = o.Kind == analysis.WebhookSeen || x.Call.Operation == a2a.SubscribeToTask && !o.Dialects.Has(a2a.V1_0)
	seen.Event, seen.Viewer = o.Kind != analysis.AnswerSeen, x.Viewer()
	ob.counter.Task(x, &seen)
	at := ob.within(o, analysis.TaskSeen, seen.Object)
	at.Task = &seen
	ob.observe(in, at)
}

func (ob *observer) card(in *openExchange, o *analysis.Observation, p *a2a.Payload) {
	x := o.Exchange
	card, quiet := ob.shown.readCard(x, p.Value)
	seen := ob.within(o, analysis.CardSeen, o.Place.At(p.Pointer))
	seen.Card, seen.Quiet, seen.Dialects = card, quiet, card.Shapes.NarrowedBy(o.Dialects)
	ob.observe(in, seen)
	in.gathered.Offered = offered(card)
	in.gathered.Unusable = unusable(x, in.gathered.Offered)
	for i := range card.Interfaces[:min(len(card.Interfaces), directory.MaxInterfaces)] {
		in.gathered.add(&in.gathered.Offers, address.Server(directory.AddressOf(&card.Interfaces[i])))
	}
	ob.endpoints.learn(x, card)
	ob.counter.Card(x, card)
	if ob.hooks.Card != nil {
		ob.hooks.Card(seen)
	}
}

// callEnded observes the end of a call, a card fetch or a notification, whatever its outcome.
func (ob *observer) callEnded(in *openExchange, s capture.Step, end *analysis.StreamEnd) {
	o := ob.message(in.X, analysis.CallEnded, s)
	o.Place, o.End = in.X.RequestPlace(), end
	o.Dialects = in.X.Dialects.NarrowedBy(a2a.Of(a2a.V0_1, a2a.V0_2, a2a.V0_3, a2a.V1_0))
	ob.observe(in, o)
}
