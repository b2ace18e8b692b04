package fleet

import (
	"slices"
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

// Two machines that record further into copies of one capture have the same id. Of one of them nothing is read, and
// nothing is clean; each can be read alone.
func TestCopiesOfACapture(t *testing.T) {
	s := newStage(t)
	path := record(t, capturetest.Exchanges())
	s.publish(messages(t, "north", path, 1<<20)...)
	s.publish(messages(t, "south", path, 1<<20)...)
	r := s.read(ReadOptions{})
	const want = "north (c.a2atap) is in the stream as of host south too"
	steps := allSteps(t, r.of(t, "north"))
	if !slices.ContainsFunc(steps, func(s capture.Step) bool {
		lost, ok := s.What.(capture.Lost)
		return ok && s.Seq == 0 && strings.Contains(lost.Reason, want)
	}) {
		t.Error("nothing says that a copy was left out")
	}
	if len(r.Recorded()) != 1 || len(r.notices) != 1 || !strings.Contains(r.notices[0], want) {
		t.Errorf("%d captures, said %q", len(r.Recorded()), r.notices)
	}
	for _, host := range []string{"north", "south"} {
		r := s.read(ReadOptions{Hosts: []string{host}})
		checkSame(t, stepsOfFile(t, path), allSteps(t, r.of(t, host)))
		if len(r.notices) > 0 {
			t.Errorf("of %s alone it said %q", host, r.notices)
		}
	}
}
