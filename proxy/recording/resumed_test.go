package recording_test

import (
	"context"
	"fmt"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// TestResumed records two exchanges, once after an earlier recording and once as the first recording. Only the appended
// recording reports that it resumes one, and only once.
func TestResumed(t *testing.T) {
	for seq, want := range map[uint64]string{0: "[false false]", 7: "[true false]"} {
		memory := capture.NewMemory(capture.Info{})
		r := recording.New(recording.Options{Sink: memory, Seq: seq})
		c := r.Conn(capture.Peer{Name: "booker"}, "127.0.0.1:49153")
		for x := range 2 {
			c.Request(x, []byte("GET / HTTP/1.1\r\n\r\n"))
			c.Ended(x)
		}
		must.Do(t, r.Close(context.Background()))
		var resumed []bool
		for s, err := range memory.Steps(t.Context(), 0) {
			must.Do(t, err)
			switch what := s.What.(type) {
			case capture.Opened:
				resumed = append(resumed, false)
			case capture.Fact:
				resumed[len(resumed)-1] = resumed[len(resumed)-1] || what.Note == capture.Resumed
			}
		}
		expect.Equal(t, fmt.Sprintf("after %d exchanges", seq), want, fmt.Sprint(resumed))
	}
}
