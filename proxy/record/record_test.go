package record

import (
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func TestEnding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e ending
		time.Sleep(time.Hour)
		if e.over() {
			t.Error("a recording that goes on is over")
		}
		e.begin()
		time.Sleep(endPatience)
		if e.over() {
			t.Error("it is over before its time")
		}
		time.Sleep(time.Nanosecond)
		if !e.over() {
			t.Error("it is not over after its time")
		}
	})
}

func TestSinkCountsWhatItTook(t *testing.T) {
	memory := capture.NewMemory(capture.Info{})
	passed := &tally{changed: make(chan struct{}, 1)}
	sink := counted{memory, passed}
	opened, closed := capture.Step{Seq: 1, What: capture.Opened{}}, capture.Step{Seq: 1, What: capture.Closed{}}
	must.Do(t, sink.Append(opened, closed, capture.Step{Seq: 2, What: capture.Opened{}}))
	must.Do(t, sink.Append(capture.Step{Seq: 2, What: capture.Fact{}}))
	expect.Equal(t, "changes wait to be seen", 1, len(passed.changed))
	must.Do(t, sink.Close())
	expect.Error(t, "a sink that was closed takes steps", sink.Append(closed))
	if o, c := passed.opened.Load(), passed.ended.Load(); o != 2 || c != 1 {
		t.Errorf("%d opened and %d closed, want 2 and 1", o, c)
	}
}
