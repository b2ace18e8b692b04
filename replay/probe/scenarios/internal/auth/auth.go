// Package auth tests access control: callers without credentials, with wrong ones, and with those of another user.
package auth

import (
	"context"
	"fmt"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Scenarios are about access control. Those about two users need the credentials of a second one.
var Scenarios = scenario.In(probe.Scenario{
	Category: analysis.ErrorHandling, Level: analysis.Must,
}, []*probe.Scenario{
	{
		ID: "act-auth-required", Title: "operations refuse clients without credentials, if the card requires them",
		Stranger: true, Sections: []string{"1.0 §7.4", "1.0 §13.1", "0.3 §4.4"},
		Tags: []string{
			"auth", "A27", "AUTH-SERVER-002", "AUTH-SCOPE-001", "acts:SEC-AUTH-001", "acts:SEC-AUTH-002", "acts:SEC-AUTH-004",
			"tck-main:authentication_required_when_declared", "tck-main:missing_authentication",
			"tck-main:security_error_response_compliance", "tck-main:authentication_scheme_validation",
		},
		Fix: "Check the credentials of every request before anything else.",
		Run: func(ctx context.Context, s *probe.Session) error {
			if !scenario.AsksCredentials(s) {
				return &probe.Skip{Why: "the card requires no credentials"}
			}
			return refusedAll(ctx, s, s.Anonymous(), "without credentials")
		},
	},
	{
		ID: "act-auth-wrong", Title: "operations refuse clients with wrong credentials, if the card requires them",
		Stranger: true, Sections: []string{"1.0 §7.4", "0.3 §4.4"},
		Tags: []string{
			"auth", "A27", "tck-main:invalid_credentials_rejected", "tck-main:invalid_authentication",
			"tck-main:invalid_authentication_handling", "tck-main:invalid_credentials_handling",
		},
		Fix: "Verify credentials; their presence is not enough.",
		Run: func(ctx context.Context, s *probe.Session) error {
			if !scenario.AsksCredentials(s) {
				return &probe.Skip{Why: "the card requires no credentials"}
			}
			return refusedAll(ctx, s, forged(s), "with an unknown token")
		},
	},
	{
		ID: "act-auth-challenge", Title: "a refusal for missing credentials says which ones are required",
		Stranger: true, Level: analysis.Should, Protocols: scenario.HTTP, Sections: []string{"1.0 §7.4", "0.3 §4.4"},
		Tags: []string{"auth", "acts:SEC-AUTH-006"},
		Fix:  "Send WWW-Authenticate with status 401.",
		Run: func(ctx context.Context, s *probe.Session) error {
			if !scenario.AsksCredentials(s) {
				return &probe.Skip{Why: "the card requires no credentials"}
			}
			_, err := s.Anonymous().Get(ctx, s.NewID(), nil)
			if r := scenario.Refusal(err); r == nil || r.HTTPStatus != 401 {
				return probe.Unclear("it was not refused by HTTP status 401")
			}
			if !s.Last().Header.Has("WWW-Authenticate") {
				return probe.Fail("WWW-Authenticate", "a 401 without it")
			}
			return nil
		},
	},
	{
		ID: "act-authz-scope", Title: "a user has no access to the tasks of another", Category: analysis.Interop,
		Protocols: scenario.V10, Sections: []string{"1.0 §13.1"},
		Tags: []string{"auth", "A28", "AUTH-SCOPE-002", "CORE-LIST-001"},
		Fix:  "Bind each task to the user who created it, and check the user in every operation.",
		Run:  askScope,
	},
	{
		ID: "act-list-scope", Title: "a list has no tasks that the caller cannot read", Category: analysis.Interop,
		Protocols: scenario.V10, Sections: []string{"1.0 §13.1"}, Tags: []string{"auth", "list", "CORE-LIST-001"},
		Fix: "List only tasks that the caller may read.",
		Run: askListScope,
	},
	{
		ID: "act-not-found-vs-forbidden", Title: "another user's task looks like an unknown task",
		Level: analysis.Should, Protocols: scenario.V10, Sections: []string{"1.0 §3.3.2"},
		Tags: []string{"auth", "errors", "A29", "AUTH-SCOPE-003", "acts:SEC-AUTH-003", "acts:CORE-ERR-009"},
		Fix:  "Answer with TaskNotFound, and the same message, for another user's tasks.",
		Run:  askForbidden,
	},
	{
		ID: "act-extended-card-auth", Title: "the extended card requires credentials", Category: analysis.AgentCard,
		Stranger: true, Protocols: scenario.Since03, Needs: []probe.Capability{probe.ExtendedCard},
		Sections: []string{"1.0 §13.3", "0.3 §7.10"},
		Tags: []string{
			"auth", "card", "A31", "CARD-EXT-001", "acts:SEC-EXTCARD-001", "acts:SEC-EXTCARD-002", "acts:SEC-EXTCARD-004",
			"acts:CARD-EXT-001", "tck-main:extended_agent_card_authentication_required",
			"tck-main:extended_agent_card_invalid_authentication", "tck-main:extended_card_access_controls",
		},
		Fix: "Require credentials for the extended card.",
		Run: func(ctx context.Context, s *probe.Session) error {
			if _, err := s.Anonymous().ExtendedCard(ctx); err == nil {
				return probe.Fail("a refusal without credentials", "the card")
			} else if scenario.Refusal(err) == nil {
				return err
			}
			_, err := forged(s).ExtendedCard(ctx)
			return probe.Refused(err)
		},
	},
	{
		ID: "act-extended-card", Title: "clients with credentials get the extended card",
		Category: analysis.AgentCard, Protocols: scenario.Since03, Needs: []probe.Capability{probe.ExtendedCard},
		Sections: []string{"1.0 §3.1.11", "0.3 §7.10"},
		Tags: []string{
			"auth", "card", "tck-main:extended_agent_card_response_format",
			"tck-main:authenticated_extended_card_comprehensive", "tck-main:extended_agent_card_method_exists",
		},
		Fix: "Answer GetExtendedAgentCard with a card, or with ExtendedAgentCardNotConfigured.",
		Run: func(ctx context.Context, s *probe.Session) error {
			if !s.AsUser() {
				return &probe.Skip{Why: "no credentials were given"}
			}
			card, err := s.Client.ExtendedCard(ctx)
			if r := scenario.Refusal(err); r != nil {
				if r.Unauthorized() || r.Reason == "EXTENDED_AGENT_CARD_NOT_CONFIGURED" {
					return probe.Unclear("these credentials do not allow access to the extended card: %s", probe.Describe(r))
				}
				return probe.Fail("the extended card", "%s", probe.Describe(r))
			}
			if err != nil {
				return err
			}
			if card.Name == "" || len(card.Skills) == 0 {
				return probe.Fail("a card with a name and skills", "%s", scenario.Brief(s.Last()))
			}
			return nil
		},
	},
	{
		ID:       "act-in-task-auth",
		Title:    "a task that needs an authorization says which one, and accepts messages meanwhile",
		Category: analysis.Lifecycle, Protocols: scenario.Since03,
		Levels: scenario.Levels(analysis.Should, scenario.V03...), Sections: []string{"1.0 §7.6.1", "0.3 §4.5"},
		Tags: []string{
			"auth", "scripted", "AUTH-INTASK-001", "AUTH-INTASK-002", "AUTH-INTASK-003", "acts:SEC-AUTH-005",
			"tck-main:auth_required_state_support", "tck-main:in_task_authentication_workflow",
			"tck-main:auth_state_transitions",
		},
		Fix: "Set the task to AUTH_REQUIRED, with a status message that says what is needed.",
		Run: askInTaskAuth,
	},
	{
		ID: "act-in-task-auth-stream", Title: "a stream that ends because an authorization is needed names the task",
		Category: analysis.Streaming, Protocols: scenario.V10, Needs: []probe.Capability{probe.Streaming},
		Sections: []string{"1.0 §7.6.1"}, Tags: []string{"auth", "scripted", "stream"},
		Fix: "Name the task in the update that sets it to AUTH_REQUIRED.",
		Run: func(ctx context.Context, s *probe.Session) error {
			m, err := scenario.ScriptMessage(s, "auth-required")
			if err != nil {
				return err
			}
			for e, err := range s.Client.Stream(ctx, m, client.SendOptions{}) {
				switch {
				case err != nil:
					return err
				case e.State() != client.AuthRequired:
					continue
				case e.TaskID() == "":
					return probe.Fail("an event that names its task", "%s", probe.EventWords(e))
				}
				scenario.Release(ctx, s, e.TaskID())
				return nil
			}
			return probe.Unclear("no authorization was needed")
		},
	},
	{
		ID: "act-in-task-auth-message", Title: "a task that needs an authorization accepts messages meanwhile",
		Category: analysis.Lifecycle, Level: analysis.Should, Protocols: scenario.V10, Sections: []string{"1.0 §7.6.1"},
		Tags: []string{"auth", "scripted", "AUTH-INTASK-006"},
		Fix:  "Accept messages to a task that is in AUTH_REQUIRED.",
		Run: func(ctx context.Context, s *probe.Session) error {
			task, err := unauthorized(ctx, s)
			if err != nil {
				return err
			}
			m := client.Text("What is it for?")
			m.TaskID = task.ID
			_, err = s.Client.Send(ctx, m, client.SendOptions{})
			return err
		},
	},
})

// forged returns a client with invalid credentials.
func forged(s *probe.Session) *client.Client {
	return s.With(func(o *client.Options) {
		o.Token, o.Authorize, o.Header = "a2atap-no-such-token-"+s.NewID(), nil, nil
	})
}

// An attempt is an operation on a task that must be refused.
type attempt struct {
	name string
	try  func(context.Context, *client.Client, string) error
}

// attempts returns the operations on a task that the agent offers. The one that ends the task comes last.
func attempts(s *probe.Session) []attempt {
	list := []attempt{
		{"GetTask", func(ctx context.Context, c *client.Client, id string) error {
			_, err := c.Get(ctx, id, nil)
			return err
		}},
	}
	if (s.Card == nil || s.Card.Streaming) && s.Protocol() != client.Early { // before 0.1 there are no subscriptions
		list = append(list, attempt{"SubscribeToTask", func(ctx context.Context, c *client.Client, id string) error {
			_, err := s.First(c.Subscribe(ctx, id))
			return err
		}})
	}
	if s.Card != nil && s.Card.Push {
		list = append(list, attempt{
			"CreateTaskPushNotificationConfig",
			func(ctx context.Context, c *client.Client, id string) error {
				_, err := c.CreatePush(ctx, client.PushConfig{TaskID: id, URL: scenario.Nowhere})
				return err
			},
		})
	}
	return append(list, attempt{"CancelTask", func(ctx context.Context, c *client.Client, id string) error {
		_, err := c.Cancel(ctx, id, nil)
		return err
	}})
}

// refusedAll asserts that the agent refuses all operations of a client.
func refusedAll(ctx context.Context, s *probe.Session, c *client.Client, how string) error {
	id := s.NewID()
	if task, err := s.Live(ctx); err == nil { // else the task is refused as unknown, or the credentials are
		id = task.ID
		defer scenario.Release(ctx, s, id)
	}
	tries := append([]attempt{{"SendMessage", func(ctx context.Context, c *client.Client, _ string) error {
		_, err := c.Send(ctx, s.Say(probe.Anything), client.SendOptions{ReturnImmediately: true})
		return err
	}}}, attempts(s)...)
	if s.Protocol().Version == "1.0" {
		tries = append(tries, attempt{"ListTasks", func(ctx context.Context, c *client.Client, _ string) error {
			_, err := c.List(ctx, client.ListOptions{PageSize: 1})
			return err
		}})
	}
	for _, a := range tries {
		err := a.try(ctx, c, id)
		if err == nil {
			return probe.Fail(fmt.Sprintf("a refusal of %s %s", a.name, how), "it succeeded")
		}
		if scenario.Refusal(err) == nil {
			return err
		}
	}
	return nil
}

// strangers returns the client of another user and a task of the first one.
func strangers(ctx context.Context, s *probe.Session) (*client.Client, *client.Task, error) {
	other, ok := s.Second()
	if !ok {
		return nil, nil, &probe.Skip{Why: "no credentials of a second user were given"}
	}
	if _, err := other.Get(ctx, s.NewID(), nil); scenario.Refusal(err) == nil || !scenario.Gone(err) {
		return nil, nil, probe.Unclear("the second user cannot read tasks: %v", err)
	}
	task, err := s.Live(ctx)
	return other, task, err
}

func askScope(ctx context.Context, s *probe.Session) error {
	other, task, err := strangers(ctx, s)
	if err != nil {
		return err
	}
	defer scenario.Release(ctx, s, task.ID)
	for _, a := range attempts(s) {
		err := a.try(ctx, other, task.ID)
		if err == nil {
			return probe.Fail(a.name+" of another user's task to be refused", "it succeeded")
		}
		if scenario.Refusal(err) == nil {
			return err
		}
	}
	page, err := other.List(ctx, client.ListOptions{ContextID: task.ContextID})
	if err != nil {
		return nil // a context of another user may be refused
	}
	if slices.ContainsFunc(page.Tasks, func(t client.Task) bool { return t.ID == task.ID }) {
		return probe.Fail("a list without the tasks of another user", "task %s in it", task.ID)
	}
	return nil
}

func askListScope(ctx context.Context, s *probe.Session) error {
	if !s.HasCredentials() {
		return &probe.Skip{Why: "no credentials were given, so they cannot be left out"}
	}
	task, err := s.Live(ctx)
	if err != nil {
		return err
	}
	defer scenario.Release(ctx, s, task.ID)
	nobody := s.Anonymous()
	if _, err := nobody.Get(ctx, task.ID, nil); err == nil {
		return probe.Unclear("the agent returns the task to everyone, so the list may contain it")
	} else if scenario.Refusal(err) == nil {
		return err
	}
	page, err := nobody.List(ctx, client.ListOptions{ContextID: task.ContextID})
	if scenario.Refusal(err) != nil {
		return nil
	}
	if err == nil && slices.ContainsFunc(page.Tasks, func(t client.Task) bool { return t.ID == task.ID }) {
		return probe.Fail("a list without tasks that cannot be read", "task %s in it", task.ID)
	}
	return err
}

func askForbidden(ctx context.Context, s *probe.Session) error {
	other, task, err := strangers(ctx, s)
	if err != nil {
		return err
	}
	defer scenario.Release(ctx, s, task.ID)
	_, err = other.Get(ctx, task.ID, nil)
	if err == nil {
		return probe.Unclear("the agent returned the task, which another scenario reports")
	}
	foreign := scenario.Refusal(err)
	if foreign == nil {
		return err
	}
	if foreign.Reason != "TASK_NOT_FOUND" {
		return probe.Fail("TASK_NOT_FOUND, as for an unknown task", "%s", probe.Describe(foreign))
	}
	return nil
}

// unauthorized makes a task that waits for authorization, on an agent that does so on request.
func unauthorized(ctx context.Context, s *probe.Session) (*client.Task, error) {
	task, err := scenario.Scripted(ctx, s, "auth-required")
	if err != nil {
		return nil, err
	}
	if task.Status.State != client.AuthRequired {
		return nil, probe.Unclear("task %s is %s, and this scenario needs one that requires an authorization", task.ID,
			task.Status.State)
	}
	return task, nil
}

func askInTaskAuth(ctx context.Context, s *probe.Session) error {
	task, err := unauthorized(ctx, s)
	if err != nil {
		return err
	}
	if task.Status.Message == nil || len(task.Status.Message.Parts) == 0 {
		return probe.Fail("a status message that says what is needed", "none")
	}
	return nil
}
