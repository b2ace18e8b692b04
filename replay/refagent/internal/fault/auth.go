package fault

import (
	"net/http"
	"slices"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of authentication and of tasks that wait for an authorization.
var authFaults = []Fault{
	of(withTask, "auth-not-enforced", "The card asks for a bearer token with every request, and nobody looks for it.",
		onCard(editCard(requireBearer)), "auth-credentials-sent",
		"auth-extended-card-client"),
	of(anyAgent, "auth-www-authenticate",
		"Push notification configs are refused with a 401 that does not say how to authenticate.",
		admitNone(isPushOperation, func() *model.Failure {
			f := model.Unauthenticated("")
			f.Challenge = ""
			return f
		})),
	of(only10, "auth-extended-card-server", "The extended card is given to anybody.",
		onAdmit(func(c *wire.Call) *model.Failure {
			if c.Op == model.GetExtendedCard {
				c.Request.Authorization = "Bearer " + wire.ExtendedCardToken
			}
			return nil
		}), "auth-extended-card-client"),
	of(only10, "auth-error-no-leak", "Tasks are for the token of the extended card; to others they are forbidden.",
		onAdmit(func(c *wire.Call) *model.Failure {
			if c.Op != model.GetTask || c.Request.Authorization == "Bearer "+wire.ExtendedCardToken {
				return nil
			}
			f := model.Fail(model.CodeInvalidRequest, "This task belongs to somebody else")
			f.HTTP = http.StatusForbidden
			return f
		})),
	of(only10, "auth-required-has-message", "A task that waits for an authorization does not say for which.", speechless),
	of(only03, "auth-required-has-message-0x", "A task that waits for an authorization does not say for which.",
		speechless),
	of(only10, "auth-required-uses-task", "The update that says that an authorization is needed names no task.",
		onEvent(func(c *wire.Call, _ int, f *wire.Frame) []*wire.Frame {
			if u := f.Event.Status; u != nil && u.Status.State == model.AuthRequired {
				nameless := *u
				nameless.TaskID = ""
				f.Body = c.FrameBody(model.Event{Status: &nameless})
			}
			return []*wire.Frame{f}
		})),
}

func requireBearer(o jsonvalue.Object) jsonvalue.Object {
	if _, modern := o.Get("supportedInterfaces"); modern {
		return o.With("securityRequirements", []any{jsonvalue.Object{{"schemes", jsonvalue.Object{{
			"bearer_token",
			jsonvalue.Object{{"list", []any{}}},
		}}}}})
	}
	return o.With("securitySchemes", jsonvalue.Object{{"bearer_token", jsonvalue.Object{
		{"type", "http"},
		{"scheme", "bearer"},
	}}}).
		With("security", []any{jsonvalue.Object{{"bearer_token", []any{}}}})
}

// admitNone makes hooks that refuse every call which fits.
func admitNone(fits func(c *wire.Call) bool, refusal func() *model.Failure) func() wire.Hooks {
	return onAdmit(func(c *wire.Call) *model.Failure {
		if fits(c) {
			return refusal()
		}
		return nil
	})
}

// calls returns what fits calls of the operations.
func calls(ops ...model.Operation) func(c *wire.Call) bool {
	return func(c *wire.Call) bool { return slices.Contains(ops, c.Op) }
}

func isPushOperation(c *wire.Call) bool { return c.Op.IsPush() }

// speechless makes hooks that take the message from every task that waits for an authorization.
func speechless() wire.Hooks {
	silence := func(s *model.Status) {
		if s.State == model.AuthRequired {
			s.Message = nil
		}
	}
	h := onEvent(func(c *wire.Call, _ int, f *wire.Frame) []*wire.Frame {
		e := f.Event
		switch {
		case e.Status != nil && e.Status.Status.State == model.AuthRequired:
			u := *e.Status
			silence(&u.Status)
			f.Body = c.FrameBody(model.Event{Status: &u})
		case e.Task != nil && e.Task.Status.State == model.AuthRequired:
			t := *e.Task
			silence(&t.Status)
			f.Body = c.FrameBody(model.Event{Task: &t})
		}
		return []*wire.Frame{f}
	})()
	h.Reply = func(_ *wire.Call, r *model.Reply) {
		if r.Task != nil {
			silence(&r.Task.Status)
		}
		if r.Page != nil {
			for i := range r.Page.Tasks {
				silence(&r.Page.Tasks[i].Status)
			}
		}
	}
	return h
}
