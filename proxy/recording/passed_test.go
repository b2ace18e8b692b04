package recording_test

import (
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// What another process reports has the time at which it passed, unless that would change the order of reports, or is not
// over yet.
func TestPassed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory := capture.NewMemory(capture.Info{})
		begun := time.Now()
		r := recording.New(recording.Options{Sink: memory})
		c := r.Conn(capture.Peer{Name: "weather"}, "")
		time.Sleep(10 * time.Second)
		for i, passed := range []time.Duration{-time.Hour, 5 * time.Second, 3 * time.Second, time.Hour} {
			c.Passed(begun.Add(passed).Round(0))
			c.Request(i, []byte("GET / HTTP/1.1\r\n\r\n"))
			c.Ended(i)
		}
		must.Do(t, r.Close(t.Context()))
		for i, want := range []time.Duration{0, 5 * time.Second, 5 * time.Second, 10 * time.Second} {
			x := must.Get(memory.Exchange(t.Context(), uint64(i+1)))(t) //nolint:gosec // a few
			expect.Equal(t, "started", want, x.Started.Sub(begun))
		}
	})
}
