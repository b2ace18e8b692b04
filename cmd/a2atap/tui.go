package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"a2atap/analyzer"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/tui"
	"a2atap/tui/terminal"
)

type tuiOptions struct {
	theme   string
	noColor bool
}

func newTUI(e env) *cobra.Command {
	var o tuiOptions
	cmd := &cobra.Command{
		Use:   "tui CAPTURE",
		Short: "Look into a capture, finished or growing, in the terminal",
		Long: `Tui shows a capture on the whole screen: the list of exchanges, each in detail, the ladder of a task, and what the rules
find, with the rules' text. A capture that is being recorded, by this or by another process, is followed as it grows.

Keys are shown in the last line; ? shows all of them. Quitting changes nothing in the capture.`,
		Example: `  a2atap tui c.a2atap
  a2atap tui c.a2atap --theme light`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := untilInterrupted(cmd.Context(), e)
			defer cancel()
			return inspect(ctx, e, o, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.theme, "theme", "auto", "draw in the colours of `THEME`: auto, dark, light or plain")
	f.BoolVar(&o.noColor, "no-color", false, "draw without colour, as with NO_COLOR")
	return verb(cmd, 1, 1)
}

func inspect(ctx context.Context, e env, o tuiOptions, name string) error {
	if o.noColor {
		o.theme = string(tui.Plain)
	}
	theme, err := tui.ChooseTheme(o.theme, e.Getenv)
	if err != nil {
		return usage("--theme: %w", err)
	}
	if err := screen(e, "show "+name); err != nil {
		return err
	}
	src, err := openCapture(e, name)
	if err != nil {
		return err
	}
	err = runTUI(ctx, e, src, tui.Options{Rules: rules.All, Theme: theme})
	return errors.Join(err, src.Close())
}

// runInspector shows a capture that this process is recording. It returns when the user quits or the context ends.
// Quitting ends the recording, so the user is asked.
func runInspector(ctx context.Context, e env, src capture.Source, list []*analyzer.Rule) error {
	theme, err := tui.ChooseTheme("auto", e.Getenv)
	if err != nil {
		return err
	}
	if err := screen(e, "record without --tui"); err != nil {
		return err
	}
	return runTUI(ctx, e, src, tui.Options{Rules: list, Theme: theme, QuitEnds: "Quitting ends the recording."})
}

func runTUI(ctx context.Context, e env, src capture.Source, o tui.Options) error {
	o.Curl = curl
	o.Out = e.Out.(*os.File)
	return tui.Run(ctx, src, o)
}

// screen returns an error unless there is a terminal that can be drawn on. It names what works without one.
func screen(e env, instead string) error {
	switch {
	case !terminal.Is(e.Out):
		return usage("tui needs a terminal, and standard output is none; use a2atap %s", instead)
	case e.Getenv("TERM") == "dumb":
		return usage("tui cannot draw on this terminal, TERM is dumb; use a2atap %s", instead)
	}
	return nil
}
