package fleet

import (
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
)

// A recorder that was killed has all that it had committed in the stream, and yet nobody can say that this was all.
func TestSilentRecorderIsAGap(t *testing.T) {
	s := newStage(t)
	path := record(t, capturetest.Exchanges())
	all := messages(t, "north", path, 1<<20)
	for _, m := range all {
		m.Recorder.Live, m.Recorder.Committed = true, m.Last
	}
	s.publish(all...)
	s.publish(messages(t, "south", record(t, capturetest.Exchanges()), 1<<20)...)
	r := s.read(ReadOptions{})
	want := len(stepsOfFile(t, path))
	steps := allSteps(t, r.of(t, "north"))
	if len(steps) <= want {
		t.Fatalf("%d steps were read of %d, and nothing says that more may be missing", len(steps), want)
	}
	lost, ok := steps[want].What.(capture.Lost)
	if !ok || steps[want].Seq != 0 || !strings.Contains(lost.Reason, "north (c.a2atap) has not said that it ended") {
		t.Errorf("after what was shipped comes %+v", steps[want])
	}
	checkSame(t, stepsOfFile(t, path), steps[:want])
	if len(r.notices) != 1 || !strings.Contains(r.notices[0], "north (c.a2atap) does not answer") {
		t.Errorf("said %q", r.notices)
	}
}
