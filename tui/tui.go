// Package tui is the inspector: it shows a capture, finished or growing, on the whole screen.
//
// It guarantees:
//
//   - Control characters from the traffic never reach the terminal: every text passes through one function that escapes
//     them (package text), and escape sequences are written by one other function (package style).
//   - Only what is visible is read: a list of a million exchanges and a stream of a million events cost as much as
//     their rows on the screen. A search reads everything, in pieces, and stores only the numbers of matches.
//   - New traffic does not move the cursor, unless the user asked to follow it.
//   - Color is never the only carrier of a meaning.
//
// The inspector is a stack of panels, each a separate package built on package panel: list, detail, ladder, findings,
// coverage, textview, diff, menu, page. The inspector arranges the panels, and passes them keys as actions and loaded
// data as messages. It implements the actions on an exchange: note, compare, copy, export, send again. Package load
// reads the capture and its View, in commands outside the event loop. Package print prints the same views for commands.
//
// # Caveats
//
// If keys arrive faster than the terminal library reads them, it returns several characters as one key. The library
// also asks the terminal for its background color when it is initialized; package unasked prevents this.
package tui

import (
	"context"
	"errors"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/view"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
	"a2atap/tui/internal/noquery"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
	"a2atap/tui/terminal"
)

func init() { noquery.Over() }

// Run shows a capture, finished or growing, until the user quits or the context ends; neither is an error. It returns
// errors of the options (such as a *filter.Error) and of the terminal. It reads the source and does not close it. It
// restores the terminal even if the inspector fails.
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
	if o.View == nil {
		o.View = view.Open(src, view.Options{Rules: o.Rules})
		defer o.View.Close()
	}
	m := newInspector(load.New(ctx, src, o.Rules), o)
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
		return fmt.Errorf("the inspector failed; use a2atap show and check instead: %w", err)
	case errors.Is(err, tea.ErrProgramKilled), errors.Is(err, tea.ErrInterrupted):
		return nil // the context ended
	case err != nil:
		return fmt.Errorf("run the inspector: %w", err)
	}
	return nil
}

// Plain is the theme without color.
const Plain = style.Plain

// ChooseTheme returns the theme with a name; see style.ChooseTheme.
func ChooseTheme(name string, getenv func(string) string) (Theme, error) {
	return style.ChooseTheme(name, getenv)
}
