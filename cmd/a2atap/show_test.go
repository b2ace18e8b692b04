package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/must"
)

// What docs/show.md prints is what the program prints.
func TestShowPage(t *testing.T) {
	page := must.Get(filepath.Abs(filepath.Join("..", "..", "docs", "show.md")))(t)
	text := must.Get(os.ReadFile(page))(t)
	session := must.Get(filepath.Abs(filepath.Join("..", "..", "tui", "testdata", "journey.txtar")))(t)
	s := newShell(t)
	if _, errs, code := s.execute("a2atap import " + session + " -o c.a2atap"); code != cli.ExitOK {
		t.Fatal(errs)
	}
	var got strings.Builder
	commands, printed := 0, false // whether the lines are what a command printed
	for line := range strings.Lines(string(text)) {
		switch command, ok := strings.CutPrefix(line, "$ "); {
		case ok:
			out, errs, code := s.execute(strings.TrimSpace(command))
			if code != cli.ExitOK || errs != "" {
				t.Errorf("%s: exit %d: %s", command, code, errs)
			}
			got.WriteString(line + out)
			commands, printed = commands+1, true
		case printed && line != "```\n":
		default:
			printed = false
			got.WriteString(line)
		}
	}
	if commands < 3 {
		t.Errorf("there are %d commands", commands)
	}
	if *update {
		must.Do(t, os.WriteFile(page, []byte(got.String()), 0o644))
		return
	}
	if diff := cmp.Diff(string(text), got.String()); diff != "" {
		t.Errorf("docs/show.md (-written +now; go test ./cmd/a2atap -run ShowPage -update):\n%s", diff)
	}
}
