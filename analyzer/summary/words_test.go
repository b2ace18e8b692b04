package summary_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

func TestShortID(t *testing.T) {
	for id, want := range map[string]string{
		"":                                       "",
		"t1":                                     "t1",
		"booking-of-a-room-12":                   "booking-of-a-room-12",
		"task-2026-11-23-000001":                 "task-202*3-000001",
		"2f1e9c04-5b1d-4c6e-9a52-0d6f1f0a7b11":   "2f1e9c04",
		"0190a5c4-0000-7000-8000-00009f3c2a1b":   "*9f3c2a1b", // of version 7: it begins with the time
		"00000000-0000-4000-8000-000000000001":   "*00000001",
		"1ec9414c-232a-6b00-b3c8-9e6bdeced846":   "1ec9414c-232a-6b00-b3c8-9e6bdeced846", // of version 6
		"{2f1e9c04-5b1d-4c6e-9a52-0d6f1f0a7b11}": "{2f1e9c0*f0a7b11}",
		"é\x1b[2J":                               "é\ufffd[2J",
		strings.Repeat("é", 21):                  "éééééééé*éééééééé",
	} {
		expect.Equal(t, fmt.Sprintf("%q", id), want, summary.ShortID(id))
	}
}

func TestDurationWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		capture.NotKnown: "–", 0: "0.0ms", 62_500 * time.Microsecond: "62.5ms", 1204 * time.Millisecond: "1.20s",
		90*time.Second + 1: "1m30s",
	} {
		expect.Equal(t, int64(d), want, summary.DurationWords(d))
	}
}

// What a stream holds is called as in the rest of the program: messages over gRPC, events elsewhere.
func TestOutcomeCountsMessages(t *testing.T) {
	for binding, want := range map[a2a.Binding]string{a2a.GRPC: "7 messages", a2a.JSONRPC: "7 events"} {
		s := summary.Summary{Binding: binding, Stream: true, Events: 7, Life: capture.StateClosed}
		expect.Equal(t, binding, want, s.OutcomeText())
	}
}
