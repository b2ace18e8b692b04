package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"a2atap/analyzer"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
	"a2atap/tui"
	"a2atap/tui/terminal"
)

type tuiOptions struct {
	jwks   []string
	theme  string
	filter string
	agent  string
}

func newTUI(e env) *cobra.Command {
	var o tuiOptions
	cmd := &cobra.Command{
		Use:   "tui [CAPTURE]",
		Short: "Look into a capture, finished or growing, in the terminal",
		Long: `Tui shows a capture on the whole screen: the list of exchanges, each in detail, the ladder of a task, and what the rules
find, with the rules' text. A capture that is being recorded, by this or by another process, is followed as it grows,
and so is one to which a later recording appends. Without CAPTURE it takes the newest .a2atap file of the folder.

The last line of the screen names keys; ? shows all of them. Nothing in the capture is changed.`,
		Example: `  a2atap tui c.a2atap
  a2atap tui c.a2atap --filter 'state:failed agent:booker'
  a2atap tui --theme light`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := untilInterrupted(cmd.Context(), e)
			defer cancel()
			return inspect(ctx, e, o, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.theme, "theme", "auto", "draw in the colours of `THEME`: auto, dark, light or plain")
	f.StringVar(&o.filter, "filter", "", "begin with the exchanges that match `EXPR`")
	f.StringVar(&o.agent, "agent", "", "begin with the exchanges of the agent `NAME`")
	f.StringArrayVar(&o.jwks, "jwks", nil, jwksHelp)
	return verb(cmd, 0, 1)
}

func inspect(ctx context.Context, e env, o tuiOptions, args []string) error {
	theme, err := chooseTheme(e, o.theme)
	if err != nil {
		return err
	}
	filter, err := o.expression()
	if err != nil {
		return err
	}
	keys, err := readKeys(o.jwks)
	if err != nil {
		return err
	}
	name, err := newestUnless(args)
	if err != nil {
		return err
	}
	if err := screen(e, "show "+name); err != nil {
		return err
	}
	src, err := openCapture(e, name)
	if err != nil {
		return err
	}
	err = runTUI(ctx, e, src, tui.Options{Rules: rules.All, Keys: keys, Theme: theme, Filter: filter})
	return errors.Join(err, src.Close())
}

// expression returns --filter and --agent as one filter.
func (o *tuiOptions) expression() (string, error) {
	f, err := filter.Parse(o.filter)
	if err != nil {
		return "", usage("--filter %q: %w", o.filter, err)
	}
	if o.agent == "" {
		return o.filter, nil
	}
	agent := "agent:" + fmt.Sprintf("%q", o.agent)
	if f.String() == "" {
		return agent, nil
	}
	return agent + " (" + o.filter + ")", nil
}

// newestUnless returns the capture that the user named, or else the newest one of the folder.
func newestUnless(args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	names, err := filepath.Glob("*.a2atap")
	if err != nil {
		return "", err
	}
	newest, changed := "", time.Time{}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && (newest == "" || info.ModTime().After(changed)) {
			newest, changed = name, info.ModTime()
		}
	}
	if newest == "" {
		return "", usage("tui needs CAPTURE: there is no .a2atap file in this folder; a2atap record makes one")
	}
	return newest, nil
}

// runInspector shows a capture that this process is recording, and hints while it is empty. It returns when the user
// quits or the context ends. Quitting ends the recording, so the user is asked.
func runInspector(ctx context.Context, e env, src capture.Source, list []*analyzer.Rule, keys []analyzer.EngineOption, hints ...string) error {
	theme, err := chooseTheme(e, "auto")
	if err != nil {
		return err
	}
	if err := screen(e, "record without --tui"); err != nil {
		return err
	}
	return runTUI(ctx, e, src, tui.Options{Rules: list, Keys: keys, Theme: theme, Hints: hints, QuitEnds: "Quitting ends the recording."})
}

func runTUI(ctx context.Context, e env, src capture.Source, o tui.Options) error {
	o.Curl = curl
	o.Out = e.Out.(*os.File)
	return tui.Run(ctx, src, o)
}

func chooseTheme(e env, name string) (tui.Theme, error) {
	if e.manners != nil && e.manners.noColor {
		return tui.Plain, nil
	}
	theme, err := tui.ChooseTheme(name, e.Getenv)
	if err != nil {
		return "", usage("--theme: %w", err)
	}
	return theme, nil
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
