//go:build unix

package main

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/cmdtest"
	"a2atap/proxy/must"
)

// TestFileLimit records in a process that may write no file larger than it has to be at the beginning. Message at
// its end adds up, and its capture is never called complete.
func TestFileLimit(t *testing.T) {
	t.Parallel()
	const sent = 400
	path := filepath.Join(t.TempDir(), "c.a2atap")
	var said bytes.Buffer
	cmd := exec.Command("sh", "-c", `ulimit -f 1000; exec "$@"`, "sh",
		"a2atap", "record", "--agent", "a="+cmdtest.NoiseAgent(t), "-o", path, "--format", "json")
	cmd.Stderr = &said
	p := startCommand(t, cmd, &said)
	s := &cmdtest.Crowd{URL: p.url}
	s.Send(sent)
	must.Do(t, cmd.Process.Signal(syscall.SIGTERM))
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) || ended.ExitCode() != cli.ExitFailed {
		t.Errorf("it ends with %v\n%s", err, said.String())
	}
	match := regexp.MustCompile(`(?m)^record: ([\d,]+) exchanges?, .*; NOT recorded: ([\d,]+) exchanges?,`).
		FindStringSubmatch(said.String())
	if match == nil || !strings.Contains(said.String(), "file too large; free some space") {
		t.Fatalf("it says %s", said.String())
	}
	recorded, lost := parseCount(t, match[1]), parseCount(t, match[2])
	if recorded+lost != sent || lost == 0 {
		t.Errorf("%d recorded and %d lost of %d", recorded, lost, sent)
	}
	if code, verdict := runQuietly(t, "check", path); code != cli.ExitInconclusive {
		t.Errorf("check exits with %d and says %s", code, verdict)
	}
	if code, note := runQuietly(t, "show", path); code != cli.ExitOK ||
		!strings.Contains(note, " lacks "+match[2]+" exchange") {
		t.Errorf("show exits with %d and says %s", code, note)
	}
}

func parseCount(t *testing.T, s string) int {
	t.Helper()
	return must.Get(strconv.Atoi(strings.ReplaceAll(s, ",", "")))(t)
}
