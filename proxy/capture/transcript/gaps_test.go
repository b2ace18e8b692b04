package transcript_test

import (
	"strings"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// A transcript has the same losses as its capture, both in Info and when read step by step.
func TestGapsStay(t *testing.T) {
	t.Parallel()
	info := capture.Info{
		LostExchanges: 3, Crashes: 2, Insecure: true, SecretsKept: true, Unfinished: true,
		Crash: capture.Crash{After: time.Date(2026, 2, 3, 4, 5, 6, 7e6, time.UTC), Within: 50 * time.Millisecond},
	}
	text := roundTrip(t, &transcript.Transcript{Comment: "Much is missing.\n", Gaps: capture.GapsOf(&info)})
	const want = `Much is missing.
-- gaps --
lost: 3
crashes: 2
crash: 2026-02-03T04:05:06.007Z 50ms
insecure: yes
secrets-kept: yes
unfinished: yes
`
	expect.Same(t, "", want, text)
	src := must.Get(parse(t, text).Source("t.txtar"))(t)
	got := must.Get(src.Info(t.Context()))(t)
	info.Name, info.Imported, info.Arrivals = "t.txtar", true, 1
	expect.Same(t, "", info, got)
	for s := range src.Steps(t.Context(), 1) {
		if lost, ok := s.What.(capture.Lost); !ok || lost.Exchanges != 3 {
			t.Errorf("got the step %+v", s)
		}
	}
}

// A capture without losses says nothing of them.
func TestNoGaps(t *testing.T) {
	t.Parallel()
	if text := roundTrip(t, &transcript.Transcript{}); strings.Contains(text, "gaps") {
		t.Errorf("got %q", text)
	}
	src, err := parse(t, "-- 2.request --\nGET / HTTP/1.1\n-- 1.request --\nGET / HTTP/1.1\n-- 1.meta --\nstarted: +1h\n").
		Source("t.txtar")
	must.Do(t, err)
	info, err := src.Info(t.Context())
	if err != nil || info.LostExchanges != 0 || info.Exchanges != 2 || info.Live {
		t.Errorf("got %+v, %v", info, err)
	}
}
