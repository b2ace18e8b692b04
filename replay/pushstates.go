package replay

import (
	"context"
	"fmt"
	"slices"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/replay/compare"
	"a2atap/replay/report"
)

// retold reports whether notifications come in another dialect than they were recorded in. Up to 0.3 they hold the task
// and come with its states (A2A 0.3 §9.5), since 1.0 they hold its events (A2A 1.0 §4.3.3): only the states can be
// compared.
func (p *player) retold(recorded []delivery) bool {
	modern := p.opts.Dialect.Has(a2a.V1_0)
	return !p.opts.Dialect.Empty() && slices.ContainsFunc(recorded, func(d delivery) bool {
		in := d.answer.Payload.Dialects
		return !in.Empty() && in.Has(a2a.V1_0) != modern
	})
}

// A told state is one that an agent notified of, and in which exchange first.
type told struct {
	state a2a.State
	seq   uint64
}

// statesOf returns the states that some deliveries say of a task, each once.
func statesOf(list []delivery, task string) []told {
	var all []told
	for _, d := range list {
		state := compare.NewItem(0, d.answer).State
		known := slices.ContainsFunc(all, func(t told) bool { return t.state == state })
		if d.task == task && state.Known() && !known {
			all = append(all, told{state, d.seq})
		}
	}
	return all
}

// statesNotified waits until an agent has notified of all states that were recorded of each task, or the context has
// ended, counts them, and returns those that are missing.
func (p *player) statesNotified(
	ctx context.Context, t *target, recorded []delivery, sum *report.Deliveries,
) (diffs []compare.Difference) {
	var tasks []string
	for _, d := range recorded {
		if !slices.Contains(tasks, d.task) {
			tasks = append(tasks, d.task)
		}
	}
	compared := func(came []delivery) (found int, missing []compare.Difference) {
		for _, task := range tasks {
			live, _ := t.values.Own(compare.TaskID, "", task)
			now := statesOf(came, live)
			for _, was := range statesOf(recorded, task) {
				if slices.ContainsFunc(now, func(n told) bool { return n.state == was.state }) {
					found++
					continue
				}
				missing = append(missing, compare.Difference{
					Kind: compare.DifferentDelivery, Exchange: was.seq, Want: was.state.String(),
					Message: fmt.Sprintf("task %s: not notified of %s", analyzer.Clip(task), was.state),
					Effect:  compare.Effect{Task: task},
				})
			}
		}
		return found, missing
	}
	came := p.hooks.await(ctx, t, func(came []delivery) bool {
		_, missing := compared(came)
		return len(missing) == 0
	})
	found, missing := compared(came)
	sum.Expected += found + len(missing)
	sum.Received += found
	return missing
}
