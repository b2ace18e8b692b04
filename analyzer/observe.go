package analyzer

import (
	"bytes"
	"net/http"
	"strconv"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// request decodes a whole request and observes it.
func (e *Engine) request(in *intake, s capture.Step) {
	x := in.x
	var whole bool
	x.Body, whole = content(&in.request, &x.Request)
	if !whole || x.Cut {
		e.session.blind = true
		in.cut()
		return
	}
	x.Call = a2a.DecodeRequest(a2a.Request{
		Method: x.Request.Method,
		Target: x.Request.Target,
		Header: x.Request.Fields.Get,
		Body:   x.Body, HasBody: len(x.Body) > 0, BodyKept: true,
	}, e.session.known(x))
	if x.Call.Operation == a2a.Webhook || !x.Call.A2A() {
		e.session.notice(x)
	}
	if holey(&in.request, &x.Call.Doc) {
		x.Call = a2a.Call{}
		e.session.blind = true
		in.cut()
	}
	if !x.judged() {
		x.keySet = x.Request.Method == http.MethodGet && e.session.awaitsKeys(x)
		return
	}
	if x.Call.Binding == a2a.GRPC { // which is not decoded
		e.session.blind = true
	}
	e.session.place(x)
	e.asksPage(in)
	if x.Call.Operation == a2a.GetCard || x.Call.Operation == a2a.Webhook {
		return // what there is to judge comes with the answer
	}
	o := x.observation(RequestSeen, s)
	o.Place = x.RequestPlace().Body()
	if len(bytes.TrimSpace(x.Body)) > 0 {
		o.Doc = &x.Call.Doc
	}
	e.observe(in, o)
	e.sent(in, o)
	e.session.asked(x, s.Arrival)
}

// answer decodes a whole answer that is no event stream, and observes what is in it.
func (e *Engine) answer(in *intake, s capture.Step) {
	x := in.x
	if x.keySet {
		e.keysFetched(in, s)
		return
	}
	body, whole := content(&in.response, &x.Response)
	if !whole || !x.Answered || x.Cut || x.Response.Status == http.StatusPartialContent {
		in.cut()
		return
	}
	if x.Call.Operation == a2a.Webhook {
		e.webhook(in, s)
		return
	}
	a := a2a.DecodeAnswer(&x.Call, x.Response.Status, x.Response.Fields.MediaType(), body)
	if holey(&in.response, &a.Doc) {
		in.cut()
		return
	}
	o := x.observation(AnswerSeen, s)
	o.Place = x.ResponsePlace().Body()
	o.Dialects = dialectsOr(a.Payload.Dialects, x.heard())
	o.Answer, o.Body = &a, body
	if len(bytes.TrimSpace(body)) > 0 {
		o.Doc = &a.Doc
	}
	e.observe(in, o)
	e.outcome(in, o)
	e.told(in, o, &a.Payload)
	e.session.answeredPush(o)
	e.session.listed(o)
	e.payload(in, o, &a.Payload)
	e.session.paged(o)
	e.session.denied(o)
	e.session.failed(o)
	e.session.confirmed(o)
	e.session.cardAnswered(o)
	e.session.showed(o)
	e.answered(x, &a)
	e.settleExpected(x)
}

// event decodes one event of a stream, and observes what is in it.
func (e *Engine) event(in *intake, s capture.Step, raw capture.Event) {
	x := in.x
	if x.Stream == nil || raw.K == 0 {
		return
	}
	ev := &Event{K: raw.K, Raw: raw.Raw, Dropped: raw.Dropped, Unterminated: raw.Unterminated, Fields: raw.Fields()}
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
	o := x.observation(EventSeen, s)
	o.Place = x.ResponsePlace().Event(raw.K)
	o.Event = ev
	if len(bytes.TrimSpace(ev.Fields.Data)) > 0 {
		a := a2a.DecodeEvent(&x.Call, ev.Fields.Data)
		if keepsAlive(ev, &a) {
			return
		}
		o.Answer, o.Doc = &a, &a.Doc
		o.Dialects = dialectsOr(a.Payload.Dialects, x.heard())
	}
	e.observe(in, o)
	if o.Answer != nil {
		if x.Stream.Events == 0 && !x.Stream.Gap {
			e.outcome(in, o)
		}
		e.told(in, o, &o.Answer.Payload)
		e.session.answeredPush(o)
		e.payload(in, o, &o.Answer.Payload)
		e.session.denied(o)
		e.session.failed(o)
		x.Stream.add(o)
		e.session.follow(o)
		e.answered(x, o.Answer)
		e.settleExpected(x)
	}
}

// keepsAlive reports whether an event is of a type of its own and holds nothing of A2A, which says nothing of such types:
// a "ping" that keeps a connection from being closed, for example.
func keepsAlive(ev *Event, a *a2a.Answer) bool {
	kind := string(ev.Fields.Type)
	if kind == "" || kind == "message" || a.IsEnvelope || a.Err != nil {
		return false
	}
	return a.Payload.Kind == a2a.NoPayload || a.Payload.Kind == a2a.UnknownPayload
}

// answered remembers what an answer or an event without an error shows of the agent.
func (e *Engine) answered(x *Exchange, a *a2a.Answer) {
	if a.Err != nil || x.Endpoint == nil {
		return
	}
	switch a.Payload.Kind {
	case a2a.NoPayload, a2a.UnknownPayload, a2a.ErrorPayload:
		return
	}
	if x.Stream == nil || x.Stream.Events <= 1 {
		e.agents.answered(x)
	}
	e.session.answered(x, a)
}

// streamEnded observes that a stream is over, or that the capture is.
func (e *Engine) streamEnded(in *intake, s capture.Step, end StreamEnd) {
	x := in.x
	o := x.observation(StreamEnded, s)
	o.Place = x.ResponsePlace().Body()
	o.Dialects = dialectsOr(x.Stream.Dialects, x.heard())
	o.End = &end
	e.observe(in, o)
	e.session.finished(o)
}

// webhook observes a notification once its receiver has answered.
func (e *Engine) webhook(in *intake, s capture.Step) {
	x := in.x
	p := a2a.DecodeWebhook(x.Body)
	doc := a2a.Parse(x.Body)
	o := x.observation(WebhookSeen, s)
	o.Place = x.RequestPlace().Body()
	o.Doc = &doc
	if o.Dialects.Empty() {
		o.Dialects = p.Dialects
	}
	e.observe(in, o)
	if x.agent != "" {
		if o.Dialects == a2a.Of(a2a.V1_0) && (p.Dialects.Empty() || p.Dialects.Has(a2a.V1_0)) { // before, the agent decides what to send
			e.told(in, o, &p)
		}
		e.payload(in, o, &p)
	}
	e.trace(in, o)
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
		e.sight(in, o, Sighting{
			Object: o.Place.At(p.Pointer), TaskID: u.TaskID(), ContextID: u.ContextID(), idNamed: !u.Has("taskId"), State: u.State(), Spelling: u.StateText(),
		})
	case a2a.ArtifactPayload:
		u := a2a.ArtifactUpdate{Value: p.Value}
		e.sight(in, o, Sighting{Object: o.Place.At(p.Pointer), TaskID: u.TaskID(), ContextID: u.ContextID(), idNamed: !u.Has("taskId")})
	}
}

func (e *Engine) task(in *intake, o *Observation, t a2a.Task, pointer string) {
	stamp, _ := t.Time()
	e.sight(in, o, Sighting{
		Object: o.Place.At(pointer), Snapshot: true,
		TaskID: t.ID(), ContextID: t.ContextID(), State: t.State(), Spelling: t.StateText(), Stamp: stamp,
	})
}

// sight observes a task and then lets the session remember it.
func (e *Engine) sight(in *intake, o *Observation, seen Sighting) {
	if seen.TaskID == "" {
		return
	}
	x := o.Exchange
	seen.Exchange, seen.Arrival, seen.At = x.Seq, o.Arrival, o.At
	seen.Late = o.Kind == WebhookSeen || x.Call.Operation == a2a.SubscribeToTask && !o.Dialects.Has(a2a.V1_0)
	seen.Event, seen.viewer = o.Kind != AnswerSeen, x.viewer()
	at := *o
	at.Kind, at.Task, at.Place = TaskSeen, &seen, seen.Object
	e.observe(in, &at)
	e.session.sighted(x, &seen)
	e.session.yielded(&at)
}

func (e *Engine) card(in *intake, o *Observation, p *a2a.Payload) {
	x := o.Exchange
	card := &Card{
		Card: a2a.DecodeCard(p.Value), URL: x.URL(), Client: x.Link.Client, Asked: x.Call.Version, Place: o.Place.At(p.Pointer),
		Extended: x.Call.Operation == a2a.GetExtendedCard, Arrival: o.Arrival, At: o.At,
	}
	card.Security = card.Card.Security()
	for ext := range card.Extensions() {
		if uri := ext.URI(); uri != "" && ext.Required() && len(card.Needs) < maxInterfaces {
			card.Needs = append(card.Needs, uri)
		}
	}
	seen := *o
	seen.Kind, seen.Card, seen.Place = CardSeen, &card.Card, card.Place
	seen.Dialects = card.Shapes
	e.observe(in, &seen)
	e.signed(in, &seen)
	e.session.learn(x, card)
	e.session.fetched(x, card)
	e.agents.card(x, &card.Card)
}

func (x *Exchange) observation(kind Kinds, s capture.Step) *Observation {
	return &Observation{Kind: kind, Exchange: x, Dialects: x.Dialects, Arrival: s.Arrival, At: x.at(s)}
}

// content returns a body with its content coding taken off, and whether it is whole: complete, kept and decodable.
func content(b *capture.Body, h *capture.Head) ([]byte, bool) {
	if !b.Complete || b.Dropped > 0 || b.Data == nil && b.Size != 0 {
		return nil, false
	}
	plain, err := b.Decode(h)
	return plain, err == nil
}

// holey reports whether a text that cannot be read may be at fault for a piece that is missing from the record: where the
// store refused one, the length alone tells.
func holey(b *capture.Body, doc *a2a.Doc) bool {
	return doc.Err != nil && !b.Decoded && b.Size != capture.NotKnown && b.Size != int64(len(b.Data))
}
