package replay_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay"
	"a2atap/replay/compare"
)

// changing is an agent whose task has other metadata in each answer. Unless its states change, every second answer
// also has more metadata. Each answer has the next of the states; later answers repeat the last one.
func changing(t testing.TB, model string, states ...string) string {
	t.Helper()
	var asked atomic.Int64
	return startScript(t, script{"SendMessage": func(s *said) {
		n := int(asked.Add(1))
		cached := ""
		if n%2 == 0 && len(states) == 1 {
			cached = `"cached":true,`
		}
		s.result(fmt.Sprintf(`{"task":{"id":"task-00000001","contextId":"ctx-00000001","status":{"state":"TASK_STATE_%s"},`+
			`"metadata":{%s"model":%q,"took":%d,"access_token":"tok-%d","rows":[%d,%d]}}}`,
			states[min(n, len(states))-1], cached, model, n, n, n, n+1))
	}})
}

// A value that differs between the two live runs is learned; one that changed equally in both is a difference.
func TestLearn(t *testing.T) {
	t.Parallel()
	src := record(t, changing(t, "m1", "COMPLETED"), func(tapURL string) { ask(t, tapURL, "SendMessage", hello) })
	hidden := regexp.MustCompile(`redacted\.[0-9a-f.]+`)
	src = edited(t, src, func(x *capture.Exchange) { // as if secrets had been recorded
		x.Response.Body.Data = hidden.ReplaceAll(x.Response.Body.Data, []byte("tok-0"))
	})
	r, learnt, err := replay.Learn(t.Context(), src, changing(t, "m2", "COMPLETED"), replay.Options{Profile: compare.Exact})
	must.Do(t, err)
	if got := kinds(r); got != "1 value " || r.Differing != 1 || r.Matched != 0 {
		t.Errorf("left is %q: %s %v", got, r.Verdict(), r.Differences)
	}
	if d := r.Differences[0]; len(d.Changes) != 1 || d.Place != "1.response.body#/result/task/metadata/model" {
		t.Errorf("left is %+v", d)
	}
	const at = "SendMessage:/result/task/metadata/"
	want := []replay.Learnt{
		{Rule: at + "cached", Values: [3]string{"", "", "true"}},
	}
	want = append(want, replay.Learnt{Rule: at + "access_token", Secret: true}) // without its values
	var found []replay.Learnt
	for _, name := range []string{"cached", "access_token"} {
		for _, l := range learnt {
			if l.Rule == at+name {
				found = append(found, l)
			}
		}
	}
	expect.Same(t, "learnt", want, found)

	// With all learned rules, only the change remains, also under the exact profile.
	var lines []string
	agent := changing(t, "m2", "COMPLETED")
	for range 2 {
		r, learnt, err = replay.Learn(t.Context(), src, agent,
			replay.Options{Profile: compare.Exact, Noise: mayDiffer(t, lines...)})
		must.Do(t, err)
		for _, l := range learnt {
			lines = append(lines, l.Rule)
		}
	}
	if got := kinds(r); got != "1 value " || len(r.Notes) > 0 {
		t.Errorf("left is %q: %v %q", got, r.Differences, r.Notes)
	}
	for _, name := range []string{"took", "rows", "cached"} {
		if !strings.Contains(strings.Join(lines, "\n"), at+name) {
			t.Errorf("%s was not learnt: %q", name, lines)
		}
	}
}

// Values that the protocol defines are never learned, whichever run differs.
func TestFlakyIsNotLearnt(t *testing.T) {
	t.Parallel()
	src := record(t, changing(t, "m1", "COMPLETED"), func(tapURL string) { ask(t, tapURL, "SendMessage", hello) })
	for run, states := range map[string][]string{
		"first": {"FAILED", "COMPLETED"}, "second": {"COMPLETED", "FAILED"},
	} {
		r, _, err := replay.Learn(t.Context(), src, changing(t, "m1", states...), replay.Options{})
		must.Do(t, err)
		if got := kinds(r); got != "1 state " || r.Differing != 1 || r.Matched != 0 || r.Lines[0].Status != "differing" {
			t.Errorf("%s: found %q: %s", run, got, r.Verdict())
		}
		want := "flaky, and not learned: only in the " + run + " run: 1.response.body#/result/task: the state is failed, " +
			"recorded completed [state]"
		if len(r.Notes) != 1 || r.Notes[0] != want {
			t.Errorf("notes %q, want %q", r.Notes, want)
		}
	}
	r, learnt, err := replay.Learn(t.Context(), src, changing(t, "m1", "FAILED"), replay.Options{})
	if err != nil || kinds(r) != "1 state " || len(r.Notes) > 0 || len(learnt) > 0 {
		t.Errorf("what both runs have is %v %q %v, %v", r.Differences, r.Notes, learnt, err)
	}
}
