package replay

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/replay/compare"
	"a2atap/replay/report"
)

// A notice is the content of one notification, or of all notifications with the chunks of one artifact.
type notice struct {
	compare.Item
	seq uint64 // of the (first) notification
}

// what names the kind and state of a notice. Agents are free in the number of chunks, and artifacts have no order.
func (n *notice) what() string {
	it := n.Item
	switch {
	case it.Kind != a2a.ArtifactPayload:
		return it.String()
	case it.Last:
		return "the end of an artifact"
	}
	return "a part of an artifact"
}

// notices returns the notices in some deliveries, by task.
func notices(list []delivery) map[string][]notice {
	readers := map[string]*compare.ItemReader{}
	numbers := map[string][]uint64{}
	for _, d := range list {
		if readers[d.task] == nil {
			readers[d.task] = &compare.ItemReader{Call: &a2a.Call{Operation: a2a.Webhook}}
		}
		if _, isNew := readers[d.task].Add(0, d.answer); isNew {
			numbers[d.task] = append(numbers[d.task], d.seq)
		}
	}
	all := map[string][]notice{}
	for task, r := range readers {
		for i, it := range r.Items {
			all[task] = append(all[task], notice{it, numbers[task][i]})
		}
	}
	return all
}

// deliveries compares each agent's notifications with the recorded ones about its tasks. It waits for all of them
// together up to the timeout of one answer.
func (p *player) deliveries(ctx context.Context) (sum report.Deliveries, diffs []compare.Difference) {
	ctx, cancel := context.WithTimeout(ctx, p.opts.Timeout)
	defer cancel()
	rest := p.plan.hooks
	for i, t := range p.order {
		var own, others []delivery
		for _, d := range rest {
			if _, ok := t.values.Own(compare.TaskID, "", d.task); ok || i == len(p.order)-1 {
				own = append(own, d)
			} else {
				others = append(others, d)
			}
		}
		rest = others
		found := p.delivered(ctx, t, own, &sum)
		for j := range found {
			found[j].Effect.Agent = t.agent.Name
		}
		diffs = append(diffs, found...)
	}
	return sum, diffs
}

// delivered waits until all recorded notifications of an agent have a counterpart, or the context has ended, counts
// them, and returns the differences. The notifications of a task have no fixed order.
func (p *player) delivered(
	ctx context.Context, t *target, recorded []delivery, sum *report.Deliveries,
) (diffs []compare.Difference) {
	asked := p.hooks.asked(t)
	recorded = slices.DeleteFunc(recorded, func(d delivery) bool {
		_, ok := t.values.Own(compare.TaskID, "", d.task)
		switch {
		case !ok:
			sum.Why = "their task was not replayed"
		case !asked:
			sum.Why = unreachable
		default:
			return false
		}
		sum.LeftOut++
		return true
	})
	if p.retold(recorded) {
		return p.statesNotified(ctx, t, recorded, sum)
	}
	sum.Expected += len(recorded)
	want := notices(recorded)
	ours := func(task string) string {
		live, _ := t.values.Own(compare.TaskID, "", task)
		return live
	}
	came := p.hooks.await(ctx, t, func(came []delivery) bool {
		got := notices(came)
		for task, list := range want {
			if !covers(counts(got[ours(task)]), counts(list)) {
				return false
			}
		}
		return true
	})
	got, received := notices(came), map[string]int{}
	for _, d := range came {
		received[d.task]++
	}
	for _, task := range slices.Sorted(maps.Keys(want)) {
		sum.Received += received[ours(task)]
		diffs = append(diffs, missing(task, want[task], got[ours(task)])...)
		diffs = append(diffs, p.notified(t, want[task], got[ours(task)])...)
	}
	return diffs
}

// counts counts notices by kind and state.
func counts(list []notice) map[string]int {
	n := map[string]int{}
	for i := range list {
		n[list[i].what()]++
	}
	return n
}

func covers(got, want map[string]int) bool {
	for what, n := range want {
		if got[what] < n {
			return false
		}
	}
	return true
}

// missing names the kinds and states with fewer notices of a task than recorded. More are a difference only if the
// recording shows that the last one had arrived.
func missing(task string, recorded, live []notice) (diffs []compare.Difference) {
	want, got := counts(recorded), counts(live)
	ended := slices.ContainsFunc(recorded, func(n notice) bool { return n.State.Terminal() })
	kinds := maps.Clone(want)
	maps.Copy(kinds, got)
	for _, what := range slices.Sorted(maps.Keys(kinds)) {
		w, g := want[what], got[what]
		if g < w || g > w && ended && !strings.HasSuffix(what, " of an artifact") {
			diffs = append(diffs, compare.Difference{
				Kind: compare.DifferentDelivery, Want: fmt.Sprintf("%d", w), Got: fmt.Sprintf("%d", g),
				Message: fmt.Sprintf("task %s: notified %d times of %s, recorded %d", analysis.Clip(task), g, what, w),
				Effect:  compare.Effect{Task: task},
			})
		}
	}
	return diffs
}

// notified compares each recorded notice of a task with the most similar live one of the same kind and state.
func (p *player) notified(t *target, recorded, live []notice) (diffs []compare.Difference) {
	taken := make([]bool, len(live))
	for _, was := range recorded {
		best, fewest := -1, 0
		for i := range live {
			if taken[i] || live[i].what() != was.what() {
				continue
			}
			if n := len(p.comparison(t, was.recorded(), live[i].reply(), live[i].seq).Run()); best < 0 || n < fewest {
				best, fewest = i, n
			}
		}
		if best < 0 {
			continue // it is missing, and was reported
		}
		taken[best] = true
		now := live[best]
		rec := was.recorded()
		pairs := compare.NewPairer(t.values, rec, rec.Call)
		pairs.Noise = p.opts.Noise.Of(a2a.Webhook, rec.Seq, now.seq)
		pairs.Take(0, now.Answer)
		c := p.comparison(t, rec, now.reply(), now.seq)
		found := append(pairs.Contradictions(), c.Run()...)
		c.Note()
		for i := range found {
			found[i].Live = now.seq
			found[i].Place = strings.Replace(found[i].Place, ".response", ".request", 1)
			found[i].LivePlace = strings.Replace(found[i].LivePlace, ".response", ".request", 1)
		}
		diffs = append(diffs, found...)
		if p.opts.Profile != compare.Exact && !p.opts.Texts {
			p.countTexts(rec.Texts())
		}
	}
	return diffs
}

// reply returns the notice in the form of an answer, which has the same content.
func (n *notice) reply() *compare.Reply {
	it := n.Item
	if it.Kind == a2a.ArtifactPayload {
		it.Artifact = 1
	}
	return &compare.Reply{
		ItemReader: compare.ItemReader{Call: &a2a.Call{Operation: a2a.Webhook}, Items: []compare.Item{it}},
		Status:     http.StatusOK,
	}
}

func (n *notice) recorded() *compare.Recorded {
	return &compare.Recorded{Reply: n.reply(), Seq: n.seq, Task: n.Task}
}

// retold reports whether notifications come in another dialect than the recorded one. Up to 0.3 they contain the task
// and come with its states (A2A 0.3 §9.5). Since 1.0 they contain its events (A2A 1.0 §4.3.3). Only the states can be
// compared.
func (p *player) retold(recorded []delivery) bool {
	modern := p.opts.Dialect.Has(a2a.V1_0)
	return !p.opts.Dialect.Empty() && slices.ContainsFunc(recorded, func(d delivery) bool {
		in := d.answer.Payload.Dialects
		return !in.Empty() && in.Has(a2a.V1_0) != modern
	})
}

// A told state is a state in an agent's notification, with the exchange that first reported it.
type told struct {
	state a2a.State
	seq   uint64
}

// statesOf returns the distinct states of a task in some deliveries.
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

// statesNotified waits until an agent has notified of all recorded states of each task, or the context has ended,
// counts them, and returns the missing ones.
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
					Message: fmt.Sprintf("task %s: no notification of %s", analysis.Clip(task), was.state),
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
