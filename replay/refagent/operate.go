package refagent

import (
	"context"
	"mime"
	"slices"
	"strings"

	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// operate performs one operation. Capabilities are checked first: an agent without push notifications reports that even
// if the task does not exist (A2A 1.0 §3.3.4).
func (s *service) operate(ctx context.Context, r *model.Request) (model.Reply, *model.Failure) {
	switch r.Op {
	case model.SendMessage:
		return s.send(ctx, r)
	case model.StreamMessage:
		if s.profile.subscribe {
			return s.streamOrFollow(r)
		}
		return s.stream(r)
	case model.GetTask:
		t, f := s.engineOf(r).Get(r.TaskID)
		t = t.Tail(r.History)
		return model.Reply{Task: &t}, f
	case model.ListTasks:
		return model.Reply{Page: new(s.engineOf(r).List(r.List))}, nil
	case model.CancelTask:
		t, f := s.engineOf(r).Cancel(r.TaskID, r.Metadata)
		return model.Reply{Task: &t}, f
	case model.SubscribeTask:
		return s.subscribe(r)
	case model.CreatePushConfig, model.GetPushConfig, model.ListPushConfigs, model.DeletePushConfig:
		return s.pushConfig(r)
	case model.GetExtendedCard:
		return s.extendedCard(r)
	}
	return model.Reply{}, model.Fail(model.CodeMethodNotFound, "Method not found")
}

// send answers when the task is terminal or interrupted, or at once if the client asks for that (A2A 1.0 §3.2.2).
func (s *service) send(ctx context.Context, r *model.Request) (model.Reply, *model.Failure) {
	m, t, f := s.begin(r)
	switch {
	case f != nil:
		return model.Reply{}, f
	case m != nil:
		return model.Reply{Message: m}, nil
	}
	for !r.Immediate && t.Rest != nil {
		e, next, err := t.Rest.Wait(ctx)
		if err != nil {
			return model.Reply{}, model.Fail(model.CodeInternal, "Internal error: the agent is going down")
		}
		t.Rest = next
		t.Accepted.Apply(e)
		if e.EndsStream() {
			break
		}
	}
	return model.Reply{Task: new(t.Accepted.Tail(r.History))}, nil
}

// stream begins with the task, or contains exactly one message (A2A 1.0 §3.1.2).
func (s *service) stream(r *model.Request) (model.Reply, *model.Failure) {
	if !s.streams() {
		return model.Reply{}, model.Fail(model.CodeUnsupported, "This agent does not stream")
	}
	m, t, f := s.begin(r)
	switch {
	case f != nil:
		return model.Reply{}, f
	case m != nil:
		return model.Reply{Stream: &model.Stream{First: model.Event{Message: m}}}, nil
	}
	first := t.First.Tail(r.History)
	return model.Reply{Stream: &model.Stream{First: model.Event{Task: &first}, Rest: t.Events}}, nil
}

// subscribe sends a task in its current state and then its events (A2A 1.0 §3.1.6).
func (s *service) subscribe(r *model.Request) (model.Reply, *model.Failure) {
	if !s.streams() {
		return model.Reply{}, model.Fail(model.CodeUnsupported, "This agent does not stream")
	}
	t, events, f := s.engineOf(r).Follow(r.TaskID)
	switch {
	case f != nil:
		return model.Reply{}, f
	case t.Status.State.Terminal():
		return model.Reply{}, model.Fail(model.CodeUnsupported,
			"Task "+t.ID+" has ended ("+string(t.Status.State)+") and cannot be subscribed to")
	}
	return model.Reply{Stream: &model.Stream{First: model.Event{Task: &t}, Rest: events}}, nil
}

// begin accepts a message. It returns either a message or the task that now works.
func (s *service) begin(r *model.Request) (*model.Message, engine.Turn, *model.Failure) {
	if f := s.admitParts(r.Message.Parts); f != nil {
		return nil, engine.Turn{}, f
	}
	if r.Push != nil && !s.opts.Push {
		return nil, engine.Turn{}, model.PushNotSupported()
	}
	o := engine.Order{Message: r.Message, Accepts: r.Accepts, Push: r.Push, Traceparent: r.Traceparent}
	if s.profile.clientIDs && !s.engineOf(r).Has(r.Message.TaskID) {
		o.TaskID, r.Message.TaskID = r.Message.TaskID, ""
		o.Message.TaskID = ""
	}
	if r.Message.TaskID != "" {
		t, f := s.engineOf(r).Resume(r.Message.TaskID, o)
		return nil, t, f
	}
	o.Skill = s.skillFor(&r.Message)
	if o.Skill.Answer != nil {
		return respond(s.engineOf(r), &r.Message, o.Skill), engine.Turn{}, nil
	}
	if s.hooks.Join != nil {
		if t, ok := s.hooks.Join(s.engineOf(r)); ok {
			return nil, t, nil
		}
	}
	t, f := s.engineOf(r).Start(o)
	return nil, t, f
}

// respond answers a message with a message, in the same context or a new one.
func respond(e *engine.Engine, in *model.Message, s *engine.Skill) *model.Message {
	m := &model.Message{
		ID: e.NewID(), ContextID: in.ContextID, Role: model.RoleAgent,
		Parts: model.Text(s.Answer(in.Text())),
	}
	if m.ContextID == "" {
		m.ContextID = e.NewID()
	}
	return m
}

// admitParts refuses parts that declare a media type which the card does not list (A2A 1.0 §3.1.1).
func (s *service) admitParts(parts []model.Part) *model.Failure {
	for _, p := range parts {
		if p.MediaType == "" {
			continue
		}
		if essence, _, err := mime.ParseMediaType(p.MediaType); err != nil || !s.takes(essence) {
			return model.Fail(model.CodeContentType, "Content type not supported: "+p.MediaType+"; this agent takes "+
				strings.Join(s.inputs(), ", "))
		}
	}
	return nil
}

// lacking refuses operations that need a capability the agent lacks, regardless of their parameters.
func (s *service) lacking(op model.Operation) *model.Failure {
	if op.IsPush() && !s.opts.Push {
		return model.PushNotSupported()
	}
	return nil
}

// decode reads the parameters of a call, unless the agent lacks the required capability.
func (s *service) decode(c *wire.Call, read func() (jsonvalue.Object, *model.Failure)) *model.Failure {
	if s.lacking(c.Op) != nil {
		c.Request = &model.Request{Op: c.Op}
		return nil
	}
	params, f := read()
	if f == nil {
		c.Request, f = c.Dialect.Decode(c.Op, params)
	}
	return f
}

func (s *service) pushConfig(r *model.Request) (model.Reply, *model.Failure) {
	switch r.Op {
	case model.CreatePushConfig:
		c, f := s.engineOf(r).CreateConfig(r.TaskID, r.Push)
		return model.Reply{Config: &c}, f
	case model.GetPushConfig:
		c, f := s.engineOf(r).Config(r.TaskID, r.ConfigID)
		return model.Reply{Config: &c}, f
	case model.ListPushConfigs:
		c, f := s.engineOf(r).Configs(r.TaskID)
		return model.Reply{Configs: c}, f
	}
	return model.Reply{}, s.engineOf(r).DeleteConfig(r.TaskID, r.ConfigID)
}

// extendedCard asks for a bearer token (A2A 1.0 §13.3).
func (s *service) extendedCard(r *model.Request) (model.Reply, *model.Failure) {
	if s.profile.extended == nil || s.given != nil {
		return model.Reply{}, s.profile.noExtended
	}
	scheme, token, _ := strings.Cut(r.Authorization, " ")
	if s.opts.Auth != nil { // which was asked for already
		return model.Reply{Card: s.declareAuth(s.profile.extended(s.served, r.Base), r.Base)}, nil
	}
	if !strings.EqualFold(scheme, "Bearer") || strings.TrimSpace(token) != wire.ExtendedCardToken {
		return model.Reply{}, model.Unauthenticated(s.profile.name)
	}
	return model.Reply{Card: s.profile.extended(s.served, r.Base)}, nil
}

// skillFor returns the skill that a message of a new conversation asks for.
func (s *service) skillFor(m *model.Message) *engine.Skill {
	if s.opts.Work != nil {
		return workSkill(s.opts.Work)
	}
	if s.given != nil {
		return s.given.Route(m)
	}
	return s.profile.route(m)
}

// streams reports whether the agent offers streams.
func (s *service) streams() bool { return s.profile.streaming && (s.given == nil || s.given.Streaming) }

// inputs returns the media types that the agent accepts.
func (s *service) inputs() []string {
	if s.given != nil && len(s.given.Inputs) > 0 {
		return s.given.Inputs
	}
	return []string{"text/plain"}
}

// takes reports whether the agent accepts a media type without parameters. Before 0.2, cards may have "text" instead.
func (s *service) takes(mediaType string) bool {
	return slices.ContainsFunc(s.inputs(), func(listed string) bool {
		essence, _, err := mime.ParseMediaType(listed)
		return err == nil && essence == mediaType || listed == "text" && mediaType == "text/plain"
	})
}

// declareAuth returns a card that declares the credentials that the agent requires; base is the URL of its endpoint.
func (s *service) declareAuth(card jsonvalue.Object, base string) jsonvalue.Object {
	if c := s.credentials(base); c != nil {
		return s.profile.declare(card, c)
	}
	return card
}

// streamOrFollow is stream for a client that may come back: a task that does not wait for its client is followed, and
// one that has ended is shown once.
func (s *service) streamOrFollow(r *model.Request) (model.Reply, *model.Failure) {
	t, events, f := s.engineOf(r).Follow(r.TaskID)
	switch {
	case f != nil || t.Status.State.Interrupted():
		return s.stream(r)
	case t.Status.State.Terminal():
		return model.Reply{Stream: &model.Stream{First: model.Event{Task: &t}}}, nil
	}
	return model.Reply{Stream: &model.Stream{First: model.Event{Task: &t}, Rest: events}}, nil
}
