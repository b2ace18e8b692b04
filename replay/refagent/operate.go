package refagent

import (
	"context"
	"mime"
	"strings"
)

// operate performs one operation. Capabilities come before existence: an agent without push notifications says so
// whatever the task (A2A 1.0 §3.3.4).
func (a *Agent) operate(ctx context.Context, r *request) (reply, *failure) {
	switch r.op {
	case sendMessage:
		return a.send(ctx, r)
	case streamMessage:
		if a.profile.subscribe {
			return a.streamOrFollow(r)
		}
		return a.stream(r)
	case getTask:
		t, f := a.engineOf(r).get(r.taskID)
		t = t.tail(r.history)
		return reply{task: &t}, f
	case listTasks:
		p := a.engineOf(r).list(r.list)
		return reply{page: &p}, nil
	case cancelTask:
		t, f := a.engineOf(r).cancel(r.taskID, r.metadata)
		return reply{task: &t}, f
	case subscribeTask:
		return a.subscribe(r)
	case createPushConfig, getPushConfig, listPushConfigs, deletePushConfig:
		return a.pushConfig(r)
	case getExtendedCard:
		return a.extendedCard(r)
	}
	return reply{}, fail(codeMethodNotFound, "Method not found")
}

// send answers when the task is terminal or interrupted, or at once if the client asks for that (A2A 1.0 §3.2.2).
func (a *Agent) send(ctx context.Context, r *request) (reply, *failure) {
	m, t, f := a.begin(r)
	switch {
	case f != nil:
		return reply{}, f
	case m != nil:
		return reply{message: m}, nil
	}
	for !r.immediate && t.rest != nil {
		e, next, err := t.rest.wait(ctx)
		if err != nil {
			return reply{}, fail(codeInternal, "Internal error: the agent is going down")
		}
		t.rest = next
		t.accepted.apply(e)
		if e.endsStream() {
			break
		}
	}
	result := t.accepted.tail(r.history)
	return reply{task: &result}, nil
}

// stream begins with the task, or holds one message and nothing else (A2A 1.0 §3.1.2).
func (a *Agent) stream(r *request) (reply, *failure) {
	if !a.streams() {
		return reply{}, fail(codeUnsupported, "This agent does not stream")
	}
	m, t, f := a.begin(r)
	switch {
	case f != nil:
		return reply{}, f
	case m != nil:
		return reply{stream: &stream{first: event{message: m}}}, nil
	}
	first := t.first.tail(r.history)
	return reply{stream: &stream{first: event{task: &first}, rest: t.events}}, nil
}

// subscribe shows a task as it stands and then what happens to it (A2A 1.0 §3.1.6).
func (a *Agent) subscribe(r *request) (reply, *failure) {
	if !a.streams() {
		return reply{}, fail(codeUnsupported, "This agent does not stream")
	}
	t, events, f := a.engineOf(r).follow(r.taskID)
	switch {
	case f != nil:
		return reply{}, f
	case t.status.state.terminal():
		return reply{}, fail(codeUnsupported,
			"Task "+t.id+" has ended ("+string(t.status.state)+") and cannot be subscribed to")
	}
	return reply{stream: &stream{first: event{task: &t}, rest: events}}, nil
}

// begin takes a message. It gives either a message in return or the task that now works.
func (a *Agent) begin(r *request) (*message, turn, *failure) {
	if f := a.admitParts(r.message.parts); f != nil {
		return nil, turn{}, f
	}
	if r.push != nil && !a.opts.Push {
		return nil, turn{}, pushNotSupported()
	}
	o := order{message: r.message, accepts: r.accepts, push: r.push, traceparent: r.traceparent}
	if a.profile.clientIDs && !a.engineOf(r).has(r.message.taskID) {
		o.taskID, r.message.taskID = r.message.taskID, ""
		o.message.taskID = ""
	}
	if r.message.taskID != "" {
		t, f := a.engineOf(r).resume(r.message.taskID, o)
		return nil, t, f
	}
	o.skill = a.skillFor(&r.message)
	if o.skill.answer != nil {
		return respond(a.engineOf(r), &r.message, o.skill), turn{}, nil
	}
	if a.hooks.join != nil {
		if t, ok := a.hooks.join(a.engineOf(r)); ok {
			return nil, t, nil
		}
	}
	t, f := a.engineOf(r).start(o)
	return nil, t, f
}

// respond answers a message with a message, in the same context or a new one.
func respond(e *engine, in *message, s *skill) *message {
	m := &message{id: e.newID(), contextID: in.contextID, role: roleAgent, parts: text(s.answer(in.text()))}
	if m.contextID == "" {
		m.contextID = e.newID()
	}
	return m
}

// admitParts refuses parts that declare a media type which the card does not list (A2A 1.0 §3.1.1).
func (a *Agent) admitParts(parts []part) *failure {
	for _, p := range parts {
		if p.mediaType == "" {
			continue
		}
		if essence, _, err := mime.ParseMediaType(p.mediaType); err != nil || !a.takes(essence) {
			return fail(codeContentType, "Content type not supported: "+p.mediaType+"; this agent takes "+
				strings.Join(a.inputs(), ", "))
		}
	}
	return nil
}

func (a *Agent) pushConfig(r *request) (reply, *failure) {
	if !a.opts.Push {
		return reply{}, pushNotSupported()
	}
	switch r.op {
	case createPushConfig:
		c, f := a.engineOf(r).createConfig(r.taskID, r.push)
		return reply{config: &c}, f
	case getPushConfig:
		c, f := a.engineOf(r).config(r.taskID, r.configID)
		return reply{config: &c}, f
	case listPushConfigs:
		c, f := a.engineOf(r).configs(r.taskID)
		return reply{configs: c}, f
	}
	return reply{}, a.engineOf(r).deleteConfig(r.taskID, r.configID)
}

// extendedCard asks for a bearer token (A2A 1.0 §13.3).
func (a *Agent) extendedCard(r *request) (reply, *failure) {
	if a.profile.extended == nil || a.given != nil {
		return reply{}, a.profile.noExtended
	}
	scheme, token, _ := strings.Cut(r.authorization, " ")
	if a.opts.Auth != nil { // which was asked for already
		return reply{card: a.declareAuth(a.profile.extended(a.served, r.base))}, nil
	}
	if !strings.EqualFold(scheme, "Bearer") || strings.TrimSpace(token) != extendedCardToken {
		return reply{}, unauthenticated(a.profile.name)
	}
	return reply{card: a.profile.extended(a.served, r.base)}, nil
}
