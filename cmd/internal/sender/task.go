package sender

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
	"a2atap/replay/client"
	"a2atap/replay/prompt"
)

// taskOptions select requests about existing tasks, instead of sending.
type taskOptions struct {
	get, cancel, subscribe string
	list                   bool
	historyLength          int
}

func (o *taskOptions) Register(f *pflag.FlagSet) {
	f.StringVar(&o.get, "get", "", "get the task `ID`, and send no message")
	f.BoolVar(&o.list, "list", false, "list the agent's tasks, and send no message")
	f.StringVar(&o.cancel, "cancel", "", "cancel the task `ID`, and send no message")
	f.StringVar(&o.subscribe, "subscribe", "", "print the events of the task `ID` from now on, and send no message")
	f.IntVar(&o.historyLength, "history-length", -1, "with --get and --list: request at most `N` messages of history")
}

// given returns the flags that the user has set.
func (o *taskOptions) given() []string {
	var flags []string
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"--get", o.get != ""}, {"--list", o.list}, {"--cancel", o.cancel != ""}, {"--subscribe", o.subscribe != ""},
	} {
		if f.given {
			flags = append(flags, f.name)
		}
	}
	return flags
}

func (o *taskOptions) history() *int {
	if o.historyLength < 0 {
		return nil
	}
	return &o.historyLength
}

func (s *sender) askAboutTasks(ctx context.Context) error {
	switch o := &s.o.Tasks; {
	case o.list:
		return s.listTasks(ctx)
	case o.subscribe != "":
		return s.subscribe(ctx, o.subscribe)
	case o.cancel != "":
		t, err := s.client.Cancel(ctx, o.cancel, nil)
		if err != nil {
			return err
		}
		if err := s.printed(ctx, t); err != nil {
			return err
		}
		if t.Status.State != client.Canceled {
			s.e.Tell("send: the task is %s, not canceled", stateWord(t))
			return &cli.Exit{Code: cli.ExitFindings}
		}
		return nil
	default:
		t, err := s.client.Get(ctx, o.get, o.history())
		if err != nil {
			return err
		}
		if err := s.printed(ctx, t); err != nil {
			return err
		}
		return s.outcome(&prompt.Answer{Mode: prompt.Send, Task: t, Raw: t.Raw})
	}
}

// printed prints a task as the flags select.
func (s *sender) printed(ctx context.Context, t *client.Task) error {
	a := &prompt.Answer{Mode: prompt.Send, Task: t, Raw: t.Raw}
	switch {
	case s.o.Output != "":
		return s.final(ctx, a)
	case s.o.Format == "json":
		return s.raw(t.Raw)
	}
	s.printTask(t)
	return nil
}

func (s *sender) subscribe(ctx context.Context, id string) error {
	s.o.Stream = true // only future events are wanted
	asking := s.asking()
	polled := false
	asking.OnPoll = func(*client.Task) error { polled = true; return nil }
	answer, err := prompt.Follow(ctx, s.client, id, asking)
	if err != nil {
		return err
	}
	if err := s.answer(ctx, answer, polled); err != nil {
		return err
	}
	return s.outcome(answer)
}

// listTasks prints all pages of the list.
func (s *sender) listTasks(ctx context.Context) error {
	o := client.ListOptions{ContextID: s.o.ContextID, HistoryLength: s.o.Tasks.history()}
	seen := map[string]bool{}
	most := s.o.Flags.Limits.OrDefaults()
	for pages := 0; ; pages++ {
		if pages == most.Pages {
			return fmt.Errorf("list tasks: %w", most.TooManyPages())
		}
		page, err := s.client.List(ctx, o)
		if err != nil {
			return err
		}
		if s.o.Format == "json" || s.o.Output != "" {
			if err := s.raw(page.Raw); err != nil {
				return err
			}
		} else {
			for i := range page.Tasks {
				s.print("task "+page.Tasks[i].ID, string(page.Tasks[i].Status.State))
			}
		}
		o.PageToken = page.NextPageToken
		if o.PageToken == "" {
			return nil
		}
		if seen[o.PageToken] {
			return fmt.Errorf("list tasks: the agent returns the same page again and again")
		}
		seen[o.PageToken] = true
	}
}

func stateWord(t *client.Task) string {
	if t.Status.State == "" {
		return "without a state"
	}
	return string(t.Status.State)
}
