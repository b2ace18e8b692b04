package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/tui/text"
)

// onTerminal runs a command line in a terminal of so many columns and returns what is on its screen, what it said on
// standard error, and its exit status.
func onTerminal(t *testing.T, columns uint16, environment map[string]string, args ...string) (string, string, int) {
	t.Helper()
	master, terminal := openTerminal(t, 24, columns)
	defer master.Close()
	screen := make(chan string)
	go func() {
		var all bytes.Buffer
		all.ReadFrom(master) //nolint:errcheck // it ends with an error when the other end is closed
		screen <- strings.ReplaceAll(all.String(), "\r\n", "\n")
	}()
	var talk bytes.Buffer
	code := run(context.Background(), cli.Env{
		Out: terminal, Err: &talk, Now: time.Now, Getenv: func(name string) string { return environment[name] },
	}, args)
	terminal.Close()
	return <-screen, talk.String(), code
}

var colourSequence = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// On a terminal, the list has the terminal's width, and color unless the user disables it. Colored text has the same
// meaning without color.
func TestShowOnTerminal(t *testing.T) {
	const session = "../../tui/testdata/journey.txtar"
	for _, columns := range []uint16{40, 80, 132, 0} { // 0 is a terminal that does not say
		painted, _, code := onTerminal(t, columns, nil, "show", session)
		plain, _, _ := onTerminal(t, columns, map[string]string{"NO_COLOR": "1"}, "show", session)
		flagged, _, _ := onTerminal(t, columns, nil, "show", session, "--no-color")
		if code != cli.ExitOK || plain != flagged || strings.Contains(plain, "\x1b") || !strings.Contains(painted, "\x1b[") {
			t.Errorf("at %d, exit %d:\n%s\n%s\n%s", columns, code, painted, plain, flagged)
		}
		if got := colourSequence.ReplaceAllString(painted, ""); got != plain {
			t.Errorf("at %d the colours say more:\n%s\n%s", columns, got, plain)
		}
		width := int(columns)
		if width == 0 {
			width = cli.UsualWidth
		}
		for line := range strings.Lines(plain) {
			if n := text.Columns(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("at %d a line is %d wide: %q", columns, n, line)
			}
		}
	}
	for _, format := range []string{"ladder", "tree"} {
		screen, _, _ := onTerminal(t, 70, nil, "show", session, "--format", format)
		if !strings.Contains(screen, "\x1b[") || !strings.Contains(screen, "stream-clo") {
			t.Errorf("%s:\n%s", format, screen)
		}
		for line := range strings.Lines(colourSequence.ReplaceAllString(screen, "")) {
			if n := text.Columns(strings.TrimSuffix(line, "\n")); n > 70 {
				t.Errorf("%s: a line is %d wide: %q", format, n, line)
			}
		}
	}
	if screen, _, _ := onTerminal(t, 80, nil, "show", session, "5"); !strings.Contains(screen, "\x1b[33m-32001\x1b[0m") {
		t.Errorf("a body is not coloured:\n%s", screen)
	}
}

// The bytes of a body go to a terminal only if it obeys none of them.
func TestRawOnTerminal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.txtar")
	if err := os.WriteFile(path, []byte(`-- 1.request --
POST / HTTP/1.1
Host: a

{"text":"two
seats"}
-- 1.response --
HTTP/1.1 200 OK

{"text":"`+"\x1b[2J"+`"}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	screen, talk, code := onTerminal(t, 80, nil, "show", path, "1.request", "--raw")
	if screen != "{\"text\":\"two\nseats\"}\n" || talk != "" || code != cli.ExitOK {
		t.Errorf("exit %d, %q, %q", code, screen, talk)
	}
	screen, talk, code = onTerminal(t, 80, nil, "show", path, "1.response", "--raw")
	if screen != "" || code != cli.ExitFailed || !strings.Contains(talk, "its response has control characters or unprintable bytes") ||
		!strings.Contains(talk, "> FILE") {
		t.Errorf("exit %d, %q, %q", code, screen, talk)
	}
	var out bytes.Buffer
	code = run(context.Background(), cli.Env{
		Out: &out, Err: &out, Now: time.Now, Getenv: func(string) string { return "" },
	}, []string{"show", path, "1.response", "--raw"})
	if code != cli.ExitOK || out.String() != "{\"text\":\"\x1b[2J\"}\n" {
		t.Errorf("in a pipe: exit %d, %q", code, out.String())
	}
}
