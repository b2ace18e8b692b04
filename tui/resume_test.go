package tui

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/tui/internal/tuitest"
)

// recorder opens a capture for recording and returns what stores steps in it.
func recorder(t *testing.T, path string) (_ *bolt.Store, store func([]capture.Step)) {
	t.Helper()
	s := must.Get(bolt.Open(path, bolt.Options{Flush: time.Millisecond}))(t)
	return s, func(steps []capture.Step) {
		t.Helper()
		must.Do(t, s.Append(steps...))
	}
}

// end ends a recording.
func end(t *testing.T, sink io.Closer) {
	t.Helper()
	must.Do(t, sink.Close())
}

// An inspector that shows the end of a recording continues with the next recording that appends to the capture. The
// list grows, and the rules check both as one and report nothing twice.
func TestEndedGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.a2atap")
	first, store := recorder(t, path)
	store(tuitest.Call(1, "t-1", "TASK_STATE_COMPLETED"))
	store(tuitest.Subscribed(2, "t-2"))
	store([]capture.Step{tuitest.Task(2, 1, "t-2", "TASK_STATE_WORKING")})
	attached := must.Get(bolt.Read(path))(t)
	defer attached.Close()
	u := startUI(t, attached, 120, 40, Options{})
	defer u.cancel()
	sees := func(all ...string) {
		t.Helper()
		u.until(strings.Join(all, ", "), func() bool {
			for _, words := range all {
				if !strings.Contains(u.screen(), words) {
					return false
				}
			}
			return true
		})
	}
	sees("2 exchanges", "no finding, live")
	u.strike("F")
	sees("2 exchanges, following")
	end(t, first)
	sees("the recording has ended", "1 note, ended")

	second, store := recorder(t, path)
	sees("the recording was resumed", "2 exchanges, following", "1 note, live") // the second recorder closed the stream
	store(tuitest.Call(3, "t-1", "TASK_STATE_WORKING"))                         // it was completed in the first recording
	sees("3 exchanges, following", "! 1 error, live")
	end(t, second)
	sees("the recording has ended", "! 1 error, ended")

	third, _ := recorder(t, path)
	sees("the recording was resumed", "! 1 error, live")
	end(t, third)
	sees("the recording has ended", "! 1 error, ended")
	expect.Equal(t, "findings after three recordings", 2, u.m.shared.Found.Total())
}

// A finished capture becomes a growing one when a recorder appends to it.
func TestFinishedGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.a2atap")
	first, store := recorder(t, path)
	store(tuitest.Call(1, "t-1", "TASK_STATE_COMPLETED"))
	end(t, first)
	finished := must.Get(bolt.Read(path))(t)
	defer finished.Close()
	u := startUI(t, finished, 120, 40, Options{})
	defer u.cancel()
	u.until("the list", func() bool { return strings.Contains(u.screen(), "no finding") })
	second, store := recorder(t, path)
	store(tuitest.Call(2, "t-1", "TASK_STATE_WORKING"))
	u.until("the second recording", func() bool {
		return strings.Contains(u.screen(), "2 exchanges") && strings.Contains(u.screen(), "! 1 error, live")
	})
	end(t, second)
	u.until("its end", func() bool { return strings.Contains(u.screen(), "! 1 error, ended") })
}
