package tui

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// Sequences that take the screen over and give it back (XTerm Control Sequences, DECSET 1049 and 25).
const (
	takesScreen = "\x1b[?1049h"
	givesScreen = "\x1b[?1049l"
	showsCursor = "\x1b[?25h"
)

// run runs the inspector with its output in a file and keys from a pipe, until it ends.
func run(t *testing.T, ctx context.Context, o Options, keys func(strike func(string))) (output string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "screen")
	out, err := os.Create(path)
	must.Do(t, err)
	in, strike := io.Pipe()
	o.In, o.Out, o.Rules = in, out, rules.All
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, journey(t), o) }()
	go keys(func(k string) { io.WriteString(strike, k) }) //nolint:errcheck // the pipe ends with the inspector
	select {
	case err = <-ended:
	case <-time.After(must.Patience):
		t.Fatal("the inspector does not end")
	}
	strike.Close()
	in.Close()
	must.Do(t, out.Close())
	screen := must.Get(os.ReadFile(path))(t)
	return string(screen), err
}

func checkRestored(t *testing.T, output string) {
	t.Helper()
	expect.Contains(t, "what the terminal got", takesScreen, output)
	if strings.LastIndex(output, givesScreen) < strings.LastIndex(output, takesScreen) || !strings.Contains(output,
		showsCursor) {
		t.Errorf("the terminal is not put back: %q", output)
	}
}

func TestRunUntilQuit(t *testing.T) {
	output, err := run(t, t.Context(), Options{}, func(strike func(string)) { strike("QQ") })
	if err != nil {
		t.Errorf("quitting is an error: %v", err)
	}
	checkRestored(t, output)
}

func TestRunUntilContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	output, err := run(t, ctx, Options{}, func(func(string)) { cancel() })
	if err != nil {
		t.Errorf("the end of the context is an error: %v", err)
	}
	if strings.Count(output, takesScreen) != strings.Count(output, givesScreen) {
		t.Errorf("the terminal is not put back: %q", output)
	}
}

// A panic restores the terminal, and is reported.
func TestRunPutsTheTerminalBackAfterAPanic(t *testing.T) {
	reached := make(chan struct{})
	o := Options{Curl: func(*capture.Exchange) (string, error) {
		close(reached)
		panic("a fault of ours")
	}}
	output, err := run(t, t.Context(), o, func(strike func(string)) {
		for {
			select {
			case <-reached:
				return
			case <-time.After(20 * time.Millisecond): // until the list is there, nothing is selected
				strike("yy")
			}
		}
	})
	if err == nil || !strings.Contains(err.Error(), "the inspector failed") {
		t.Errorf("a panic ends it with %v", err)
	}
	checkRestored(t, output)
}

func TestRunRefusesWhatItCannotUse(t *testing.T) {
	if err := Run(t.Context(), journey(t), Options{Filter: "op:"}); err == nil || !strings.Contains(err.Error(),
		"column 4") {
		t.Errorf("a filter that cannot be read is answered with %v", err)
	}
}
