package refagent

import (
	"net/http"
	"slices"
)

// Faults of authentication and of tasks that wait for an authorization.
var authFaults = []Fault{
	{
		Slug: "auth-not-enforced", agents: withTask, Also: []string{"auth-credentials-sent", "auth-extended-card-client"},
		Doc:   "The card asks for a bearer token with every request, and nobody looks for it.",
		hooks: func() hooks { return hooks{card: editCard(requireBearer)} },
	},
	{
		Slug: "auth-www-authenticate", agents: anyAgent,
		Doc: "Push notification configs are refused with a 401 that does not say how to authenticate.",
		hooks: admitNone(isPushOperation, func() *failure {
			f := unauthenticated("")
			f.challenge = ""
			return f
		}),
	},
	{
		Slug: "auth-extended-card-server", agents: only10, Also: []string{"auth-extended-card-client"},
		Doc: "The extended card is given to anybody.",
		hooks: func() hooks {
			return hooks{admit: func(c *call) *failure {
				if c.op == getExtendedCard {
					c.request.authorization = "Bearer " + extendedCardToken
				}
				return nil
			}}
		},
	},
	{
		Slug: "auth-error-no-leak", agents: only10,
		Doc: "Tasks are for the token of the extended card; to others they are forbidden.",
		hooks: func() hooks {
			return hooks{admit: func(c *call) *failure {
				if c.op != getTask || c.request.authorization == "Bearer "+extendedCardToken {
					return nil
				}
				f := fail(codeInvalidRequest, "This task belongs to somebody else")
				f.http = http.StatusForbidden
				return f
			}}
		},
	},
	{
		Slug: "auth-required-has-message", agents: only10,
		Doc:   "A task that waits for an authorization does not say for which.",
		hooks: speechless,
	},
	{
		Slug: "auth-required-has-message-0x", agents: only03,
		Doc:   "A task that waits for an authorization does not say for which.",
		hooks: speechless,
	},
	{
		Slug: "auth-required-uses-task", agents: only10,
		Doc: "The update that says that an authorization is needed names no task.",
		hooks: onEvent(func(c *call, _ int, f *frame) []*frame {
			if u := f.event.status; u != nil && u.status.state == authRequired {
				nameless := *u
				nameless.taskID = ""
				f.body = c.frameBody(event{status: &nameless})
			}
			return []*frame{f}
		}),
	},
}

func requireBearer(o object) object {
	if _, modern := o.get("supportedInterfaces"); modern {
		return o.with("securityRequirements", []any{object{{"schemes", object{{"bearer_token", object{{"list", []any{}}}}}}}})
	}
	return o.with("securitySchemes", object{{"bearer_token", object{{"type", "http"}, {"scheme", "bearer"}}}}).
		with("security", []any{object{{"bearer_token", []any{}}}})
}

// admitNone makes hooks that refuse every call which fits.
func admitNone(fits func(c *call) bool, refusal func() *failure) func() hooks {
	return func() hooks {
		return hooks{admit: func(c *call) *failure {
			if fits(c) {
				return refusal()
			}
			return nil
		}}
	}
}

// calls returns what fits calls of the operations.
func calls(ops ...operation) func(c *call) bool {
	return func(c *call) bool { return slices.Contains(ops, c.op) }
}

func isPushOperation(c *call) bool { return c.op.isPush() }

// speechless makes hooks that take the message from every task that waits for an authorization.
func speechless() hooks {
	silence := func(s *status) {
		if s.state == authRequired {
			s.message = nil
		}
	}
	h := onEvent(func(c *call, _ int, f *frame) []*frame {
		e := f.event
		switch {
		case e.status != nil && e.status.status.state == authRequired:
			u := *e.status
			silence(&u.status)
			f.body = c.frameBody(event{status: &u})
		case e.task != nil && e.task.status.state == authRequired:
			t := *e.task
			silence(&t.status)
			f.body = c.frameBody(event{task: &t})
		}
		return []*frame{f}
	})()
	h.reply = func(_ *call, r *reply) {
		if r.task != nil {
			silence(&r.task.status)
		}
		if r.page != nil {
			for i := range r.page.tasks {
				silence(&r.page.tasks[i].status)
			}
		}
	}
	return h
}
