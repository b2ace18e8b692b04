package tui

import (
	"context"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// The lower part of a ladder follows the cursor from message to message.
func TestMessageOfTheArrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 100, 60, Options{})
		u.press("g", "n", "l")
		for _, c := range []struct{ arrow, shows, hides string }{
			{"SendStreamingMessage", `"method": "SendStreamingMessage"`, "TASK_STATE"},
			{"·1 task submitted", `"state": "TASK_STATE_SUBMITTED"`, `"method"`},
			{"·2 status working", `"state": "TASK_STATE_WORKING"`, "SUBMITTED"},
			{"·3–5 3 artifact chunks", "·4    artifact", "TASK_STATE"},
			{"·6 status completed", `"state": "TASK_STATE_COMPLETED"`, "·4    artifact"},
			{"·7 status working", `"state": "TASK_STATE_WORKING"`, "COMPLETED\"\n"},
			{"! stream-closed-on-terminal", `"state": "TASK_STATE_WORKING"`, "COMPLETED\"\n"},
			{"stream ends", "the agent ended the stream after 7 events", "TASK_STATE"},
			{"CancelTask", `"method": "CancelTask"`, "the agent ended"},
			{"! outcome-cut", `"method": "CancelTask"`, "the agent ended"},
			{"reset by agent", "✗ reset by agent: ", `"method"`},
		} {
			u.isOn(c.arrow)
			u.sees(c.shows)
			u.hides(c.hides)
			u.press("j")
		}
		u.press("g", "j")
		u.sees("← HTTP/1.1 200 OK", `"state": "TASK_STATE_WORKING"`)
		u.send(sizeOf(100, 15))
		u.pass(time.Second)
		u.hides("← HTTP/1.1 200 OK")
	})
}

// held reads exchanges by their ends only when it may, and counts readers that were told to stop.
type held struct {
	capture.Source
	begun, stopped atomic.Int64
	hold           atomic.Bool
}

func (h *held) Ends(ctx context.Context, from uint64, n int) iter.Seq2[*capture.Exchange, error] {
	return func(yield func(*capture.Exchange, error) bool) {
		h.begun.Add(1)
		if h.hold.Load() {
			<-ctx.Done()
			h.stopped.Add(1)
			yield(nil, ctx.Err())
			return
		}
		h.Source.Ends(ctx, from, n)(yield)
	}
}

// What is under way for an arrow ends when the cursor moves on, and what is passed by is not read at all.
func TestMessageOfAnArrowThatWasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &held{Source: journey(t)}
		u := newUI(t, src, 100, 60, Options{})
		u.press("g", "n", "l")
		src.hold.Store(true)
		src.begun.Store(0)
		u.press("j")
		if b, s := src.begun.Load(), src.stopped.Load(); b != 1 || s != 0 {
			t.Errorf("for an arrow %d readers were begun and %d stopped, want 1 and 0", b, s)
		}
		for range 4 {
			u.strike("j")
			u.pass(10 * time.Millisecond)
		}
		u.pass(time.Second)
		if b, s := src.begun.Load(), src.stopped.Load(); b != 2 || s != 1 {
			t.Errorf("after four arrows more %d readers were begun and %d stopped, want 2 and 1", b, s)
		}
		src.hold.Store(false)
		u.press("esc")
		u.pass(time.Second)
		expect.Equal(t, "readers that stopped when the ladder was left", 2, src.stopped.Load())
	})
}

// The relations of a capture without an index are read once, whatever ladders are shown.
func TestRelationsAreReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &held{Source: journey(t)}
		u := newUI(t, src, 80, 24, Options{})
		u.press("g", "j", "l", "esc")
		if u.m.shared.Load.Relations.Index == nil {
			t.Fatal("the relations are not kept")
		}
		kept := u.m.shared.Load.Relations.Index
		u.press("j", "j", "l")
		u.sees("5 exchanges, task book-91c2")
		for key := range kept {
			delete(kept, key)
		}
		u.press("esc", "l")
		u.sees("1 exchange, ")
	})
}

// Times are local, and one key changes them everywhere.
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 250, 60, Options{Location: time.FixedZone("JST", 9*60*60)})
		u.press("g", "j", "j")
		u.sees("n time JST", "3 18:30:01 ", "exchange 3, 18:30:01.500")
		u.press("T")
		u.sees("times: UTC", "n time UTC", "3 09:30:01 ", "exchange 3, 09:30:01.500")
		u.press("T")
		u.sees("times: since the first exchange", "n from 1st", "3   1.500s ", "exchange 3, 1.500s")
		u.press("j", "enter")
		u.sees("·1          2.012s")
		u.press("T")
		u.sees("times: local, JST", "·1    18:30:02.012")
	})
}
