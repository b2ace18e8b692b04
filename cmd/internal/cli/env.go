// Package cli has what all commands share: the streams, clock and environment of the process (Env), exit statuses,
// signals, progress, output files, and the syntax of flags: sizes, sets, secrets, hosts, words.
//
// It imports no other package below cmd, and all of those import it. Results go to Env.Out, messages to Env.Err; no
// other package uses the process's standard output and error. An error with a specific exit status is an Exit; Usage
// makes one for wrong command lines. Errors never contain secrets from flags.
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

// Colours reports whether to use color on w: w is a terminal, and color is not disabled by --no-color, by NO_COLOR
// (https://no-color.org) or by TERM=dumb.
func (e Env) Colours(w io.Writer) bool {
	if e.Common != nil && e.Common.NoColor || e.Getenv("NO_COLOR") != "" || e.Getenv("TERM") == "dumb" {
		return false
	}
	return terminal.Is(w)
}

// Env is the part of the process that a command uses: its streams, clock and environment, and the flags of all
// commands.
type Env struct {
	In     io.Reader
	Out    io.Writer // results
	Err    io.Writer // messages, progress and verdicts
	Now    func() time.Time
	Getenv func(string) string

	Program string       // how the user calls this program; empty for a2atap
	Alone   bool         // the process runs only this command, and ends with it
	Common  *CommonFlags // nil means the defaults
}

// Called returns the program name for commands that messages suggest.
func (e Env) Called() string {
	if e.Program == "" {
		return "a2atap"
	}
	return e.Program
}

// ShellSigns are characters with a special meaning in a shell.
const ShellSigns = " \t\n'\"$&;|<>()*?[]{}!#~\\`"

// CalledAs returns the program name for this first argument: its name, its path, or the command that runs it from
// source, since the binary of go run is gone as soon as it ends.
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
	NoColor  bool   // no color even on a terminal
	Progress string // auto, always or never

	Interruptible bool // the command handles interrupts from its beginning

	temporary temporaries
	done      atomic.Value // the progress last shown, such as "2 of 10 exchanges": a string
}

// SoFar returns the command's progress last shown, as in " after 2 of 10 exchanges"; "" if none was shown.
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

// Notice prints a message that may contain foreign text. It escapes control sequences, and omits passwords in URLs.
func (e Env) Notice(text string) {
	fmt.Fprintf(e.Err, "a2atap: %s\n", analysis.Clean(credential.WithoutUserinfo(text)))
}

// UsualWidth is the assumed width of a terminal of unknown width.
const UsualWidth = 80

// ColumnsOf returns the width of the terminal w in columns; 0 if w is not a terminal, which means that lines are not
// cut.
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
