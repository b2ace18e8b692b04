package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/must"
)

// TestWrongCommandLines runs common mistakes, and compares their error messages with a reviewed page. A message states
// what is wrong, where, and what to do next.
func TestWrongCommandLines(t *testing.T) {
	golden := must.Get(filepath.Abs(filepath.Join("testdata", "wrong.txt")))(t)
	session, err := filepath.Abs(filepath.Join("..", "..", "analyzer", "rules", "testdata", "clean", "v1-jsonrpc.txtar"))
	must.Do(t, err)
	text := must.Get(os.ReadFile(golden))(t)
	s := newShell(t)
	setUpWrong(t, s, session)
	var got strings.Builder
	lines := 0
	for line := range strings.Lines(string(text)) {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			if strings.HasPrefix(line, "# ") {
				fmt.Fprintf(&got, "%s\n", line)
			}
			continue
		}
		lines++
		out, errs, code := s.execute(strings.TrimSpace(command))
		if out != "" && code == cli.ExitUsage {
			t.Errorf("%s wrote to standard output: %s", command, out)
		}
		if code == cli.ExitUsage && strings.Count(errs, "\n") != 1 {
			t.Errorf("%s is told in more or less than a line: %s", command, errs)
		}
		errs = claimed.ReplaceAllString(strings.ReplaceAll(errs, s.dir, "DIR"), "3000 of N bytes")
		fmt.Fprintf(&got, "$ %s%s%s[%d]\n\n", command, out, errs, code)
	}
	if lines < 50 {
		t.Errorf("there are only %d command lines", lines)
	}
	if *update {
		must.Do(t, os.WriteFile(golden, []byte(got.String()), 0o644))
		return
	}
	if diff := cmp.Diff(string(text), got.String()); diff != "" {
		t.Errorf("what wrong command lines are told (-read +now; go test ./cmd/a2atap -run Wrong -update):\n%s", diff)
	}
}

// claimed matches how long a capture was before it was cut: that depends on when the store wrote what.
var claimed = regexp.MustCompile(`3000 of \d+ bytes`)

// setUpWrong makes the files that the command lines name, one of them of a recorded session.
func setUpWrong(t *testing.T, s *shell, session string) {
	t.Helper()
	if _, errs, code := s.execute("a2atap import " + session + " -o c.a2atap"); code != cli.ExitOK {
		t.Fatal(errs)
	}
	whole := must.Get(os.ReadFile(filepath.Join(s.dir, "c.a2atap")))(t)
	for name, content := range map[string]string{
		"notes.txt": "two seats to Kyoto\n", "page.har": "# a page\n", "half.a2atap": string(whole[:3000]),
		"empty.a2atap": "", "cut.jsonl": `{"n":1`, "lines.jsonl": "hello\n", "bad.json": "{",
	} {
		must.Do(t, os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600))
	}
	must.Do(t, os.Mkdir(filepath.Join(s.dir, "folder"), 0o700))
}
