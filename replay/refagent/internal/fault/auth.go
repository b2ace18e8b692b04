package fault

import (
	"net/http"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of authentication and of tasks that wait for an authorization.
var authFaults = []AgentFault{
	of(withTask, "auth-not-enforced", "The card requires a bearer token with every request, and the agent does not check it.",
		onCard(editCard(requireBearer)), "auth-credentials-sent",
		"auth-extended-card-client"),
	of(anyAgent, "auth-www-authenticate",
		"Push notification configs are refused with a 401 that does not say how to authenticate.",
		admitNoneAs(isPushOperation, model.Failure{
			Code: model.CodeInvalidRequest, Message: "Authentication required", HTTP: http.StatusUnauthorized,
		})),
	of(only10, "auth-extended-card-server", "The extended card is returned to anyone.",
		onAdmit(func(c *wire.Call) *model.Failure {
			if c.Op == model.GetExtendedCard {
				c.Request.Authorization = "Bearer " + wire.ExtendedCardToken
			}
			return nil
		}), "auth-extended-card-client"),
	of(only10, "auth-error-no-leak", "Tasks require the token of the extended card; other requests for them get 403.",
		onAdmit(func(c *wire.Call) *model.Failure {
			if c.Op != model.GetTask || c.Request.Authorization == "Bearer "+wire.ExtendedCardToken {
				return nil
			}
			f := model.Fail(model.CodeInvalidRequest, "This task belongs to somebody else")
			f.HTTP = http.StatusForbidden
			return f
		}), "auth-credentials-sent"), // of a client that sends no credentials, and is refused for every other request
	of(only10, "auth-required-has-message", "A task that waits for an authorization does not say which one.", speechless),
	of(only03, "auth-required-has-message-0x", "A task that waits for an authorization does not say which one.",
		speechless),
	of(only10, "auth-required-uses-task", "The status update with auth-required names no task.",
		onStatus(inState(model.AuthRequired), func(u *model.StatusUpdate) { u.TaskID = "" })),
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

func isPushOperation(c *wire.Call) bool { return c.Op.IsPush() }

// speechless makes hooks that take the message from every task that waits for an authorization.
func speechless() wire.Hooks {
	silence := func(s *model.Status) {
		if s.State == model.AuthRequired {
			s.Message = nil
		}
	}
	h := onFrame(func(c *wire.Call, f *wire.Frame) {
		e := f.Event
		switch {
		case e.Status != nil && e.Status.Status.State == model.AuthRequired:
			f.Body = c.FrameBody(edited(e.Status, func(u *model.StatusUpdate) { silence(&u.Status) }))
		case e.Task != nil && e.Task.Status.State == model.AuthRequired:
			t := *e.Task
			silence(&t.Status)
			f.Body = c.FrameBody(model.Event{Task: &t})
		}
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
