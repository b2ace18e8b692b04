// Package inspector runs the inspector of package tui over a capture. It provides the functions that tui must not know:
// sending requests again, exporting exchanges, and storing the results.
package inspector

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/view"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
	"a2atap/proxy/capture/notes"
	"a2atap/tui"
	"a2atap/tui/terminal"
)

// Recording shows the recording until it should end, or until the user quits, which ends the recording.
func Recording(ctx context.Context, r *recorder.Recording, e cli.Env, duration time.Duration, exchanges int64) error {
	ctx, cancel := context.WithCancel(ctx)
	waited := make(chan error, 1)
	go func() {
		waited <- r.Wait(ctx, duration, exchanges)
		cancel()
	}()
	src := r.Source()
	s, screen := resenderOf(r, e, src), r.Screen()
	screen.View = verdict.View(r.Before().Name, src, screen.Rules, r.Keys()...)
	screen.Holder = holderOf(r, s.editor())
	err := errors.Join(runInspector(ctx, e, src, s, screen), screen.View.Close())
	held := 0
	if desk := r.Desk(); desk != nil { // no one can release held messages after that
		held = len(desk.State().Held)
		desk.Close()
	}
	cancel()
	err = errors.Join(err, <-waited)
	if held > 0 { // held messages reach their destination
		err = errors.Join(err, r.Wait(context.Background(), heldPatience, 1))
	}
	return err
}

// heldPatience is how long the end of a recording waits for held exchanges.
const heldPatience = 5 * time.Second

// Options are the flags of tui.
type Options struct {
	From   source.Flags
	JWKS   []string
	Theme  string
	Filter string
	Agent  string
	Mouse  bool
}

// Run shows a capture until the user quits or the context ends. Without a name, it shows the newest capture in the
// folder.
func Run(ctx context.Context, e cli.Env, o Options, args []string) error {
	theme, err := chooseTheme(e, o.Theme)
	if err != nil {
		return err
	}
	filter, err := o.expression()
	if err != nil {
		return err
	}
	keys, err := verdict.ReadKeys(o.JWKS)
	if err != nil {
		return err
	}
	name, err := namedOrNewest(args)
	if err != nil {
		return err
	}
	if err := NeedTerminal(e, "show "+cli.ShownName(name)); err != nil {
		return err
	}
	src, err := o.From.Follow(e, name, source.Forever)
	if err != nil {
		return err
	}
	options := tui.Options{Rules: rules.All, View: viewOf(ctx, e, name, src, keys), Theme: theme, Filter: filter, Mouse: o.Mouse}
	if name != "-" {
		options.Notes = notes.Path(cli.Beside(name))
	}
	err = runTUI(ctx, e, src, &resender{e: e, src: src, file: resentFile(cli.Beside(name))}, options)
	return errors.Join(err, options.View.Close(), src.Close())
}

// checkedFirst is the maximum number of exchanges of an ended capture to check before the inspector opens, which takes
// half a second. Larger captures are checked while the user views them.
const checkedFirst = 3000

// viewOf opens the View of a capture. It checks a small ended one first.
func viewOf(ctx context.Context, e cli.Env, name string, src capture.Source, keys []engine.Option) *view.View {
	v := verdict.View(name, src, rules.All, keys...)
	if info, err := src.Info(ctx); err == nil && !info.Live && info.Exchanges <= checkedFirst {
		v.Wait(ctx) //nolint:errcheck // the inspector shows the error
	}
	return v
}

// expression returns --filter and --agent as one filter.
func (o *Options) expression() (string, error) {
	f, err := filter.Parse(o.Filter)
	if err != nil {
		return "", cli.Usage("--filter %q: %w", o.Filter, err)
	}
	if o.Agent == "" {
		return o.Filter, nil
	}
	agent := "agent:" + fmt.Sprintf("%q", o.Agent)
	if f.String() == "" {
		return agent, nil
	}
	return agent + " (" + o.Filter + ")", nil
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
		return "", cli.Usage("tui needs CAPTURE: there is no .a2atap file in this directory; a2atap record creates one")
	}
	return newest, nil
}

// runInspector shows a capture that this process is recording. It returns when the user quits or the context ends.
func runInspector(ctx context.Context, e cli.Env, src capture.Source, s *resender, o tui.Options) (err error) {
	if o.Theme, err = chooseTheme(e, "auto"); err != nil {
		return err
	}
	if err := NeedTerminal(e, "record without --tui"); err != nil {
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

// NeedTerminal returns an error unless standard output is a terminal that can be drawn on. The error recommends
// instead, a command that works without one.
func NeedTerminal(e cli.Env, instead string) error {
	switch {
	case !terminal.Is(e.Out):
		return cli.Usage("tui needs a terminal, but standard output is not one; use a2atap %s", instead)
	case e.Getenv("TERM") == "dumb":
		return cli.Usage("tui cannot draw on this terminal: TERM is dumb; use a2atap %s", instead)
	}
	return nil
}
