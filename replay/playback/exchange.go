package playback

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
)

// An exchange is one recorded exchange that can be played.
type exchange struct {
	seq   uint64
	x     *capture.Exchange
	call  a2a.Call
	form  form
	tasks []string  // that its answer shows or its request names
	ctx   string    // that its answer shows first
	after *exchange // the latest one before it that changed its task; nil if none did
	uses  int       // how often it was played
}

// changesTask reports whether the operation does something to a task, so that answers about it may be others
// afterwards.
func changesTask(op a2a.Operation) bool {
	return op.Sends() || op == a2a.CancelTask || op == a2a.CreatePushConfig || op == a2a.DeletePushConfig
}

// A recording is what can be played of a capture.
type recording struct {
	info        capture.Info
	exchanges   []*exchange
	clientNamed map[string]bool // ids that the client named first, by role and text
	seen        map[string]bool // all ids, likewise
	reader      reading.Reader  // what cards and calls of the capture tell about addresses

	notifications []*notification
}

// load reads what went to an agent, or to all if it has no name.
func load(ctx context.Context, src capture.Source, agent string) (*recording, error) {
	info, err := src.Info(ctx)
	if err != nil {
		return nil, err
	}
	s := &recording{info: info, clientNamed: map[string]bool{}, seen: map[string]bool{}}
	seen := s.seen
	last := map[string]*exchange{}
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil {
			return nil, err
		}
		if isWebhook(x) {
			if n := readNotification(x, last); n != nil {
				s.notifications = append(s.notifications, n)
			}
			continue
		}
		if agent != "" && !Is(x.Agent.Name, agent) {
			continue
		}
		if a := s.read(x, seen); a != nil {
			a.follow(last)
			s.exchanges = append(s.exchanges, a)
		}
	}
	return s, nil
}

// Is reports whether what a recording calls name is the agent. A tap that opened by itself for a further address of an
// agent is called after it, as NAME:PORT.
func Is(name, agent string) bool {
	return name == agent || strings.HasPrefix(name, agent+":")
}

// Agents returns the names of the agents whose calls a capture has, in the order in which they came. An agent with
// further addresses is named once.
func Agents(ctx context.Context, src capture.Source) ([]string, error) {
	s, err := load(ctx, src, "")
	if err != nil {
		return nil, fmt.Errorf("read the capture: %w", err)
	}
	var names []string
	for _, a := range s.exchanges {
		name := a.x.Agent.Name
		if !slices.ContainsFunc(names, func(known string) bool { return Is(name, known) }) {
			names = append(names, name)
		}
	}
	return names, nil
}

// isWebhook reports whether the exchange is a notification, which the agent sent.
func isWebhook(x *capture.Exchange) bool {
	head := capture.ParseRequestHead(x.Request.Head)
	body, err := x.Request.Content()
	call := a2a.DecodeRequest(a2a.Request{
		Method: head.Method, Target: head.Target, Header: head.Fields.Get,
		Body: body, HasBody: len(body) > 0, BodyKept: err == nil && x.Request.Body.Kept(),
	}, a2a.Known{})
	return call.Operation == a2a.Webhook
}

// read returns an exchange for playback, or nil if there is nothing to play.
func (s *recording) read(x *capture.Exchange, seen map[string]bool) *exchange {
	head := capture.ParseRequestHead(x.Request.Head)
	body, err := x.Request.Content()
	call := a2a.DecodeRequest(a2a.Request{
		Method: head.Method, Target: head.Target, Header: head.Fields.Get,
		Body: body, HasBody: len(body) > 0, BodyKept: err == nil && x.Request.Body.Kept(),
	}, s.reader.Known(x.Agent.URL, head.Target))
	if !call.A2A() || call.Batch != nil {
		return nil
	}
	s.reader.Answered(x, reading.ReadAnswer(&call, x, nil))
	for _, k := range clientIDs(&call) {
		s.clientNamed[k] = s.clientNamed[k] || !seen[k]
		seen[k] = true
	}
	if !playable(x.Response) {
		return nil
	}
	a := &exchange{seq: x.Seq, x: x, call: call, form: newForm(&call)}
	a.tasks = s.shownIDs(a, seen)
	return a
}

// playable reports whether there is an answer to give. That a card has not changed is none to a client that has not
// seen it.
func playable(r *capture.Response) bool {
	if r == nil {
		return false
	}
	status := capture.ParseResponseHead(r.Head).Status
	return status >= 200 && status != http.StatusNotModified
}

// roleKey returns the key of an id in the maps of a recording.
func roleKey(role, id string) string { return role + "\x00" + id }

// clientIDs returns the keys of the ids in a request that a client may have made.
func clientIDs(call *a2a.Call) []string {
	var keys []string
	for role, id := range map[string]string{"context": contextOf(call), "task": call.TaskID, "message": call.MessageID} {
		if id != "" {
			keys = append(keys, roleKey(role, id))
		}
	}
	return keys
}

// contextOf returns the context that a request names: in 0.1 its session (A2A 0.1 §7).
func contextOf(call *a2a.Call) string {
	if call.ContextID == "" && call.Dialects.Has(a2a.V0_1) {
		return call.Params.Get("sessionId").Text()
	}
	return call.ContextID
}

// contextOfTask returns the context of a task, or its session.
func contextOfTask(t a2a.Task) string { return cmp.Or(t.ContextID(), t.SessionID()) }

// shownIDs records the ids that an answer shows, and returns the tasks among them with the one that the request names.
func (s *recording) shownIDs(a *exchange, seen map[string]bool) []string {
	var tasks []string
	if a.call.TaskID != "" {
		tasks = append(tasks, a.call.TaskID)
	}
	note := func(task, ctx string) {
		seen[roleKey("task", task)], seen[roleKey("context", ctx)] = true, true
		a.ctx = cmp.Or(a.ctx, ctx)
		if task != "" && len(tasks) == 0 {
			tasks = append(tasks, task)
		}
	}
	for payload := range a.payloads() {
		switch v := payload.Value; payload.Kind {
		case a2a.ErrorPayload:
			a.form.failed = true
		case a2a.TaskPayload:
			note(a2a.Task{Value: v}.ID(), contextOfTask(a2a.Task{Value: v}))
		case a2a.StatusPayload:
			note(a2a.StatusUpdate{Value: v}.TaskID(), a2a.StatusUpdate{Value: v}.ContextID())
		case a2a.ArtifactPayload:
			note(a2a.ArtifactUpdate{Value: v}.TaskID(), a2a.ArtifactUpdate{Value: v}.ContextID())
		case a2a.MessagePayload:
			ctx := a2a.Message{Value: v}.ContextID()
			seen[roleKey("context", ctx)] = true
			a.ctx = cmp.Or(a.ctx, ctx)
		case a2a.TaskListPayload:
			for t := range payload.Tasks() {
				seen[roleKey("task", t.ID())], seen[roleKey("context", contextOfTask(t))] = true, true
			}
		}
	}
	return tasks
}

// payloads yields the payloads of the answer.
func (a *exchange) payloads() func(yield func(a2a.Payload) bool) {
	return func(yield func(a2a.Payload) bool) {
		r := a.x.Response
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
		if changesTask(a.call.Operation) {
			last[task] = a
		}
	}
}

// A notification is one recorded delivery to a webhook.
type notification struct {
	x     *capture.Exchange
	body  []byte
	task  string
	url   string    // where it went
	after *exchange // it is due when this is played
}

// readNotification reads a recorded delivery, or returns nil if it cannot be given again.
func readNotification(x *capture.Exchange, last map[string]*exchange) *notification {
	body, err := x.Request.Content()
	if err != nil || !x.Request.Body.Kept() {
		return nil
	}
	n := &notification{x: x, body: body, url: webhookURL(x)}
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
	if n.after = last[n.task]; n.after == nil {
		return nil
	}
	return n
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
