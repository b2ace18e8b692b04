package source

import (
	"fmt"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/expect"
)

func TestBesideAStream(t *testing.T) {
	for capture, want := range map[string]string{
		"c.a2atap":                                "c.a2atap",
		"nats://127.0.0.1:4222/traffic":           "traffic@127.0.0.1-4222",
		"nats://me:secret@nats.example/traffic":   "traffic@nats.example-4222",
		"tls://[::1]:4333/traffic":                "traffic@--1-4333",
		"nats://secret@nats.example/not/a/stream": "stream",
	} {
		expect.Equal(t, fmt.Sprintf("beside %s", capture), want, cli.Beside(capture))
	}
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"":                          "0001-01-01T00:00:00Z",
		"90m":                       "2026-03-01T10:30:00Z",
		"2026-03-01T10:00:00Z":      "2026-03-01T10:00:00Z",
		"2026-03-01T10:00:00+02:00": "2026-03-01T08:00:00Z",
		"2026-03-01 10:00:00":       "2026-03-01T10:00:00Z",
		"2026-02-28":                "2026-02-28T00:00:00Z",
		"-5m":                       "",
		"soon":                      "",
	} {
		o := Flags{since: text}
		got, err := o.begin(now)
		if want == "" && err == nil || want != "" && (err != nil || got.UTC().Format(time.RFC3339) != want) {
			t.Errorf("--since %q is %s, %v", text, got, err)
		}
	}
}

// No name of a capture that is printed or stored has credentials in it, whatever was typed.
func TestShownName(t *testing.T) {
	for capture, want := range map[string]string{
		"c.a2atap":                               "c.a2atap",
		"a@b.a2atap":                             "a@b.a2atap",
		"nats://me:secret@nats.example/traffic":  "nats://nats.example:4222/traffic",
		"nats://me:secret@nats.example/bad.name": "nats://…@nats.example/bad.name",
		"nats://me:12/secret@nats.example/t":     "nats://…@nats.example/t",
		"nats://me:sec@ret@nats.example/t/u":     "nats://…@nats.example/t/u",
		"nats:/me:secret@nats.example/t":         "nats:/…@nats.example/t",
		"NATS//me:secret@nats.example/t":         "NATS//…@nats.example/t",
	} {
		expect.Equal(t, fmt.Sprintf("%s is shown as", capture), want, cli.ShownName(capture))
	}
}
