package analyzer

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"a2atap/analyzer/cardfetch"
	"a2atap/proxy/a2a"
	"a2atap/proxy/background"
	"a2atap/proxy/capture"
)

// request decodes a whole request and observes it: the whole, and the objects in it.
func (e *Engine) request(in *intake, s capture.Step) {
	x := in.x
	var whole bool
	x.Body, x.doc, whole = content(&in.request, &x.Request, s.Parsed)
	if whole && len(x.Body) > len(in.request.Data) && !e.hold(in, len(x.Body)) {
		e.gap(in)
	}
	if !whole || x.Cut {
		x.Body, x.doc = nil, nil
		e.requestMissed = true
		in.cut()
		return
	}
	x.Call = a2a.DecodeRequest(a2a.Request{
		Method: x.Request.Method,
		Target: x.Request.Target,
		Header: x.Request.Fields.Get,
		Body:   x.Body, HasBody: len(x.Body) > 0, BodyKept: true, Doc: x.doc,
	}, e.knownOf(in))
	if x.Call.Binding == a2a.HTTPJSON {
		x.Call.TaskID = strings.Clone(x.Call.TaskID) // it is remembered, and its request is not
	}
	if x.doc == nil && len(x.Body) > 0 && (x.Call.Doc.Err != nil || x.Call.Doc.Root.Exists()) {
		x.doc = &x.Call.Doc
	}
	if x.doc != nil {
		in.size += x.doc.Size()
		e.held += x.doc.Size()
	}
	o := e.message(x, RequestDecoded, s)
	o.Place = x.RequestPlace().Body()
	if x.Call.Operation == a2a.Webhook || !x.Call.A2A() {
		x.Dialects = x.Call.Dialects
		e.observe(in, o)
	}
	if mayLack(&in.request, &x.Call.Doc) {
		x.Call = a2a.Call{}
		e.requestMissed = true
		in.cut()
	}
	in.gathered.asked(&x.Call)
	if x.Judged() {
		e.endpoints.place(x)
		e.agents.asked(in)
	}
	e.requestMissed = e.requestMissed || x.Call.Binding == a2a.GRPC // which is not decoded
	o.Kind, o.Dialects = RequestRead, x.Dialects
	e.observe(in, o)
	in.seeking = !x.Judged() && !x.Gather && cardfetch.MayAsk(&x.Request, x.Body)
	if !x.Judged() || x.Call.Operation == a2a.GetCard || x.Call.Operation == a2a.Webhook {
		return // what there is to judge comes with the answer
	}
	if len(bytes.TrimSpace(x.Body)) > 0 {
		o.Doc = &x.Call.Doc
	}
	o.Kind = RequestSeen
	e.observe(in, o)
	e.requestObjects(in, o)
	o.Kind = RequestDone
	e.observe(in, o)
	e.batchAsked(in, s)
}

// answer decodes a whole answer that is no event stream, and observes what is in it: the whole, what came of the
// request, the objects in it, and then the tasks or the card.
func (e *Engine) answer(in *intake, s capture.Step) {
	x := in.x
	if isLarge(&in.response, &x.Response, s.Parsed) {
		defer background.Large()()
	}
	body, doc, whole := content(&in.response, &x.Response, s.Parsed)
	if !x.Judged() {
		if whole && x.Answered && !x.Cut {
			o := e.message(x, BodySeen, s)
			o.Place, o.Body = x.ResponsePlace().Body(), body
			e.observe(in, o)
		}
		return
	}
	if !whole || !x.Answered || x.Cut || x.Response.Status == http.StatusPartialContent {
		in.cut()
		return
	}
	if x.Call.Operation == a2a.Webhook {
		e.webhook(in, s)
		return
	}
	if doc == nil && x.Call.Binding != a2a.GRPC {
		doc = e.readAnswer(x, body)
	}
	a := a2a.ReadAnswer(&x.Call, x.Response.Status, x.Response.Fields.MediaType(), doc)
	x.settle(&a.Payload)
	if mayLack(&in.response, &a.Doc) {
		in.cut()
		return
	}
	in.gathered.answered(&a, nil)
	x.card = cardOf(x, body)
	o := e.message(x, AnswerSeen, s)
	o.Place = x.ResponsePlace().Body()
	o.Dialects = dialectsOr(a.Payload.Dialects, x.answerDialects())
	o.Answer, o.Body = &a, body
	if a.Early && x.Endpoint != nil {
		x.Endpoint.Early = true
	}
	if len(bytes.TrimSpace(body)) > 0 {
		o.Doc = &a.Doc
	}
	e.observe(in, o)
	in.answered(o)
	e.outcome(in, o, OutcomeSeen)
	e.answerObjects(in, o, &a.Payload)
	e.payload(in, o, &a.Payload)
	e.answerDone(in, o)
	e.batchAnswered(in, s, a.Doc.Root)
}

// event decodes one event of a stream, and observes what is in it as in an answer.
func (e *Engine) event(in *intake, s capture.Step, raw capture.Event) {
	x := in.x
	if x.Stream == nil || raw.K == 0 {
		return
	}
	ev := &Event{K: raw.K, Raw: raw.Raw, Dropped: raw.Dropped, Unterminated: raw.Unterminated}
	var doc *a2a.Doc
	if s.Parsed != nil && s.Parsed.Fields != nil {
		ev.Fields, doc = *s.Parsed.Fields, s.Parsed.Doc
	} else {
		ev.Fields = raw.Fields()
	}
	in.gathered.typed(ev.Fields.Type)
	e.counts.Events++
	x.Stream.Gap = x.Stream.Gap || raw.K > in.lastK+1 || raw.Dropped > 0
	in.lastK = raw.K
	switch {
	case raw.Unterminated:
		x.Stream.Rest = ev
		return
	case raw.Dropped > 0:
		return
	}
	o := e.message(x, EventSeen, s)
	o.Place = x.ResponsePlace().Event(raw.K)
	o.Event = ev
	if len(bytes.TrimSpace(ev.Fields.Data)) > 0 {
		if doc == nil && x.Call.Binding != a2a.GRPC {
			doc = parsed(ev.Fields.Data)
		}
		a := a2a.ReadEvent(&x.Call, doc)
		x.settle(&a.Payload)
		if keepsAlive(ev, &a) {
			if string(ev.Fields.Type) == "error" {
				x.Stream.ErrorData = string(ev.Fields.Data[:min(len(ev.Fields.Data), clipBytes)])
			}
			return
		}
		x.readInStream(&a.Payload)
		in.gathered.answered(&a, ev)
		o.Answer, o.Doc = &a, &a.Doc
		o.Dialects = dialectsOr(a.Payload.Dialects, x.answerDialects())
	}
	e.observe(in, o)
	if o.Answer == nil {
		return
	}
	in.answered(o)
	e.passed(x, o, in)
	switch own := o.Answer.Payload.Dialects; {
	case x.Stream.Events == 0 && !x.Stream.Gap:
		e.outcome(in, o, OutcomeSeen)
	case !own.Empty() && !x.Dialects.Empty() && own.Intersect(x.Dialects).Empty():
		e.outcome(in, o, ForeignSeen)
	}
	e.answerObjects(in, o, &o.Answer.Payload)
	e.payload(in, o, &o.Answer.Payload)
	x.Stream.add(o)
	e.answerDone(in, o)
}

// outcome observes once more what an answer or an event holds, now as what came of the request: by the dialects of the
// request, whatever those of the answer are.
func (e *Engine) outcome(in *intake, o *Observation, as Kinds) {
	kind, dialects := o.Kind, o.Dialects
	o.Kind, o.Dialects = as, o.Exchange.Dialects
	e.observe(in, o)
	o.Kind, o.Dialects = kind, dialects
}

// keepsAlive reports whether an event is of a type of its own and holds nothing of A2A, which says nothing of such
// types: a "ping" that keeps a connection from being closed, for example.
func keepsAlive(ev *Event, a *a2a.Answer) bool {
	kind := string(ev.Fields.Type)
	if kind == "" || kind == "message" || a.IsEnvelope || a.Err != nil {
		return false
	}
	return a.Payload.Kind == a2a.NoPayload || a.Payload.Kind == a2a.UnknownPayload
}

// answerDone remembers what an answer or an event shows of the agent, and ends its observation.
func (e *Engine) answerDone(in *intake, o *Observation) {
	x := o.Exchange
	switch {
	case x.Call.Operation == a2a.GetCard && o.Answer.Doc.Err != nil && x.Response.Status < 300 &&
		x.Response.Fields.MediaType() == "application/json":
		e.agents.badCard(x, "is no JSON")
	case x.isCall() && o.Answer.Err != nil && o.Answer.Err.Name != a2a.NoErrorName:
		e.agents.of(x).Refused++
	}
	if spoken, ok := o.Succeeded(); ok {
		if x.Stream == nil || x.Stream.Events <= 1 {
			e.agents.answered(x)
		}
		x.Endpoint.Answered |= spoken
	}
	o.Kind = AnswerDone
	e.observe(in, o)
}

// streamEnded observes that a stream is over, or that the capture is.
func (e *Engine) streamEnded(in *intake, s capture.Step, end StreamEnd) {
	x := in.x
	o := e.message(x, StreamEnded, s)
	o.Place = x.ResponsePlace().Body()
	o.Dialects = dialectsOr(x.Stream.Dialects, x.answerDialects())
	o.End = &end
	e.observe(in, o)
}

// webhook observes a notification once its receiver has answered.
func (e *Engine) webhook(in *intake, s capture.Step) {
	x := in.x
	doc := x.Doc()
	p := a2a.ReadWebhook(doc)
	in.gathered.payload(&p, true)
	o := e.message(x, WebhookSeen, s)
	o.Place = x.RequestPlace().Body()
	o.Doc = doc
	if o.Dialects.Empty() {
		o.Dialects = p.Dialects
	}
	e.observe(in, o)
	if x.Agent != "" {
		// Before 1.0 the agent decides what to send.
		if o.Dialects == a2a.Of(a2a.V1_0) && (p.Dialects.Empty() || p.Dialects.Has(a2a.V1_0)) {
			e.answerObjects(in, o, &p)
		}
		e.payload(in, o, &p)
	}
	o.Kind = WebhookDone
	e.observe(in, o)
}

// payload observes the protocol objects that came with an answer, an event or a notification.
func (e *Engine) payload(in *intake, o *Observation, p *a2a.Payload) {
	switch p.Kind {
	case a2a.CardPayload:
		e.card(in, o, p)
	case a2a.TaskListPayload:
		base := p.Pointer
		if p.Value.Kind() == a2a.Object {
			base += "/tasks"
		}
		i := 0
		for t := range p.Tasks() {
			e.task(in, o, t, base+"/"+strconv.Itoa(i))
			i++
		}
	case a2a.TaskPayload:
		e.task(in, o, a2a.Task{Value: p.Value}, p.Pointer)
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: p.Value}
		e.taskSeen(in, o, TaskObservation{
			Object: o.Place.At(p.Pointer), TaskID: u.TaskID(), ContextID: u.ContextID(), idNamed: !u.Has("taskId"),
			State: u.State(), Spelling: u.StateText(),
		})
	case a2a.ArtifactPayload:
		u := a2a.ArtifactUpdate{Value: p.Value}
		e.taskSeen(in, o, TaskObservation{
			Object: o.Place.At(p.Pointer), TaskID: u.TaskID(), ContextID: u.ContextID(), idNamed: !u.Has("taskId"),
		})
	}
}

func (e *Engine) task(in *intake, o *Observation, t a2a.Task, pointer string) {
	stamp, _ := t.Time()
	e.taskSeen(in, o, TaskObservation{
		Object: o.Place.At(pointer), Snapshot: true,
		TaskID: t.ID(), ContextID: t.ContextID(), State: t.State(), Spelling: t.StateText(), Stamp: stamp,
	})
}

// taskSeen observes a task, if it has an id.
func (e *Engine) taskSeen(in *intake, o *Observation, seen TaskObservation) {
	if seen.TaskID == "" {
		return
	}
	x := o.Exchange
	if seen.State == a2a.Completed && x.Call.Operation != a2a.Webhook {
		e.agents.of(x).Completed++
	}
	if seen.TaskID == in.task {
		seen.TaskID = in.task // one string for all that is remembered of it
	}
	in.saw(seen.TaskID)
	seen.Exchange, seen.Arrival, seen.At = x.Seq, o.Arrival, o.At
	seen.Late = o.Kind == WebhookSeen || x.Call.Operation == a2a.SubscribeToTask && !o.Dialects.Has(a2a.V1_0)
	seen.Event, seen.viewer = o.Kind != AnswerSeen, x.Viewer()
	at := e.within(o, TaskSeen, seen.Object)
	at.Task = &seen
	e.observe(in, at)
}

func (e *Engine) card(in *intake, o *Observation, p *a2a.Payload) {
	x := o.Exchange
	card := e.readCard(x, p.Value)
	seen := e.within(o, CardSeen, o.Place.At(p.Pointer))
	seen.Card, seen.Dialects = card, dialectsOr(card.Shapes, o.Dialects)
	e.observe(in, seen)
	e.endpoints.learn(x, card)
	e.agents.card(x, card)
}

// message begins the observation of a whole request, answer, event or notification. There is one at a time.
func (e *Engine) message(x *Exchange, kind Kinds, s capture.Step) *Observation {
	e.whole = Observation{Kind: kind, Exchange: x, Dialects: x.Dialects, Arrival: s.Arrival, At: x.at(s)}
	return &e.whole
}

// within begins the observation of a task or a card in a message. There is one at a time.
func (e *Engine) within(o *Observation, kind Kinds, at Place) *Observation {
	e.inner = *o
	e.inner.Kind, e.inner.Place = kind, at
	return &e.inner
}

// largeText is the length in bytes from which on a text is not judged while another is redacted.
const largeText = 1 << 20

// isLarge reports whether a body is long, or may be when it is decoded.
func isLarge(b *capture.Body, h *capture.Head, p *capture.Parsed) bool {
	return (p == nil || p.Text == nil) && (len(b.Data) > largeText || len(h.Fields.Codings()) > 0 && !b.Decoded)
}

// content returns a body with its content coding taken off, what that was parsed to if somebody has, and whether it is
// whole: complete, kept and decodable.
func content(b *capture.Body, h *capture.Head, p *capture.Parsed) ([]byte, *a2a.Doc, bool) {
	if !b.Complete || b.Dropped > 0 || b.Data == nil && b.Size != 0 {
		return nil, nil, false
	}
	if p != nil && p.Text != nil {
		return p.Text, p.Doc, true
	}
	plain, err := b.Decode(h)
	return plain, nil, err == nil
}

// parsed returns what a text is parsed to; the zero Doc if there is none.
func parsed(text []byte) *a2a.Doc {
	if len(text) == 0 {
		return &a2a.Doc{}
	}
	doc := a2a.Parse(text)
	return &doc
}

// mayLack reports whether a text that cannot be read may be at fault for a piece that is missing from the record: where
// the store refused one, the length alone tells.
func mayLack(b *capture.Body, doc *a2a.Doc) bool {
	return doc.Err != nil && !b.Decoded && b.Size != capture.NotKnown && b.Size != int64(len(b.Data))
}
