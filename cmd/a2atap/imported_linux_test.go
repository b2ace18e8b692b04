//go:build linux && !race

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/must"
)

// TestImportHasACeiling imports a HAR with one stream of many events: 100,000, or a million with the tag peers.
func TestImportHasACeiling(t *testing.T) {
	t.Parallel()
	events, ceiling := 100_000, int64(80<<20)
	if thorough {
		events, ceiling = 1_000_000, 256<<20
	}
	const head = `{"log":{"entries":[{"startedDateTime":"2026-01-01T00:00:00Z","time":1,"request":{"method":"POST",` +
		`"url":"http://a.example/","headers":[]},"response":{"status":200,"headers":[{"name":"Content-Type",` +
		`"value":"text/event-stream"}],"content":{"size":1,"mimeType":"text/event-stream"`
	for _, test := range []struct{ name, text string }{
		{"as text", head + `,"text":"` + strings.Repeat(`data: {}\n\n`, events) + `"}}}]}}`},
		{"as ours", head + `}},"_eventStream":[` + strings.Repeat(`{"data":"{}"},`, events-1) + `{"data":"{}"}]}]}}`},
		{
			"as Chrome's", head + `}},"_eventSourceMessages":[` +
				strings.Repeat(`{"time":1,"data":"{}"},`, events-1) + `{"time":1,"data":"{}"}]}]}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "s.har")
			must.Do(t, os.WriteFile(file, []byte(test.text), 0o600))
			cmd := exec.Command("a2atap", "import", file, "-o", filepath.Join(dir, "c.a2atap"))
			must.Do(t, cmd.Start())
			peak, program := peakOf(t, cmd.Process.Pid, exitOf(cmd))
			t.Logf("%d MiB", (peak-program)>>20)
			if code := cmd.ProcessState.ExitCode(); code != 0 || peak-program > ceiling {
				t.Errorf("it took %d MiB, want at most %d; exit status %d", (peak-program)>>20, ceiling>>20, code)
			}
		})
	}
}
