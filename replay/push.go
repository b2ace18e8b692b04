package replay

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/report"
)

// A delivery is one notification, as far as two runs can be compared by it.
type delivery struct {
	task  string
	what  string // kind and state
	ended bool   // it shows the task ended: nothing more is to come of itself
}

// readDelivery reads a recorded notification; none if it cannot be read.
func readDelivery(x *capture.Exchange) []delivery {
	body, err := x.Request.Content()
	if err != nil || len(body) == 0 {
		return nil
	}
	it := newItem(0, a2a.Answer{Payload: a2a.DecodeWebhook(body)})
	if it.kind == a2a.ArtifactPayload {
		it.artifact = 1 // chunks are free, and so is how many of them are notified
	}
	return []delivery{{task: it.task, what: it.String(), ended: it.state.Terminal()}}
}

// compareWith waits until all recorded notifications of an agent have a counterpart, or the context has ended, and
// returns what differs: for each task the kinds and states of its notifications are a multiset, since nothing orders
// them.
func (h *hooks) compareWith(ctx context.Context, t *target, recorded []delivery) (report.Deliveries, []report.Difference) {
	out := report.Deliveries{}
	want, ended := map[string]map[string]int{}, map[string]bool{}
	asked := h.asked(t)
	for _, d := range recorded {
		live, ok := t.values.own(TaskID, "", d.task)
		switch {
		case !ok:
			out.LeftOut, out.Why = out.LeftOut+1, "their task was not replayed"
			continue
		case !asked:
			out.LeftOut, out.Why = out.LeftOut+1, unreachable
			continue
		}
		count(want, live, d.what)
		ended[live] = ended[live] || d.ended
		out.Expected++
	}
	came := h.await(ctx, t, func(came []delivery) bool { return covers(byTask(came), want) })
	got := byTask(came)
	var diffs []report.Difference
	for _, task := range slices.Sorted(maps.Keys(want)) {
		for _, n := range got[task] {
			out.Received += n
		}
		recTask, _ := t.values.recordedFor(TaskID, "", task)
		diffs = append(diffs, compareDeliveries(recTask, want[task], got[task], ended[task])...)
	}
	return out, diffs
}

func count(of map[string]map[string]int, task, what string) {
	if of[task] == nil {
		of[task] = map[string]int{}
	}
	of[task][what]++
}

// byTask counts deliveries by their task.
func byTask(list []delivery) map[string]map[string]int {
	counts := map[string]map[string]int{}
	for _, d := range list {
		count(counts, d.task, d.what)
	}
	return counts
}

func covers(got, want map[string]map[string]int) bool {
	for task, kinds := range want {
		for what, n := range kinds {
			if got[task][what] < n {
				return false
			}
		}
	}
	return true
}

// compareDeliveries compares the notifications of one task. More than recorded are a difference only if the recording
// shows that the last one had come.
func compareDeliveries(task string, want, got map[string]int, ended bool) []report.Difference {
	var diffs []report.Difference
	kinds := maps.Clone(want)
	maps.Copy(kinds, got)
	for _, what := range slices.Sorted(maps.Keys(kinds)) {
		w, g := want[what], got[what]
		if g < w || g > w && ended && !strings.HasPrefix(what, a2a.ArtifactPayload.String()) {
			diffs = append(diffs, report.Difference{
				Kind: report.DifferentDelivery, Want: fmt.Sprintf("%d", w), Got: fmt.Sprintf("%d", g),
				Message: fmt.Sprintf("task %s: notified %d times of %s, recorded %d", clip(task), g, what, w),
			})
		}
	}
	return diffs
}
