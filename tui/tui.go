// Package tui is the inspector: it shows a capture, finished or growing, on the whole screen.
//
// What it promises:
//
//   - Control characters from the traffic never reach the terminal: every text passes through one function that escapes
//     them (package text), and escape sequences are written by one other function (package style).
//   - Only what is visible is read: a list of a million exchanges and a stream of a million events cost as much as
//     their rows on the screen. A search reads all, piece by piece, and keeps what matches as a number.
//   - New traffic does not move the cursor, unless the user asked to follow it.
//   - Colour never carries a meaning alone.
//
// The inspector is a stack of panels, each a package of its own that stands on package panel: list, detail, ladder,
// findings, coverage, textview, diff, menu, page. It arranges them, gives them keys as actions and what was loaded as
// messages, and knows what can be done with an exchange: note, compare, copy, export, send again. Package load reads the
// capture, in commands beside the event loop, and runs the rules there, from the beginning of the capture to its end and
// then along with the recording, unless somebody has judged it already. Package print prints the same for commands.
//
// # Caveats
//
// Keys that are pressed faster than they are read come from the terminal library as one key of several characters. That
// library asks the terminal for its background colour when it is initialised; package unasked prevents this.
package tui

import (
	"context"
	"errors"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
	"a2atap/tui/internal/style"
	"a2atap/tui/internal/unasked"
	"a2atap/tui/load"
	"a2atap/tui/terminal"
)

func init() { unasked.Over() }

// Run shows a capture, finished or growing, until the user quits or the context ends; neither is an error. Errors are
// those of the options (a *filter.Error among them) and of the terminal. It reads the source and does not close it. The
// terminal is put back as it was, also if the inspector fails.
func Run(ctx context.Context, src capture.Source, o Options) error {
	if err := analysis.Validate(o.Rules); err != nil {
		return err
	}
	if _, err := filter.Parse(o.Filter); err != nil {
		return err
	}
	if o.Theme == "" {
		o.Theme = style.Dark
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := terminal.NewOutput(o.Out)
	m := newInspector(load.New(ctx, src, o.Rules, o.Keys...), o)
	m.out = out
	options := []tea.ProgramOption{
		tea.WithAltScreen(), tea.WithOutput(out), tea.WithContext(ctx), tea.WithoutSignalHandler(),
	}
	if o.In != nil {
		options = append(options, tea.WithInput(o.In))
	}
	_, err := tea.NewProgram(m, options...).Run()
	switch {
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("the inspector failed; a2atap show and check print the same: %w", err)
	case errors.Is(err, tea.ErrProgramKilled), errors.Is(err, tea.ErrInterrupted):
		return nil // the context ended
	case err != nil:
		return fmt.Errorf("run the inspector: %w", err)
	}
	return nil
}

// Plain is the theme without colour.
const Plain = style.Plain

// ChooseTheme returns the theme of a name; see style.ChooseTheme.
func ChooseTheme(name string, getenv func(string) string) (Theme, error) {
	return style.ChooseTheme(name, getenv)
}

// NewVerdicts returns the verdicts on the steps that come after an arrival number; see load.NewVerdicts.
func NewVerdicts(after uint64) *Verdicts { return load.NewVerdicts(after) }
