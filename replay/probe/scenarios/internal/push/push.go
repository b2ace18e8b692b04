// Package push tests push notifications: their configs, and the deliveries to its webhooks.
package push

import (
	"context"
	"errors"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// withConfigs are the protocols with operations to list and delete configs by id.
var withConfigs = scenario.Since03

// tokenLevels is the severity of a notification without the token, by protocol.
var tokenLevels = map[client.Protocol]analysis.Level{
	client.Early: analysis.Must, client.JSONRPC10: analysis.Advice, client.REST10: analysis.Advice,
	client.GRPC10: analysis.Advice,
}

// Scenarios are about push notifications.
var Scenarios = scenario.In(probe.Scenario{
	Category: analysis.Interop, Level: analysis.Must, Needs: []probe.Capability{probe.Push},
}, []*probe.Scenario{
	{
		ID: "push-config", Title: "a stored webhook can be read",
		Sections: []string{"1.0 §3.1.7", "1.0 §3.1.8", "0.3 §7.5"},
		Tags: []string{
			"push", "S4-5", "S4-5.1a", "S4-5.1c", "S4-5.4", "A42",
			"PUSH-CREATE-001", "PUSH-CREATE-002", "PUSH-GET-001", "acts:PUSH-CFG-001", "acts:PUSH-CFG-002", "S4-6.1c", "S4-V9", "S4-P5",
		},
		Fix: "Keep the push notification config of a task, and return it on request.",
		Run: withInbox(askConfig),
	},
	{
		ID: "push-config-delete", Title: "webhooks are listed until they are deleted", Protocols: withConfigs,
		Sections: []string{"1.0 §3.1.9", "1.0 §3.1.10", "0.3 §7.7", "0.3 §7.8"},
		Tags: []string{
			"push", "A42", "PUSH-LIST-001", "PUSH-DEL-001", "PUSH-DEL-002", "acts:PUSH-CFG-003", "acts:PUSH-LIST-001",
			"acts:PUSH-IDEM-001",
		},
		Fix: "List all configs of a task, and remove deleted ones.",
		Run: askConfigs,
	},
	{
		ID: "push-https", Title: "a webhook without TLS is refused", Category: analysis.ErrorHandling,
		Protocols: []client.Protocol{client.Early}, Sections: []string{"JSON-RPC §5.1"},
		Tags: []string{"push", "S4-5.1b"},
		Fix:  "Refuse webhooks whose URL is not https with error -32004.",
		Run:  askInsecure,
	},
	{
		ID: "push-delivery", Title: "the webhook gets notifications about its task", Sections: []string{"1.0 §4.3.3", "0.3 §9.5"},
		Tags: []string{
			"push", "S4-5", "S4-5.2a", "S4-5.2b", "S4-V6", "S0-5.2a", "A43",
			"PUSH-DELIVER-002", "PUSH-DELIVER-003", "acts:PUSH-DELIV-002", "acts:PUSH-DELIV-003",
		},
		Fix: "Post each change of a task's status to its webhooks, in the form of the protocol.",
		Run: withInbox(askDelivery),
	},
	{
		ID: "push-token", Title: "notifications carry the token of the config",
		// 1.0 does not specify how to send the token.
		Level: analysis.Should, Levels: tokenLevels, Sections: []string{"1.0 §4.3.1", "0.3 §6.8"},
		Tags: []string{"push", "S4-5.2c", "A43"},
		Fix:  "Send the token of the config with each notification: in X-A2A-Notification-Token, or before 0.1 as a bearer token.",
		Run:  withInbox(askToken),
	},
	{
		ID: "push-auth", Title: "notifications carry the credentials of the config", Protocols: scenario.V10,
		Sections: []string{"1.0 §4.3.2", "1.0 §4.3.3"}, Tags: []string{"push", "auth", "PUSH-DELIVER-001"},
		Fix: "Send Authorization with the scheme and the credentials of the config with each notification.",
		Run: withInbox(askCredentials),
	},
	{
		ID: "push-after-delete", Title: "a deleted webhook gets no more notifications", Protocols: withConfigs,
		Sections: []string{"1.0 §3.1.10", "0.3 §7.8"}, Tags: []string{"push", "A45"},
		Fix: "Post nothing to a webhook once its deletion was confirmed.",
		Run: askAfterDelete,
	},
})

// configured creates a task that waits for cancellation, and gives it a webhook.
func configured(ctx context.Context, s *probe.Session, in *inbox) (*client.Task, *client.PushConfig, func(), error) {
	task, done, err := s.Begin(ctx, probe.WaitsForCancel, client.SendOptions{})
	if err != nil {
		return nil, nil, nil, err
	}
	if task.Status.State.Terminal() {
		done()
		return nil, nil, nil, probe.Unclear("task %s was %s before a webhook could be set", task.ID, task.Status.State)
	}
	stop := func() {
		s.Client.Cancel(ctx, task.ID, nil) //nolint:errcheck // so that it does no work for nothing
		done()
	}
	config, err := configure(ctx, s, task.ID, in)
	if err != nil {
		stop()
		return nil, nil, nil, err
	}
	return task, config, stop, nil
}

// configure gives a task a webhook.
func configure(ctx context.Context, s *probe.Session, task string, in *inbox) (*client.PushConfig, error) {
	config := config(s, in)
	config.TaskID = task
	created, err := s.Client.CreatePush(ctx, config)
	refused := scenario.Refusal(err)
	if refused != nil && refused.Reason == "" && refused.Code != -32601 && !refused.Internal() {
		return nil, probe.Unclear("the agent does not accept a webhook at %s: %s", in.origin(), probe.Describe(refused))
	}
	if err != nil {
		return nil, err
	}
	if created.URL != config.URL {
		return nil, probe.Fail("a config with the requested URL", "another URL")
	}
	return created, nil
}

// config returns the config of a receiver. Up to 0.3 clients choose the ids of configs, if configs have ids.
func config(s *probe.Session, in *inbox) client.PushConfig {
	config := in.receiver.Config()
	if in.secret != "" {
		config.Scheme, config.Credentials = "Bearer", in.secret
	}
	if s.Protocol().Version == "0.3" {
		config.ID = s.NewID()
	}
	return config
}

func askConfig(ctx context.Context, s *probe.Session, in *inbox) error {
	task, created, stop, err := configured(ctx, s, in)
	if err != nil {
		return err
	}
	defer stop()
	read, err := s.Client.GetPush(ctx, task.ID, created.ID)
	if err != nil {
		return err
	}
	if read.URL != in.receiver.URL() {
		return probe.Fail("the requested URL", "another one")
	}
	if read.TaskID != "" && read.TaskID != task.ID {
		return probe.Fail("the config of task "+task.ID, "a config of task %s", read.TaskID)
	}
	return nil
}

func askConfigs(ctx context.Context, s *probe.Session) error {
	if s.Version == "0.2" {
		return &probe.Skip{Why: "not all versions of A2A 0.2 can delete webhooks"}
	}
	in, err := listen(s)
	if err != nil {
		return err
	}
	defer in.close()
	task, created, stop, err := configured(ctx, s, in)
	if err != nil {
		return err
	}
	defer stop()
	has := func(c client.PushConfig) bool { return c.ID == created.ID && c.URL == in.receiver.URL() }
	list, err := s.Client.ListPush(ctx, task.ID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, has) {
		return probe.Fail("the config in the task's list", "%d other configs", len(list))
	}
	if err := s.Client.DeletePush(ctx, task.ID, created.ID); err != nil {
		return err
	}
	if _, err := s.Client.GetPush(ctx, task.ID, created.ID); err != nil {
		if err := probe.Refused(err); err != nil {
			return err
		}
	} else {
		return probe.Fail("a refusal, since the config was deleted", "the config")
	}
	list, err = s.Client.ListPush(ctx, task.ID)
	switch {
	case err == nil && slices.ContainsFunc(list, has):
		return probe.Fail("a list without the deleted config", "it is still listed")
	case err != nil || s.Protocol().Version != "1.0":
		return err
	}
	if err := s.Client.DeletePush(ctx, task.ID, created.ID); err != nil {
		return probe.Fail("success when a config is deleted again", "%v", err)
	}
	return nil
}

func askInsecure(ctx context.Context, s *probe.Session) error {
	task, done, err := s.Begin(ctx, probe.WaitsForCancel, client.SendOptions{})
	if err != nil {
		return err
	}
	defer done()
	_, err = s.Client.CreatePush(ctx, client.PushConfig{TaskID: task.ID, URL: "http://127.0.0.1:9/" + s.NewID()})
	return probe.RefusedWith(err, -32004)
}

// told triggers an event on a task with a webhook and returns the deliveries about the task, once there is one. It
// tries a webhook sent with the message, and then one in a separate config.
func told(ctx context.Context, s *probe.Session, in *inbox) ([]delivery, error) {
	config := config(s, in)
	task, done, err := s.Begin(ctx, probe.CompletesTask, client.SendOptions{Push: &config})
	if err != nil {
		return nil, err
	}
	defer done()
	if task, err = probe.AtRest(ctx, s, task); err != nil {
		return nil, err
	}
	if found := in.await(ctx, patience(s), task.ID, ""); len(found) > 0 {
		return found, nil
	}
	task, _, stop, err := configured(ctx, s, in)
	if err != nil {
		return nil, err
	}
	stop()
	if found := in.await(ctx, patience(s), task.ID, ""); len(found) > 0 {
		return found, nil
	}
	return nil, unheard(s, in)
}

// heard is told for scenarios that test something other than the delivery itself.
func heard(ctx context.Context, s *probe.Session, in *inbox) ([]delivery, error) {
	found, err := told(ctx, s, in)
	if _, ok := errors.AsType[*probe.Failure](err); ok {
		return nil, probe.Unclear("no notification arrived")
	}
	return found, err
}

// unheard returns the outcome without a notification: a failure if the agent could have sent one.
func unheard(s *probe.Session, in *inbox) error {
	switch {
	case in.distrusted():
		return probe.Unclear("the agent connected, but does not trust the webhook's certificate; provide one that " +
			"it trusts with --webhook-tls or --webhook-cert")
	case !reaches(s, in):
		return probe.Unclear("nothing arrived at %s, which the agent may be unable to reach; set a reachable one with "+
			"--webhook-url", in.origin())
	}
	return probe.Fail("a notification of the task at the webhook", "none within %v after its end", patience(s))
}

func askDelivery(ctx context.Context, s *probe.Session, in *inbox) error {
	found, err := told(ctx, s, in)
	if err != nil {
		return err
	}
	body := a2a.Parse(found[0].Body).Root
	switch s.Protocol().Version {
	case "1.0":
		n := 0
		for _, member := range []string{"task", "message", "statusUpdate", "artifactUpdate"} {
			if body.Has(member) {
				n++
			}
		}
		if n != 1 {
			return probe.Fail("exactly one of task, message, statusUpdate and artifactUpdate", "%s",
				probe.Excerpt(found[0].Body))
		}
	case client.Early.Version:
		for _, member := range []string{"taskId", "eventType", "status", "timestamp"} {
			if !body.Has(member) {
				return probe.Fail("a notification with taskId, eventType, status and timestamp", "%s",
					probe.Excerpt(found[0].Body))
			}
		}
	}
	return nil
}

func askToken(ctx context.Context, s *probe.Session, in *inbox) error {
	found, err := heard(ctx, s, in)
	if err != nil {
		return err
	}
	if found[0].stranger {
		return probe.Fail("the token of the config", "a notification without it")
	}
	return nil
}

func askCredentials(ctx context.Context, s *probe.Session, in *inbox) error {
	in.secret = s.NewID()
	found, err := heard(ctx, s, in)
	if err != nil {
		return err
	}
	if got := found[0].Header.Get("Authorization"); got != "Bearer "+in.secret {
		return probe.Fail("Authorization with the credentials of the config", "%s", map[bool]string{
			true: "none", false: "another one",
		}[got == ""])
	}
	return nil
}

func askAfterDelete(ctx context.Context, s *probe.Session) error {
	if s.Version == "0.2" {
		return &probe.Skip{Why: "not all versions of A2A 0.2 can delete webhooks"}
	}
	gone, err := listen(s)
	if err != nil {
		return err
	}
	defer gone.close()
	kept, err := listen(s)
	if err != nil {
		return err
	}
	defer kept.close()
	task, deleted, stop, err := configured(ctx, s, gone)
	if err != nil {
		return err
	}
	defer stop()
	if _, err := configure(ctx, s, task.ID, kept); err != nil {
		return err
	}
	if err := s.Client.DeletePush(ctx, task.ID, deleted.ID); err != nil {
		return err
	}
	if _, err := s.Client.Cancel(ctx, task.ID, nil); err != nil {
		return probe.Unclear("the task could not be canceled, so there was nothing to report")
	}
	if len(kept.await(ctx, patience(s), task.ID, client.Canceled)) == 0 {
		return probe.Unclear("the other webhook got no notification of the end of the task")
	}
	// If both were notified, it was at the same time: the slower one gets a moment more.
	if late := gone.await(ctx, lateness, task.ID, client.Canceled); len(late) > 0 {
		return probe.Fail("no notification at a deleted webhook", "one: %s", probe.Excerpt(late[0].Body))
	}
	return nil
}
