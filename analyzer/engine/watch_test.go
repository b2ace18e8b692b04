package engine_test

import (
	"sync"
	"testing"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/must"
)

// What an engine observes may be looked at while it judges, and afterwards it is what the result says.
func TestWatch(t *testing.T) {
	tr := must.Get(transcript.ReadFile("../report/testdata/calls.txtar"))(t)
	memory := must.Get(capture.ReadMemory(capture.Info{}, capture.Each(tr.Exchanges...)))(t)
	var watch engine.Watch
	if r := watch.Result(); len(r.Coverage) > 0 || r.Counts.Exchanges > 0 {
		t.Errorf("without an engine, %d rules were observed", len(r.Coverage))
	}
	over := make(chan struct{})
	var looks sync.WaitGroup
	looks.Go(func() {
		most := 0
		for {
			r := watch.Result()
			if len(r.Coverage) < most {
				t.Errorf("%d rules were observed, and then %d", most, len(r.Coverage))
			}
			most = len(r.Coverage)
			select {
			case <-over:
				return
			default:
			}
		}
	})
	want, err := engine.Run(t.Context(), rules.All, memory, nil, engine.Watched(&watch))
	close(over)
	looks.Wait()
	must.Do(t, err)
	got := watch.Result()
	if len(got.Coverage) != len(want.Coverage) || got.Counts != want.Counts || len(got.Calls) != len(want.Calls) {
		t.Errorf("at the end %d rules, %+v; want %d, %+v", len(got.Coverage), got.Counts, len(want.Coverage), want.Counts)
	}
}
