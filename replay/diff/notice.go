package diff

import (
	"fmt"
	"maps"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
)

// A notice is the part of a notification to a webhook that two captures have in common.
type notice struct {
	task string
	what string // kind and state
	free bool   // how often it comes depends on the size of chunks
}

// readNotices reads a notification; none if it cannot be read.
func readNotices(x *capture.Exchange) []notice {
	body, err := x.Request.Content()
	if err != nil || len(body) == 0 {
		return nil
	}
	it := compare.NewItem(0, a2a.Answer{Payload: a2a.DecodeWebhook(body)})
	if it.Kind == a2a.ArtifactPayload {
		it.Artifact = 1
	}
	return []notice{{task: it.Task, what: it.String(), free: it.Kind == a2a.ArtifactPayload}}
}

// notices compares the notifications of each task that both captures have: the kinds and states, and how often they
// came, in any order.
func (c *comparison) notices() {
	was, free := count(c.a.notices)
	now, alsoFree := count(c.b.notices)
	maps.Copy(free, alsoFree)
	for _, t := range c.threads {
		if t.task == "" || t.pair == nil {
			continue
		}
		a, b := was[t.task], now[t.pair.task]
		delete(was, t.task)
		whats := slices.Collect(maps.Keys(a))
		whats = slices.AppendSeq(whats, maps.Keys(b))
		slices.Sort(whats)
		for _, what := range slices.Compact(whats) {
			c.report.Deliveries.Expected += a[what]
			c.report.Deliveries.Received += min(a[what], b[what])
			if a[what] == b[what] || free[what] && a[what] > 0 && b[what] > 0 {
				continue
			}
			c.report.Differences = append(c.report.Differences, compare.Difference{
				Kind: compare.DifferentDelivery, Want: fmt.Sprint(a[what]), Got: fmt.Sprint(b[what]),
				Message: fmt.Sprintf("task %s: notified %d times of %s, recorded %d",
					analysis.Clip(t.task), b[what], what, a[what]),
				Effect: compare.Effect{Task: t.task, Agent: t.exchanges[0].agent},
			})
		}
	}
	for _, rest := range was {
		for _, n := range rest {
			c.report.Deliveries.LeftOut += n
			c.report.Deliveries.Why = "the other capture does not have their task"
		}
	}
}

func count(notices []notice) (counts map[string]map[string]int, free map[string]bool) {
	counts, free = map[string]map[string]int{}, map[string]bool{}
	for _, n := range notices {
		if counts[n.task] == nil {
			counts[n.task] = map[string]int{}
		}
		counts[n.task][n.what]++
		free[n.what] = n.free
	}
	return counts, free
}
