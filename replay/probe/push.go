package probe

import (
	"context"
	"net/url"

	"a2atap/analyzer"
	"a2atap/proxy/hostname"
	"a2atap/replay/client"
)

// configScenarios are about configs of push notifications that are not there, or should not be.
var configScenarios = []*Scenario{
	privateWebhook((*Session).elsewhere),
	{
		ID: "act-push-not-found", Title: "a push config that nobody made, or of a task that nobody made, is not found",
		Category: analyzer.ErrorHandling, Level: analyzer.Must, Protocols: v10, Needs: []Capability{Push},
		Sections: []string{"1.0 §3.1.7", "1.0 §3.1.8"},
		Tags:     []string{"push", "errors", "A9", "PUSH-GET-002", "acts:PUSH-ERR-001"},
		Fix:      "Answer with TaskNotFound for configs and tasks that do not exist.",
		Run: func(ctx context.Context, s *Session) error {
			_, err := s.Client.GetPush(ctx, s.NewID(), s.NewID())
			if r := refusal(err); r != nil && r.Reason == "PUSH_NOTIFICATION_NOT_SUPPORTED" && s.Card == nil {
				return &Skip{Why: "the agent has no push notifications, as it says"}
			}
			if err := Refused(err, "TASK_NOT_FOUND"); err != nil {
				return err
			}
			task, err := s.Live(ctx)
			if err != nil {
				return err
			}
			defer s.release(ctx, task.ID)
			_, err = s.Client.GetPush(ctx, task.ID, s.NewID())
			return Refused(err)
		},
	},
}

// privateWebhook makes the scenario of a webhook in the agent's own network, for agents that are elsewhere. The address
// is one that can be nobody else's: the agent's own machine, at the port where by custom nothing is kept.
func privateWebhook(elsewhere func(*Session) bool) *Scenario {
	return &Scenario{
		ID: "act-push-ssrf", Title: "a webhook at an address of the agent's own network is refused",
		Category: analyzer.ErrorHandling, Level: analyzer.Should, Protocols: v10, Needs: []Capability{Push},
		Sections: []string{"1.0 §13.2"}, Tags: []string{"push", "security", "A44"},
		Fix: "Refuse webhooks at loopback, link-local and private addresses.",
		Run: func(ctx context.Context, s *Session) error {
			if !elsewhere(s) {
				return &Skip{Why: "the agent is on this machine, where webhooks of tests are too"}
			}
			task, err := s.Live(ctx)
			if err != nil {
				return err
			}
			defer s.release(ctx, task.ID)
			const own = "https://127.0.0.1:9/a2atap"
			made, err := s.Client.CreatePush(ctx, client.PushConfig{TaskID: task.ID, URL: own})
			if err != nil {
				return Refused(err)
			}
			s.Client.DeletePush(ctx, task.ID, made.ID) //nolint:errcheck // the task ends in any case
			return Fail("a refusal of the webhook "+own, "it was taken")
		},
	}
}

// elsewhere reports whether the agent is on another machine.
func (s *Session) elsewhere() bool {
	u, err := url.Parse(s.Endpoint().URL)
	if err != nil {
		return false
	}
	host := hostname.Normal(u.Hostname())
	return !hostname.IsLoopback(host) && host != "0.0.0.0" && host != "::"
}
