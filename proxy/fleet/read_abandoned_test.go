package fleet

import (
	"strings"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/must"
)

// All that a killed recorder had committed is in the stream, but it cannot be known that this was everything.
func TestSilentRecorderIsAGap(t *testing.T) {
	t.Parallel()
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
	if !ok || steps[want].Seq != 0 || !strings.Contains(lost.Reason, "north (c.a2atap) has not reported its end") {
		t.Errorf("after what was shipped comes %+v", steps[want])
	}
	checkSame(t, stepsOfFile(t, path), steps[:want])
	if len(r.notices) != 1 || !strings.Contains(r.notices[0], "north (c.a2atap) does not answer") {
		t.Errorf("said %q", r.notices)
	}
}

// Whoever reads on forever learns of a recorder that is silent for long, each time that it falls silent.
func TestAbandonedWhileFollowed(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	path := record(t, capturetest.Exchanges())
	all := messages(t, "north", path, 1<<20)
	half := 0
	for half++; all[half].Parts > 1 || all[half].First < 10; {
		half++
	}
	for _, m := range all {
		m.Recorder.Live, m.Recorder.Committed = true, m.Last
	}
	r := s.reader(ReadOptions{})
	lost := 0
	for i, some := range [][]*Message{all[:half], all[half:]} {
		s.publish(some...)
		must.Do(t, r.Read(t.Context()))
		m := r.found()[0]
		if m.isEnded() {
			t.Fatal("what was heard of again has ended")
		}
		m.presence.silent, m.presence.came, m.presence.asked = unanswered, time.Now().Add(-quiet-time.Second), time.Now().Add(-comesBack)
		if r.Lives(t.Context()) {
			t.Fatal("who does not answer lives")
		}
		before := len(allSteps(t, mirrored{m}))
		if r.Abandon(); len(allSteps(t, mirrored{m})) != before {
			t.Error("it is given up at once")
		}
		m.presence.came = time.Now().Add(-lasting - time.Second)
		r.Abandon()
		r.Abandon()
		open := make(map[uint64]bool)
		n := 0
		for _, step := range allSteps(t, mirrored{m}) {
			switch what := step.What.(type) {
			case capture.Opened:
				open[step.Seq] = true
			case capture.Closed:
				delete(open, step.Seq)
			case capture.Lost:
				if step.Seq == 0 && strings.Contains(what.Reason, "has not reported its end") {
					n++
				}
			}
		}
		if lost++; n != lost || len(open) > 0 {
			t.Errorf("after part %d: said %d times; open: %v", i+1, n, open)
		}
	}
}

// Two machines that record further into copies of one capture have the same id. Of one of them nothing is read, and
// nothing is clean; each can be read alone.
func TestCopiesOfACapture(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	path := record(t, capturetest.Exchanges())
	s.publish(messages(t, "north", path, 1<<20)...)
	s.publish(messages(t, "south", path, 1<<20)...)
	r := s.read(ReadOptions{})
	const want = "north (c.a2atap) is also in the stream from host south"
	if got := reasons(t, r.of(t, "north")); !strings.Contains(strings.Join(got, "\n"), want) {
		t.Errorf("nothing says that a copy was left out: %q", got)
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
