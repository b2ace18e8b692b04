package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// A skillTask is the task given to a skill.
type skillTask struct {
	report.Life
	task   *client.Task
	failed error // why the skill fails
}

func askSkills(ctx context.Context, s *probe.Session) error {
	if s.Card == nil {
		return probe.Unclear("there is no card with skills")
	}
	var group sync.WaitGroup
	tasks := make([]*skillTask, 0, len(s.Skills()))
	for _, skill := range s.Skills() {
		x := &skillTask{Life: report.Life{Skill: skill.ID, Status: probe.Pass}}
		tasks = append(tasks, x)
		done := x.begin(ctx, s, &skill)
		group.Go(func() {
			defer done()
			x.follow(ctx, s)
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return skillsCame(s, tasks)
}

// begin sends the first example of a skill, or the card's substitute for one.
func (x *skillTask) begin(ctx context.Context, s *probe.Session, skill *client.Skill) (done func()) {
	text, isExample := cmp.Or(skill.Description, skill.Name, "hello"), false
	if i := slices.IndexFunc(skill.Examples, func(e string) bool { return strings.TrimSpace(e) != "" }); i >= 0 {
		text, isExample = skill.Examples[i], true
	}
	task, done, err := s.BeginWith(ctx, client.Text(text), client.SendOptions{})
	var unclear *probe.Inconclusive
	switch {
	case errors.As(err, &unclear):
		x.States = []string{"message"}
	case err != nil && !isExample && scenario.Refusal(err) != nil:
		x.Status, x.Message = probe.Unproved, fmt.Sprintf("it has no example, and %q is refused: %v", text, err)
	case err != nil:
		x.fail(err)
	default:
		x.task, x.States = task, []string{string(task.Status.State)}
	}
	return done
}

// follow reads the task until it has ended or waits for the client.
func (x *skillTask) follow(ctx context.Context, s *probe.Session) {
	if x.task == nil {
		return
	}
	if s.Scripted() && x.Skill == string(probe.WaitsForCancel) && !probe.Settled(x.task.Status.State) {
		scenario.Release(ctx, s, x.task.ID) // it waits for cancellation
	}
	last := x.task
	if !probe.Settled(last.Status.State) {
		var err error
		last, err = s.Await(ctx, x.task.ID, func(state client.State) bool {
			if string(state) != x.States[len(x.States)-1] {
				x.States = append(x.States, string(state))
			}
			return probe.Settled(state)
		})
		if err != nil {
			if late, ok := errors.AsType[*probe.Failure](err); ok {
				late.Level = analysis.Must
				scenario.Release(ctx, s, x.task.ID)
			}
			x.fail(err)
			return
		}
	}
	if err := likely(s, last, "completed, or waits for the client", client.Completed, client.InputRequired,
		client.AuthRequired); err != nil && !s.Scripted() {
		x.fail(err)
	}
	if !last.Status.State.Terminal() {
		scenario.Release(ctx, s, x.task.ID)
	}
}

// fail notes that the skill failed, or is inconclusive.
func (x *skillTask) fail(err error) {
	x.Status, x.Message = probe.Failed, err.Error()
	if unclear, ok := errors.AsType[*probe.Inconclusive](err); ok {
		x.Status, x.Message = probe.Unproved, unclear.Why
		return
	}
	x.failed = err
}

// skillsCame returns the outcome of the scenario.
func skillsCame(s *probe.Session, tasks []*skillTask) error {
	var lives []report.Life
	var wrong, unclear []string
	var level analysis.Level
	for _, x := range tasks {
		lives = append(lives, x.Life)
		about := fmt.Sprintf("skill %q: %s", x.Skill, x.Message)
		switch x.Status {
		case probe.Failed:
			wrong = append(wrong, about)
			if late, ok := errors.AsType[*probe.Failure](x.failed); ok {
				level = max(level, late.Level)
			}
		case probe.Unproved:
			unclear = append(unclear, about)
		}
	}
	s.Lives = lives
	switch {
	case len(wrong) > 0:
		return &probe.Failure{
			Expected: "a task that ends, or a message", Seen: strings.Join(wrong, "; "), Level: level,
		}
	case len(unclear) > 0:
		return probe.Unclear("%s", strings.Join(unclear, "; "))
	case len(tasks) == 0:
		return probe.Unclear("the card has no skills")
	}
	return nil
}
