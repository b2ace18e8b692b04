package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
	"a2atap/proxy/capture/notes"
	"a2atap/tui"
	"a2atap/tui/terminal"
)

type tuiOptions struct {
	from   source.Flags
	jwks   []string
	theme  string
	filter string
	agent  string
	mouse  bool
}

func newTUI(e cli.Env) *cobra.Command {
	var o tuiOptions
	cmd := &cobra.Command{
		Use:   "tui [CAPTURE]",
		Short: "Inspect a capture, finished or growing, in the terminal",
		Long: `Tui shows a capture on the whole screen: the list of exchanges, the details of each, the ladder of a task,
and the findings with their rules. A capture that is being recorded, by this or by another process, is followed as it
grows, and so is one to which a later recording appends. Without CAPTURE it opens the newest .a2atap file in the
current directory.

The last line of the screen lists keys; ? shows all of them, ctrl-p finds what can be done by a word, and : takes
commands. The capture is not changed: marks and comments are kept beside it in CAPTURE.notes, and what is sent again
from the inspector, after a question, in NAME-resent.a2atap.`,
		Example: `  a2atap tui c.a2atap
  a2atap tui c.a2atap --filter 'state:failed agent:booker'
  a2atap tui --theme light`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := cli.UntilInterrupted(cmd.Context(), e)
			defer cancel()
			return inspect(ctx, e, o, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.theme, "theme", "auto", "use the colours of `THEME`: auto, dark, light, contrast or plain")
	f.BoolVar(&o.mouse, "mouse", false, "begin with the mouse on; the key m turns it on and off")
	f.StringVar(&o.filter, "filter", "", "begin with the exchanges that match `EXPR`")
	f.StringVar(&o.agent, "agent", "", "begin with the exchanges of the agent `NAME`")
	f.StringArrayVar(&o.jwks, "jwks", nil, jwksHelp)
	o.from.Register(f, nil)
	return withArgs(cmd, 0, 1)
}

func inspect(ctx context.Context, e cli.Env, o tuiOptions, args []string) error {
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
	name, err := namedOrNewest(args)
	if err != nil {
		return err
	}
	if err := needTerminal(e, "show "+cli.ShownName(name)); err != nil {
		return err
	}
	src, err := o.from.Follow(e, name, source.Forever)
	if err != nil {
		return err
	}
	options := tui.Options{Rules: rules.All, Keys: keys, Theme: theme, Filter: filter, Mouse: o.mouse}
	if len(keys) == 0 {
		j := inspected(ctx, e, name, src)
		defer j.Close()
		if j != nil {
			options.Reading = j.Reading
		}
	}
	if name != "-" {
		options.Notes = notes.Path(cli.Beside(name))
	}
	err = runTUI(ctx, e, src, &resender{e: e, src: src, file: resentFile(cli.Beside(name))}, options)
	return errors.Join(err, src.Close())
}

// judgedFirst is how many exchanges a capture may have that is judged before the inspector opens, which takes half a
// second. Others it judges while one looks at them.
const judgedFirst = 3000

// inspected returns what judging a finished capture came to; nil if the inspector has to judge it.
func inspected(ctx context.Context, e cli.Env, name string, src capture.Source) *judged.Capture {
	k := judged.KeeperOf(ctx, e, "tui", name, src)
	k.Quiet = true // the screen is the inspector's
	if j := k.Read(ctx); j != nil {
		return j
	}
	if k.Mark == nil || k.Info.Exchanges > judgedFirst {
		return nil
	}
	j, err := k.Judge(ctx)
	if err != nil {
		return nil // the inspector says what is wrong with it
	}
	return j
}

// expression returns --filter and --agent as one filter.
func (o *tuiOptions) expression() (string, error) {
	f, err := filter.Parse(o.filter)
	if err != nil {
		return "", cli.Usage("--filter %q: %w", o.filter, err)
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

// namedOrNewest returns the capture that the user named, or else the newest one in the current directory.
func namedOrNewest(args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	names, err := filepath.Glob("*.a2atap")
	if err != nil {
		return "", err
	}
	newest, changed := "", time.Time{}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if newest == "" || info.ModTime().After(changed) {
			newest, changed = name, info.ModTime()
		}
	}
	if newest == "" {
		return "", cli.Usage("tui needs CAPTURE: there is no .a2atap file in this directory; a2atap record makes one")
	}
	return newest, nil
}

// runInspector shows a capture that this process is recording. It returns when the user quits or the context ends.
func runInspector(ctx context.Context, e cli.Env, src capture.Source, s *resender, o tui.Options) (err error) {
	if o.Theme, err = chooseTheme(e, "auto"); err != nil {
		return err
	}
	if err := needTerminal(e, "record without --tui"); err != nil {
		return err
	}
	return runTUI(ctx, e, src, s, o)
}

func runTUI(ctx context.Context, e cli.Env, src capture.Source, s *resender, o tui.Options) error {
	o.Curl = present.Curl
	o.Sender, o.Exporter = s.sender(), newExporter(src)
	o.Out = e.Out.(*os.File)
	defer s.wait()
	return tui.Run(ctx, src, o)
}

func chooseTheme(e cli.Env, name string) (tui.Theme, error) {
	if e.Common != nil && e.Common.NoColor {
		return tui.Plain, nil
	}
	theme, err := tui.ChooseTheme(name, e.Getenv)
	if err != nil {
		return "", cli.Usage("--theme: %w", err)
	}
	return theme, nil
}

// needTerminal returns an error unless standard output is a terminal that can be drawn on. The error recommends
// instead, a command that works without one.
func needTerminal(e cli.Env, instead string) error {
	switch {
	case !terminal.Is(e.Out):
		return cli.Usage("tui needs a terminal, but standard output is not one; use a2atap %s", instead)
	case e.Getenv("TERM") == "dumb":
		return cli.Usage("tui cannot draw on this terminal: TERM is dumb; use a2atap %s", instead)
	}
	return nil
}
