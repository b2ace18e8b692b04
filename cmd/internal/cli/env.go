// Package cli is what all commands share of the process that they run in: its streams, clock and environment (Env), exit
// statuses, signals, progress, the files that are written, and the grammar of flags: sizes, sets, secrets, hosts, words.
//
// It stands on nothing else below cmd, and everything there stands on it. Results go to Env.Out, what is said about them
// to Env.Err; no other package looks at the process for either. An error that is to end the program with a status of its
// own is an Exit; Usage makes one about how the program was called. Errors name no secret that a flag has brought.
package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/term"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture/credential"
	"a2atap/tui/terminal"
)

// Colours reports whether what is written to w is coloured: w is a terminal, and nobody asked for no colour, be it by
// --no-color, by NO_COLOR (https://no-color.org) or by a terminal that says it is dumb.
func (e Env) Colours(w io.Writer) bool {
	if e.Common != nil && e.Common.NoColor || e.Getenv("NO_COLOR") != "" || e.Getenv("TERM") == "dumb" {
		return false
	}
	return terminal.Is(w)
}

// Env is what a command uses of the process: its streams, clock and environment, and the flags of all commands.
type Env struct {
	In     io.Reader
	Out    io.Writer // results
	Err    io.Writer // messages, progress and verdicts
	Now    func() time.Time
	Getenv func(string) string

	Program string       // how the user calls this program; empty for a2atap
	Alone   bool         // the process does nothing else, and ends with the command
	Common  *CommonFlags // nil stands for the defaults
}

// Called returns how the user calls this program, for commands that are suggested to be typed.
func (e Env) Called() string {
	if e.Program == "" {
		return "a2atap"
	}
	return e.Program
}

// ShellSigns are characters that a shell does not take as they are.
const ShellSigns = " \t\n'\"$&;|<>()*?[]{}!#~\\`"

// CalledAs returns how a program was called whose first argument this is: by its name, by its path, or from source,
// where what go run has built is gone as soon as it ends.
func CalledAs(arg0 string) string {
	path := filepath.ToSlash(arg0)
	switch {
	case strings.Contains(path, "/go-build"):
		return "go run ./cmd/a2atap"
	case strings.ContainsAny(arg0, ShellSigns):
		return Quote(arg0)
	case strings.Contains(path, "/"):
		return arg0
	}
	return "a2atap"
}

// CommonFlags are the flags that all commands share.
type CommonFlags struct {
	Quiet    bool   // only errors and verdicts on standard error
	NoColor  bool   // no colour even on a terminal
	Progress string // auto, always or never

	Interruptible bool // the command takes interrupts from its beginning

	temporary temporaries
	done      atomic.Value // how far the command was when that was shown last, such as "2 of 10 exchanges": a string
}

// SoFar says how far a command was when its progress was shown last, as in " after 2 of 10 exchanges"; "" if it was not
// shown.
func (c *CommonFlags) SoFar() string {
	if done, shown := c.done.Load().(string); shown {
		return " after " + done
	}
	return ""
}

// Quiet reports whether --quiet is given.
func (e Env) Quiet() bool { return e.Common != nil && e.Common.Quiet }

// Tell prints a line on standard error, unless --quiet is given.
func (e Env) Tell(format string, args ...any) {
	if e.Quiet() {
		return
	}
	fmt.Fprintln(e.Err, credential.WithoutUserinfo(fmt.Sprintf(format, args...)))
}

// Notice prints a message in which foreign text may be: nothing that a terminal would obey, and no password of a URL.
func (e Env) Notice(text string) {
	fmt.Fprintf(e.Err, "a2atap: %s\n", analysis.Clean(credential.WithoutUserinfo(text)))
}

// UsualWidth is the width of a terminal that does not say how wide it is.
const UsualWidth = 80

// ColumnsOf returns how many columns the terminal w has; 0 if w is not a terminal, so that no line has to be cut.
func ColumnsOf(w io.Writer) int {
	if !terminal.Is(w) {
		return 0
	}
	width, _, err := term.GetSize(w.(*os.File).Fd())
	if err != nil || width <= 0 {
		return UsualWidth
	}
	return width
}
