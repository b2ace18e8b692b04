package push

import (
	"context"
	"net/url"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/hostname"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Configs are about push configs that do not exist, or that an agent should refuse.
var Configs = []*probe.Scenario{
	PrivateWebhook(remote),
	{
		ID: "act-push-not-found", Title: "an unknown push config, or a push config of an unknown task, is not found",
		Category: analysis.ErrorHandling, Level: analysis.Must, Protocols: scenario.V10,
		Needs:    []probe.Capability{probe.Push},
		Sections: []string{"1.0 §3.1.7", "1.0 §3.1.8"},
		Tags:     []string{"push", "errors", "A9", "PUSH-GET-002", "acts:PUSH-ERR-001"},
		Fix:      "Answer with TaskNotFound for configs and tasks that do not exist.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := s.Client.GetPush(ctx, s.NewID(), s.NewID())
			if r := scenario.Refusal(err); r != nil && r.Reason == "PUSH_NOTIFICATION_NOT_SUPPORTED" && s.Card == nil {
				return &probe.Skip{Why: "the agent answers that it has no push notifications"}
			}
			if err := probe.Refused(err, "TASK_NOT_FOUND"); err != nil {
				return err
			}
			task, err := s.Live(ctx)
			if err != nil {
				return err
			}
			defer scenario.Release(ctx, s, task.ID)
			_, err = s.Client.GetPush(ctx, task.ID, s.NewID())
			return probe.Refused(err)
		},
	},
}

// PrivateWebhook makes the scenario of a webhook in the agent's own network, for agents on another machine. The
// address cannot belong to anyone else: the agent's own machine, at the discard port.
func PrivateWebhook(remote func(*probe.Session) bool) *probe.Scenario {
	return &probe.Scenario{
		ID: "act-push-ssrf", Title: "a webhook at an address of the agent's own network is refused",
		Category: analysis.ErrorHandling, Level: analysis.Should, Protocols: scenario.V10,
		Needs:    []probe.Capability{probe.Push},
		Sections: []string{"1.0 §13.2"}, Tags: []string{"push", "security", "A44"},
		Fix: "Refuse webhooks at loopback, link-local and private addresses.",
		Run: func(ctx context.Context, s *probe.Session) error {
			if !remote(s) {
				return &probe.Skip{Why: "the agent is on this machine, like the webhooks of tests"}
			}
			task, err := s.Live(ctx)
			if err != nil {
				return err
			}
			defer scenario.Release(ctx, s, task.ID)
			const own = "https://127.0.0.1:9/a2atap"
			made, err := s.Client.CreatePush(ctx, client.PushConfig{TaskID: task.ID, URL: own})
			if err != nil {
				return probe.Refused(err)
			}
			s.Client.DeletePush(ctx, task.ID, made.ID) //nolint:errcheck // the task ends in any case
			return probe.Fail("a refusal of the webhook "+own, "it was accepted")
		},
	}
}

// remote reports whether the agent is on another machine.
func remote(s *probe.Session) bool {
	u, err := url.Parse(s.Endpoint().URL)
	if err != nil {
		return false
	}
	host := hostname.Normal(u.Hostname())
	return !hostname.IsLoopback(host) && host != "0.0.0.0" && host != "::"
}
