package playback

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
)

// An exchange is the part of a recorded exchange that is needed to find it. The rest is read for playback.
type exchange struct {
	seq      uint64
	agent    capture.Peer
	started  time.Time
	known    *a2a.Known // facts about its address at that time
	binding  a2a.Binding
	dialects a2a.Dialects
	message  string  // id of the message that it sends
	push     *pushed // nil if it sets no push config
	form     form
	tasks    []string        // that its answer shows or its request names
	ctx      string          // that its answer shows first
	after    *exchange       // the latest one before it that changed its task; nil if none did
	due      []*notification // that follow it
	uses     int             // how often it was played
}

// A pushed config has the values of a recorded push config that differ in a live one.
type pushed struct{ url, token, credentials string }

// A recorded exchange has the complete recorded contents.
type recorded struct {
	*exchange
	x    *capture.Exchange
	call a2a.Call
}

// changesTask reports whether the operation affects a task, so that answers about it may differ afterwards.
func changesTask(op a2a.Operation) bool {
	return op.Sends() || op == a2a.CancelTask || op == a2a.CreatePushConfig || op == a2a.DeletePushConfig
}

// A recording is the playable part of a capture.
type recording struct {
	src       capture.Source
	exchanges []*exchange
	ids       map[string]maker  // by role and text
	reader    reading.Reader    // what cards and calls of the capture tell about addresses
	known     []*a2a.Known      // recent facts about addresses
	texts     map[string]string // places of parameters, and names: each is kept once
	neighbors neighbors         // what is not A2A
	hide      hiding            // of the requests that are not A2A; nil if the recording has hidden their secrets
	upstreams upstreams

	unanswered, batches int // see Report
}

// Is reports whether a name in a recording means the agent. A tap that opened by itself for a further address of an
// agent has the name NAME:PORT.
func Is(name, agent string) bool {
	return name == agent || strings.HasPrefix(name, agent+":")
}

// isWebhook reports whether the exchange is a notification, which the agent sent.
func isWebhook(x *capture.Exchange) bool {
	return callOf(x, &a2a.Known{}).Operation == a2a.Webhook
}

// callOf returns the call in an exchange, given the known facts about its address.
func callOf(x *capture.Exchange, known *a2a.Known) a2a.Call {
	head := capture.ParseRequestHead(x.Request.Head)
	body, err := x.Request.Content()
	return a2a.DecodeRequest(a2a.Request{
		Method: head.Method, Target: head.Target, Header: head.Fields.Get,
		Body: body, HasBody: len(body) > 0, BodyKept: err == nil && x.Request.Body.Kept(), ForWebhook: x.Client.ByWebhook(),
	}, *known)
}

// knownOf returns known facts about the address of an exchange. Exchanges with equal facts share them.
func (s *recording) knownOf(x *capture.Exchange) *a2a.Known {
	now := s.reader.Known(x.Agent.URL, capture.ParseRequestHead(x.Request.Head).Target)
	for _, known := range s.known {
		if reflect.DeepEqual(*known, now) {
			return known
		}
	}
	const lately = 32
	if len(s.known) == lately {
		s.known = s.known[1:]
	}
	s.known = append(s.known, &now)
	return &now
}

// read returns an exchange for playback, or nil if there is nothing to play, and whether it is not A2A.
func (s *recording) read(x *capture.Exchange) (a *exchange, isNeighbor bool) {
	known := s.knownOf(x)
	r := &recorded{x: x, call: callOf(x, known)}
	if !r.call.A2A() || r.call.Batch != nil {
		return nil, r.call.Batch == nil
	}
	s.reader.Answered(x, reading.ReadAnswer(&r.call, x))
	s.name("context", contextOf(&r.call), clientMade)
	s.name("task", r.call.TaskID, clientMade)
	if !playable(x) {
		return nil, false
	}
	r.exchange = &exchange{
		seq: x.Seq, started: x.Started, known: known, agent: x.Agent,
		binding: r.call.Binding, dialects: r.call.Dialects, message: r.call.MessageID, form: newForm(&r.call),
	}
	if config := r.call.PushConfig; config.Exists() {
		r.push = &pushed{config.URL(), config.Token(), config.Credentials()}
	}
	r.form.upstream = upstreamOf(x.Agent.URL)
	s.shown(r)
	r.form.letGo(s.texts)
	return r.exchange, false
}

// open reads an exchange as it was recorded.
func (s *recording) open(ctx context.Context, a *exchange) (*recorded, error) {
	x, err := s.src.Exchange(ctx, a.seq)
	if err != nil {
		return nil, fmt.Errorf("read exchange %d of the capture again: %w", a.seq, err)
	}
	return &recorded{exchange: a, x: x, call: callOf(x, a.known)}, nil
}

// name notes the side that names an id, if it is the first.
func (s *recording) name(role, id string, by maker) {
	if key := roleKey(role, id); id != "" && s.ids[key] == 0 {
		s.ids[key] = by
	}
}

// skip counts an exchange that cannot be played.
func (s *recording) skip(x *capture.Exchange) {
	switch {
	case playable(x):
		s.batches++
	case x.Response == nil:
		s.unanswered++
	}
}

// playable reports whether there is an answer to give, or a silence to keep. An answer that a card has not changed
// does not help a client that has not seen the card.
func playable(x *capture.Exchange) bool {
	if x.Response == nil {
		return silenceOf(x) != noSilence
	}
	status := capture.ParseResponseHead(x.Response.Head).Status
	return status >= 200 && status != http.StatusNotModified
}

// roleKey returns the key of an id in the maps of a recording.
func roleKey(role, id string) string { return role + "\x00" + id }

// contextOfTask returns the context of a task, or its session.
func contextOfTask(t a2a.Task) string { return cmp.Or(t.ContextID(), t.SessionID()) }

// shown notes the ids in an answer and whether the answer is an error. It notes the task id unless the request names
// a task.
func (s *recording) shown(r *recorded) {
	if r.call.TaskID != "" {
		r.tasks = append(r.tasks, r.call.TaskID)
	}
	note := func(task, ctx string) {
		s.name("task", task, agentMade)
		s.name("context", ctx, agentMade)
		r.ctx = cmp.Or(r.ctx, ctx)
		if task != "" && len(r.tasks) == 0 {
			r.tasks = append(r.tasks, task)
		}
	}
	for payload := range r.payloads() {
		switch v := payload.Value; payload.Kind {
		case a2a.ErrorPayload:
			r.form.failed = true
		case a2a.TaskPayload:
			note(a2a.Task{Value: v}.ID(), contextOfTask(a2a.Task{Value: v}))
		case a2a.StatusPayload:
			note(a2a.StatusUpdate{Value: v}.TaskID(), a2a.StatusUpdate{Value: v}.ContextID())
		case a2a.ArtifactPayload:
			note(a2a.ArtifactUpdate{Value: v}.TaskID(), a2a.ArtifactUpdate{Value: v}.ContextID())
		case a2a.MessagePayload:
			ctx := a2a.Message{Value: v}.ContextID()
			s.name("context", ctx, agentMade)
			r.ctx = cmp.Or(r.ctx, ctx)
		case a2a.TaskListPayload:
			for t := range payload.Tasks() {
				s.name("task", t.ID(), agentMade)
				s.name("context", contextOfTask(t), agentMade)
			}
		}
	}
}

// payloads yields the payloads of the answer.
func (a *recorded) payloads() func(yield func(a2a.Payload) bool) {
	return func(yield func(a2a.Payload) bool) {
		r := a.x.Response
		if r == nil {
			return
		}
		if !r.Stream {
			head := capture.ParseResponseHead(r.Head)
			body, _ := r.Body.Decode(&head) // what could be decoded is what there is to read
			yield(a2a.DecodeAnswer(&a.call, head.Status, head.Fields.MediaType(), body).Payload)
			return
		}
		if status, ok := r.GRPCStatus(); ok && status.Code != grpc.OK && !yield(a2a.ReadStatus(&a.call, &status).Payload) {
			return
		}
		for i := range r.Events {
			if fields := r.Events[i].Fields(); fields.HasData && !yield(a2a.DecodeEvent(&a.call, fields.Data).Payload) {
				return
			}
		}
	}
}

// follow sets after to the latest exchange that changed the task.
func (a *exchange) follow(last map[string]*exchange) {
	for _, task := range a.tasks {
		a.after = last[task]
		if changesTask(a.form.op) {
			last[task] = a
		}
	}
}

// A notification is one recorded delivery to a webhook.
type notification struct {
	seq   uint64
	task  string
	url   string        // where it went
	delay time.Duration // after the exchange that it follows
}

// readNotification reads a recorded delivery. It makes the delivery follow the latest exchange that changed its task,
// if that exchange exists and can be played.
func readNotification(x *capture.Exchange, last map[string]*exchange) {
	body, err := x.Request.Content()
	if err != nil || !x.Request.Body.Kept() {
		return
	}
	n := &notification{seq: x.Seq, url: webhookURL(x)}
	switch p := a2a.DecodeWebhook(body); p.Kind {
	case a2a.TaskPayload:
		n.task = a2a.Task{Value: p.Value}.ID()
	case a2a.StatusPayload:
		n.task = a2a.StatusUpdate{Value: p.Value}.TaskID()
	case a2a.ArtifactPayload:
		n.task = a2a.ArtifactUpdate{Value: p.Value}.TaskID()
	case a2a.MessagePayload:
		n.task = a2a.Message{Value: p.Value}.TaskID()
	}
	if a := last[n.task]; a != nil {
		n.delay = x.Started.Sub(a.started)
		a.due = append(a.due, n)
	}
}

// webhookURL returns where a recorded notification went.
func webhookURL(x *capture.Exchange) string {
	head := capture.ParseRequestHead(x.Request.Head)
	u, err := url.Parse(head.Target)
	if err != nil {
		return ""
	}
	if u.Scheme, u.Host = "http", head.Fields.Get("Host"); strings.HasPrefix(x.Agent.URL, "https:") {
		u.Scheme = "https"
	}
	return u.String()
}
