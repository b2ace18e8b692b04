package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
)

func TestCalledAs(t *testing.T) {
	for arg0, want := range map[string]string{
		"a2atap":                                 "a2atap",
		"./a2atap":                               "./a2atap",
		"/opt/my tools/a2atap":                   "'/opt/my tools/a2atap'",
		"/tmp/go-build123/b001/exe/a2atap":       "go run ./cmd/a2atap",
		"/home/u/.cache/go-build/ab/cdef/a2atap": "go run ./cmd/a2atap",
	} {
		if got := cli.CalledAs(arg0); got != want {
			t.Errorf("%s is called as %s, want %s", arg0, got, want)
		}
	}
}

// What the demo says to look at next works as it is printed, whichever way the demo was started.
func TestDemoSuggestsWhatWorks(t *testing.T) {
	dir := t.TempDir()
	do := func(args ...string) (out, talk string, code int) {
		var stdout, stderr bytes.Buffer
		code = run(context.Background(), cli.Env{
			In: strings.NewReader(""), Out: &stdout, Err: &stderr, Now: time.Now, Program: "go run ./cmd/a2atap",
			Getenv: unset,
		}, args)
		return stdout.String(), stderr.String(), code
	}
	out, talk, code := do("demo", "-o", filepath.Join(dir, "d.a2atap"))
	if code != 0 {
		t.Fatalf("demo: %d, %s", code, talk)
	}
	tried := 0
	for line := range strings.Lines(out) {
		words, suggested := strings.CutPrefix(line, "  go run ./cmd/a2atap ")
		if !suggested {
			continue
		}
		tried++
		args := strings.Fields(strings.ReplaceAll(words, "'", ""))
		if i := len(args) - 1; args[i] == "report.html" {
			args[i] = filepath.Join(dir, args[i])
		}
		out, talk, code := do(args...)
		switch {
		case args[0] == "tui":
			if !strings.Contains(talk, "needs a terminal") {
				t.Errorf("%s: %d, %s", words, code, talk)
			}
		case code > cli.ExitFindings, out == "" && args[len(args)-2] != "-o":
			t.Errorf("%s: %d, %q, %s", words, code, out, talk)
		}
	}
	if tried < 5 {
		t.Errorf("%d commands are suggested in\n%s", tried, out)
	}
}
