package probe

import (
	"context"
	"slices"

	"a2atap/analyzer"
	"a2atap/replay/client"
)

// pushScenarios are about the configs of push notifications.
var pushScenarios = []*Scenario{
	{
		ID: "act-push-lifecycle", Title: "a push config is created, read, listed and deleted, and may be deleted twice",
		Category: analyzer.Lifecycle, Level: analyzer.Must, Protocols: v10, Needs: []Capability{Push},
		Sections: []string{"1.0 §3.1.7", "1.0 §3.1.8", "1.0 §3.1.9", "1.0 §3.1.10"},
		Tags: []string{
			"push", "A42", "PUSH-CREATE-001", "PUSH-CREATE-002", "PUSH-GET-001", "PUSH-LIST-001", "PUSH-DEL-001",
			"PUSH-DEL-002", "acts:PUSH-CFG-001", "acts:PUSH-CFG-002", "acts:PUSH-CFG-003", "acts:PUSH-LIST-001",
			"acts:PUSH-IDEM-001",
		},
		Fix: "Keep configs until their task has ended or they are deleted, and let clients delete them twice.",
		Run: askConfigs,
	},
	{
		ID: "act-push-not-found", Title: "a push config that nobody made, or of a task that nobody made, is not found",
		Category: analyzer.ErrorHandling, Level: analyzer.Must, Protocols: v10, Needs: []Capability{Push},
		Sections: []string{"1.0 §3.1.7", "1.0 §3.1.8"},
		Tags:     []string{"push", "errors", "A9", "PUSH-GET-002", "acts:PUSH-ERR-001"},
		Fix:      "Answer with TaskNotFound for configs and tasks that do not exist.",
		Run: func(ctx context.Context, s *Session) error {
			if _, err := s.Client.GetPush(ctx, s.NewID(), s.NewID()); Refused(err, "TASK_NOT_FOUND") != nil {
				return Refused(err, "TASK_NOT_FOUND")
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

// silent is the URL of a webhook on this machine where nobody listens.
const silent = "http://127.0.0.1:9/a2atap"

func askConfigs(ctx context.Context, s *Session) error {
	task, err := s.Live(ctx)
	if err != nil {
		return err
	}
	defer s.release(ctx, task.ID)
	made, err := s.Client.CreatePush(ctx, client.PushConfig{TaskID: task.ID, URL: silent, ID: s.NewID()})
	if r := refusal(err); r != nil && r.Code == -32602 {
		return Unclear("the agent takes no webhook on this machine: %s", describe(r))
	}
	if err != nil {
		return err
	}
	if made.ID == "" || made.URL != silent {
		return Fail("the config with its id and its URL", "%s", made.Raw)
	}
	read, err := s.Client.GetPush(ctx, task.ID, made.ID)
	if err != nil {
		return err
	}
	if read.ID != made.ID || read.URL != silent {
		return Fail("config "+made.ID+" as it was created", "%s", read.Raw)
	}
	configs, err := s.Client.ListPush(ctx, task.ID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(configs, func(c client.PushConfig) bool { return c.ID == made.ID }) {
		return Fail("a list with config "+made.ID, "%s", brief(s.Last()))
	}
	for range 2 { // the second deletion succeeds too
		if err := s.Client.DeletePush(ctx, task.ID, made.ID); err != nil {
			return err
		}
	}
	_, err = s.Client.GetPush(ctx, task.ID, made.ID)
	return Refused(err)
}
