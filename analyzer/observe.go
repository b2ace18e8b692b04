package analyzer

import (
	"net/url"
	"strings"

	"a2atap/analyzer/a2a"
	"a2atap/proxy/capture"
)

// request decodes a whole request and observes it.
func (e *Engine) request(in *intake, s capture.Step) {
	x := in.x
	in.asked = true
	var whole bool
	x.Body, whole = content(&in.request, &x.Request)
	if !whole {
		x.Cut = true
		return
	}
	x.Call = a2a.DecodeRequest(a2a.Request{
		Method: x.Request.Method,
		Target: x.Request.Target,
		Header: x.Request.Fields.Values,
		Body:   x.Body, HasBody: len(x.Body) > 0, BodyKept: true,
	}, e.session.known(x))
	if x.Call.Operation == a2a.Webhook || !x.Call.A2A() {
		e.session.notice(x)
	}
	if !x.judged() {
		return
	}
	e.session.place(x)
	if x.Call.Operation == a2a.GetCard || x.Call.Operation == a2a.Webhook {
		return // what there is to judge comes with the answer
	}
	o := x.observation(RequestSeen, s)
	o.Place = x.RequestPlace().Body()
	if len(x.Body) > 0 {
		o.Doc = &x.Call.Doc
	}
	e.observe(o)
	e.session.asked(x)
}

// answer decodes a whole answer that is no event stream, and observes what is in it.
func (e *Engine) answer(in *intake, s capture.Step) {
	x := in.x
	if !x.judged() {
		return
	}
	body, whole := content(&in.response, &x.Response)
	if !whole {
		x.Cut = true
		return
	}
	if x.Call.Operation == a2a.Webhook {
		e.webhook(x, s)
		return
	}
	a := a2a.DecodeAnswer(&x.Call, x.Response.Status, x.Response.Fields.MediaType(), body)
	o := x.observation(AnswerSeen, s)
	o.Place = x.ResponsePlace().Body()
	o.Dialects = dialectsOr(a.Payload.Dialects, x.Dialects)
	o.Answer = &a
	if len(body) > 0 {
		o.Doc = &a.Doc
	}
	e.observe(o)
	e.payload(o, &a.Payload)
	e.session.denied(o)
	e.answered(x, &a)
}

// event decodes one event of a stream, and observes what is in it.
func (e *Engine) event(in *intake, s capture.Step, raw capture.Event) {
	x := in.x
	if x.Stream == nil || !x.judged() || raw.K == 0 {
		return
	}
	ev := &Event{K: raw.K, Dropped: raw.Dropped, Unterminated: raw.Unterminated, Fields: raw.Fields()}
	e.counts.Events++
	if raw.Unterminated {
		x.Stream.Rest = ev
		return
	}
	if raw.Dropped > 0 {
		x.Stream.Gap = true
		return
	}
	o := x.observation(EventSeen, s)
	o.Place = x.ResponsePlace().Event(raw.K)
	o.Event = ev
	if ev.Fields.HasData {
		a := a2a.DecodeEvent(&x.Call, ev.Fields.Data)
		o.Answer, o.Doc = &a, &a.Doc
		o.Dialects = dialectsOr(a.Payload.Dialects, x.Dialects)
	}
	e.observe(o)
	if o.Answer != nil {
		e.payload(o, &o.Answer.Payload)
		e.session.denied(o)
		x.Stream.add(ev.K, o.Answer, o.Dialects)
		e.answered(x, o.Answer)
	}
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

func (e *Engine) streamEnded(in *intake, s capture.Step, end StreamEnd) {
	x := in.x
	if !x.judged() {
		return
	}
	o := x.observation(StreamEnded, s)
	o.Place = x.ResponsePlace().Body()
	o.Dialects = dialectsOr(x.Stream.Dialects, x.Dialects)
	o.End = &end
	e.observe(o)
}

// webhook observes a notification once its receiver has answered.
func (e *Engine) webhook(x *Exchange, s capture.Step) {
	p := a2a.DecodeWebhook(x.Body)
	doc := a2a.Parse(x.Body)
	o := x.observation(WebhookSeen, s)
	o.Place = x.RequestPlace().Body()
	o.Doc = &doc
	if o.Dialects.Empty() {
		o.Dialects = p.Dialects
	}
	e.observe(o)
	e.payload(o, &p)
}

// payload observes the protocol objects that came with an answer, an event or a notification.
func (e *Engine) payload(o *Observation, p *a2a.Payload) {
	switch p.Kind {
	case a2a.CardPayload:
		e.card(o, p)
	case a2a.TaskListPayload:
		list := p.Value.Get("tasks")
		for i, v := range list.Elems() {
			e.task(o, a2a.Task{Value: v}, a2a.Ptr(p.Pointer, "tasks", i))
		}
	case a2a.TaskPayload:
		e.task(o, a2a.Task{Value: p.Value}, p.Pointer)
	case a2a.StatusPayload, a2a.ArtifactPayload:
		e.update(o, p)
	}
}

func (e *Engine) card(o *Observation, p *a2a.Payload) {
	x := o.Exchange
	card := &Card{
		Card: a2a.DecodeCard(p.Value), URL: x.URL(), Place: o.Place.At(p.Pointer),
		Extended: x.Call.Operation == a2a.GetExtendedCard, Arrival: o.Arrival, At: o.At,
	}
	seen := *o
	seen.Kind, seen.Card, seen.Place = CardSeen, &card.Card, card.Place
	seen.Dialects = card.Shapes
	e.observe(&seen)
	e.session.learn(x, card)
	e.agents.card(x, &card.Card)
}

func (e *Engine) task(o *Observation, t a2a.Task, pointer string) {
	status := t.State()
	e.sight(o, &Sighting{
		Place: o.Place.At(a2a.Ptr(pointer, "status", "state")), Context: o.Place.At(a2a.Ptr(pointer, "contextId")),
		TaskID: t.ID(), ContextID: t.ContextID(),
		State: status, Spelling: t.StateText(), Snapshot: true,
		ID: o.Place.At(a2a.Ptr(pointer, "id")),
	})
}

func (e *Engine) update(o *Observation, p *a2a.Payload) {
	seen := &Sighting{Context: o.Place.At(a2a.Ptr(p.Pointer, "contextId")), ID: o.Place.At(a2a.Ptr(p.Pointer, "taskId"))}
	if p.Kind == a2a.StatusPayload {
		u := a2a.StatusUpdate{Value: p.Value}
		seen.TaskID, seen.ContextID, seen.State, seen.Spelling = u.TaskID(), u.ContextID(), u.State(), u.StateText()
		seen.Place = o.Place.At(a2a.Ptr(p.Pointer, "status", "state"))
	} else {
		u := a2a.ArtifactUpdate{Value: p.Value}
		seen.TaskID, seen.ContextID = u.TaskID(), u.ContextID()
		seen.Place = o.Place.At(p.Pointer)
	}
	e.sight(o, seen)
}

// sight observes a task and then lets the session remember it.
func (e *Engine) sight(o *Observation, seen *Sighting) {
	if seen.TaskID == "" {
		return
	}
	x := o.Exchange
	seen.Exchange, seen.Arrival, seen.At = x.Seq, o.Arrival, o.At
	seen.Late = o.Kind == WebhookSeen || x.Call.Operation == a2a.SubscribeToTask && !o.Dialects.Has(a2a.V1_0)
	at := *o
	at.Kind, at.Task, at.Place = TaskSeen, seen, seen.Place
	e.observe(&at)
	e.session.sighted(x, seen)
}

// judged reports whether the exchange is one that rules look at.
func (x *Exchange) judged() bool {
	return x.Call.Operation != a2a.NoOperation || x.Call.Binding != a2a.NoBinding
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

// target returns the agent's origin and the escaped path that a request's target names there.
func target(agentURL, requestTarget string) (origin, path string) {
	if u, err := url.Parse(agentURL); err == nil && u.Host != "" {
		origin = u.Scheme + "://" + u.Host
	}
	path = requestTarget
	if u, err := url.Parse(requestTarget); err == nil && u.Host != "" { // absolute form, as a proxy gets it
		origin, path = u.Scheme+"://"+u.Host, u.RequestURI()
	}
	path, _, _ = strings.Cut(path, "?")
	return origin, path
}
