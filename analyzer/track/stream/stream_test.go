package stream_test

import (
	"testing"
	"time"

	"a2atap/analyzer/track/stream"
)

func TestReadTimestamp(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"2026-03-01T10:00:00Z":              time.Second,
		"2026-03-01T10:00:00.5Z":            100 * time.Millisecond,
		"2026-03-01T10:00:00.123+02:00":     time.Millisecond,
		"2026-03-01T10:00:00.123456789123Z": time.Nanosecond,
	} {
		if _, unit, ok := stream.ReadTimestamp(text); !ok || unit != want {
			t.Errorf("%s: unit %v, %v; want %v", text, unit, ok, want)
		}
	}
	for _, text := range []string{"", "2026-03-01", "2026-03-01T10:00:00", "yesterday"} {
		if _, _, ok := stream.ReadTimestamp(text); ok {
			t.Errorf("%q is taken for a time", text)
		}
	}
	at, unit, _ := stream.ReadTimestamp("2026-03-01T10:00:09.900Z")
	s := &stream.Stamp{At: at, Unit: unit}
	for text, want := range map[string]bool{
		"2026-03-01T10:00:09Z": false, "2026-03-01T10:00:08Z": true,
		"2026-03-01T10:00:09.899Z": true, "2026-03-01T12:00:09.950+02:00": false,
	} {
		if at, unit, _ := stream.ReadTimestamp(text); s.Earlier(at, unit) != want {
			t.Errorf("%s is earlier: %v, want %v", text, !want, want)
		}
	}
}
