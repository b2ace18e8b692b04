package lifecycle

import (
	"context"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Operations are about the effects of sends, reads and cancellations, also on tasks that have ended.
var Operations = scenario.In(probe.Scenario{
	Category: analysis.Lifecycle, Level: analysis.Must,
}, []*probe.Scenario{
	{
		ID: "act-task-not-found", Title: "a task that nobody made cannot be canceled", Category: analysis.ErrorHandling,
		Sections: []string{"1.0 §3.1.5", "0.3 §7.4"},
		Tags: []string{
			"errors", "A9", "CORE-CANCEL-003", "acts:CORE-ERR-002", "tck-main:tasks_cancel_nonexistent",
		},
		Fix: "Answer the cancellation of an unknown task with TaskNotFound.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := s.Client.Cancel(ctx, s.NewID(), nil)
			return scenario.NotFound(s, err)
		},
	},
	{
		ID: "act-task-read", Title: "a created task can be read: with the same id, and a state",
		Sections: []string{"1.0 §3.1.3", "0.3 §7.3"},
		Tags: []string{
			"CORE-GET-001", "CORE-SEND-001", "acts:CORE-GET-001", "tck-main:tasks_get_valid",
			"tck-main:tasks_get_enhanced_parameters", "S4-V3",
		},
		Fix: "Answer a read with the requested task and its state.",
		Run: askRead,
	},
	{
		ID: "act-send-terminal", Title: "an ended task accepts no more messages", Protocols: scenario.Since03,
		Sections: []string{"1.0 §3.1.1", "0.3 §7.1"},
		Tags:     []string{"errors", "A14", "CORE-SEND-002", "acts:CORE-SEND-002", "acts:CORE-ERR-004"},
		Fix:      "Refuse a message to an ended task with UnsupportedOperation.",
		Run: func(ctx context.Context, s *probe.Session) error {
			task, err := s.Finished(ctx, probe.CompletesTask)
			if err != nil {
				return err
			}
			m := s.Say(probe.CompletesTask)
			m.TaskID, m.ContextID = task.ID, task.ContextID
			_, err = s.Client.Send(ctx, m, client.SendOptions{})
			if s.Protocol().Version != "1.0" {
				return probe.Refused(err) // 0.3 defines no error for it
			}
			return probe.Refused(err, "UNSUPPORTED_OPERATION", "TASK_NOT_FOUND")
		},
	},
	{
		ID: "act-cancel-idempotent", Title: "a canceled task stays canceled when it is canceled again",
		Protocols: scenario.V10, Sections: []string{"1.0 §3.1.5", "1.0 §3.3.1"},
		Tags: []string{"A16", "tck-main:task_cancel_state_handling"},
		Fix:  "Answer a second cancellation with the canceled task, TaskNotCancelable or TaskNotFound.",
		Run:  askCancelTwice,
	},
	{
		ID: "act-blocking-default", Title: "a message is answered when its task has ended or waits for the client",
		Protocols: scenario.V10, Sections: []string{"1.0 §3.2.2"}, Tags: []string{"A21", "CORE-EXECUTION-MODE-001"},
		Fix: "Answer SendMessage when the task is terminal or interrupted, unless returnImmediately is true.",
		Run: func(ctx context.Context, s *probe.Session) error {
			task, err := s.Task(ctx, probe.StreamsChunks, client.SendOptions{})
			if err != nil {
				return err
			}
			if !probe.Settled(task.Status.State) {
				return probe.Fail("a task that has ended or waits for the client", "task %s is %s", task.ID, task.Status.State)
			}
			return nil
		},
	},
	{
		ID: "act-return-immediately", Title: "a client that does not wait is answered while the task is active",
		Protocols: scenario.V10, Sections: []string{"1.0 §3.2.2"},
		Tags: []string{"A22", "CORE-EXECUTION-MODE-002", "acts:CORE-EXEC-001"},
		Fix:  "If returnImmediately is true, answer at once with the current task, and continue the work.",
		Run:  askImmediately,
	},
	{
		ID:       "act-unknown-media-type",
		Title:    "a part of an unknown media type is refused, or accepted like any other",
		Category: analysis.ErrorHandling, Level: analysis.Should, Sections: []string{"1.0 §3.1.1", "0.3 §8.2"},
		Tags: []string{
			"errors", "A54", "CORE-SEND-003", "acts:CORE-SEND-004", "tck-main:content_type_not_supported_error_32005",
			"tck-main:invalid_file_part", "tck-main:valid_file_part", "tck-main:binary_data_handling",
		},
		Fix: "Refuse parts of media types that the agent cannot read with ContentTypeNotSupported.",
		Run: askMediaType,
	},
	{
		ID: "act-part-kinds", Title: "files and data are in the form of the protocol",
		Protocols: scenario.Since01, Sections: []string{"1.0 §4.1.6", "0.3 §6.5", "0.3 §6.6"},
		Tags: []string{"artifact", "DM-ART-001", "DM-PART-001"},
		Fix:  "Write each part with one content: a text, the bytes or the address of a file, or data.",
		Run:  askPartKinds,
	},
})

func askRead(ctx context.Context, s *probe.Session) error {
	task, err := s.Task(ctx, probe.CompletesTask, client.SendOptions{})
	if err != nil {
		return err
	}
	read, err := s.Client.Get(ctx, task.ID, nil)
	if scenario.Gone(err) && task.Status.State.Terminal() {
		return probe.Unclear("task %s has ended, and was not kept", task.ID)
	}
	if err != nil {
		return err
	}
	if read.ID != task.ID || read.Status.State == "" {
		return probe.Fail("task "+task.ID+" with a state", "%s", scenario.Brief(s.Last()))
	}
	return nil
}

func askCancelTwice(ctx context.Context, s *probe.Session) error {
	task, err := s.Live(ctx)
	if err != nil {
		return err
	}
	if _, err := s.Client.Cancel(ctx, task.ID, nil); err != nil {
		return probe.Unclear("task %s could not be canceled a first time", task.ID)
	}
	first, err := s.Settle(ctx, task.ID)
	if scenario.Gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if first.Status.State != client.Canceled {
		return probe.Unclear("task %s was %s despite its cancellation", task.ID, first.Status.State)
	}
	again, err := s.Client.Cancel(ctx, task.ID, nil)
	if err == nil && again.Status.State != client.Canceled {
		return probe.Fail("the canceled task", "task %s is %s", again.ID, again.Status.State)
	}
	if err != nil {
		if err := probe.Refused(err, "TASK_NOT_CANCELABLE", "TASK_NOT_FOUND"); err != nil {
			return err
		}
	}
	last, err := s.Client.Get(ctx, task.ID, nil)
	if scenario.Gone(err) {
		return nil
	}
	if err == nil && last.Status.State != client.Canceled {
		return probe.Fail("the task to stay canceled", "task %s is %s", task.ID, last.Status.State)
	}
	return err
}

func askImmediately(ctx context.Context, s *probe.Session) error {
	task, err := s.Task(ctx, probe.TakesLong, client.SendOptions{ReturnImmediately: true})
	if err != nil {
		return err
	}
	if task.Status.State.Terminal() {
		if s.Scripted() {
			return probe.Fail("an active task", "task %s is already %s", task.ID, task.Status.State)
		}
		return probe.Unclear("task %s was %s at once, so it may not have needed longer", task.ID, task.Status.State)
	}
	_, err = s.Settle(ctx, task.ID)
	return err
}

func askMediaType(ctx context.Context, s *probe.Session) error {
	m := client.Message{Parts: []client.Part{
		{Bytes: []byte("?"), MediaType: "application/x-nobody-knows-this", Filename: "unknown.bin"},
	}}
	_, err := s.Client.Send(ctx, m, client.SendOptions{ReturnImmediately: true})
	refused := scenario.Refusal(err)
	switch {
	case err == nil:
		return nil // as in the title; the agent may know the task
	case refused == nil:
		return err
	case scenario.Broken(err):
		return probe.Fail("ContentTypeNotSupported, -32602, or an answer", "%s", probe.Describe(refused))
	}
	return nil
}

// askPartKinds checks each part of a task's artifacts, in the form of the protocol. It declares the media types that
// the client accepts, so that rules can check those, too.
func askPartKinds(ctx context.Context, s *probe.Session) error {
	task, err := s.Task(ctx, probe.ManyParts, client.SendOptions{
		AcceptedOutputModes: []string{"text/plain", "application/json", "image/svg+xml"},
	})
	if err != nil {
		return err
	}
	if task, err = probe.AtRest(ctx, s, task); err != nil {
		return err
	}
	seen := false
	for _, artifact := range a2a.Parse(task.Raw).Root.Get("artifacts").Elems() {
		for _, part := range artifact.Get("parts").Elems() {
			seen = seen || !part.Has("text")
			if err := partHasOne(s, part); err != nil {
				return err
			}
		}
	}
	if !seen {
		return probe.Unclear("no file and no data arrived")
	}
	return nil
}

// partHasOne asserts that a part has one content, of the right type.
func partHasOne(s *probe.Session, part a2a.Value) error {
	contents, in := []string{"text", "raw", "url", "data"}, part
	if s.Protocol().Version != "1.0" {
		if data := part.Get("data"); data.Exists() && data.Kind() != a2a.Object && s.Protocol().Version != "0.1" {
			return probe.Fail("an object as data", "%s", scenario.Written(data))
		}
		if in = part.Get("file"); !in.Exists() {
			return nil
		}
		contents = []string{"bytes", "uri", "fileWithBytes", "fileWithUri"}
	}
	n := 0
	for _, name := range contents {
		if in.Has(name) {
			n++
		}
	}
	if n != 1 {
		return probe.Fail("exactly one of "+strings.Join(contents, ", "), "%s", scenario.Written(in))
	}
	return nil
}
