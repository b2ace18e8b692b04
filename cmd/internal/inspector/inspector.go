// Package inspector runs the inspector of package tui over a capture, and gives it what it may not know itself: how
// requests are sent again, how exchanges are exported, and where all of that is kept.
package inspector

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
	"a2atap/proxy/capture/notes"
	"a2atap/tui"
	"a2atap/tui/terminal"
)

// Recording shows the recording until it is to end, or the user quits, which ends it.
func Recording(ctx context.Context, r *recorder.Recording, e cli.Env, duration time.Duration, exchanges int64) error {
	ctx, cancel := context.WithCancel(ctx)
	waited := make(chan error, 1)
	go func() {
		waited <- r.Wait(ctx, duration, exchanges)
		cancel()
	}()
	src := r.Source()
	s, screen := resenderOf(r, e, src), r.Screen()
	screen.Holder = holderOf(r, s.editor())
	err := runInspector(ctx, e, src, s, screen)
	held := 0
	if desk := r.Desk(); desk != nil { // nobody can let go what is held
		held = len(desk.State().Held)
		desk.Close()
	}
	cancel()
	err = errors.Join(err, <-waited)
	if held > 0 { // what was held gets to where it goes
		err = errors.Join(err, r.Wait(context.Background(), heldPatience, 1))
	}
	return err
}

// heldPatience is how long the end of a recording waits for exchanges that were held until then.
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

// Run shows a capture, the newest of the folder if none is named, until the user quits or the context ends.
func Run(ctx context.Context, e cli.Env, o Options, args []string) error {
	theme, err := chooseTheme(e, o.Theme)
	if err != nil {
		return err
	}
	filter, err := o.expression()
	if err != nil {
		return err
	}
	keys, err := judged.ReadKeys(o.JWKS)
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
	options := tui.Options{Rules: rules.All, Keys: keys, Theme: theme, Filter: filter, Mouse: o.Mouse}
	var j *judged.Capture
	if len(keys) == 0 {
		if j, options.Making = inspected(ctx, e, name, src); j != nil {
			options.Reading = j.Reading
		}
	}
	if name != "-" {
		options.Notes = notes.Path(cli.Beside(name))
	}
	err = runTUI(ctx, e, src, &resender{e: e, src: src, file: resentFile(cli.Beside(name))}, options)
	return errors.Join(err, j.Close(), src.Close())
}

// judgedFirst is how many exchanges a capture may have that is judged before the inspector opens, which takes half a
// second. Others are judged while one looks at them.
const judgedFirst = 3000

// inspected returns what judging a capture came to, as far as its recorder has written that down if it grows, and, while
// a finished one is still being judged, what is closed when it was; nil if the inspector has to judge it.
func inspected(
	ctx context.Context, e cli.Env, name string, src capture.Source,
) (j *judged.Capture, making <-chan struct{}) {
	k := judged.KeeperOf(ctx, e, "tui", name, src)
	k.Quiet = true // the screen is the inspector's
	if j := k.Read(ctx); j != nil {
		return j, nil
	}
	if k.Mark == nil {
		return k.OfRecorder(ctx), nil
	}
	if k.Info.Exchanges > judgedFirst {
		return k.WhileRead(ctx)
	}
	j, err := k.Judge(ctx)
	if err != nil {
		return nil, nil // the inspector says what is wrong with it
	}
	return j, nil
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
		return "", cli.Usage("tui needs CAPTURE: there is no .a2atap file in this directory; a2atap record makes one")
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
