package verdict

import (
	"cmp"
	"context"
	"errors"
	"os"
	"sync"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/view"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
)

// spoolFrom is the number of exchanges from which results are made in a file instead of in memory.
const spoolFrom = 20_000

// View opens the View of a capture by some rules. It loads results from the capture, from the file next to it, or from
// its recorder. After checking an ended capture, it stores the results. With engine options, the View always checks the
// capture, and stores nothing. It prints nothing.
func View(name string, src capture.Source, by []*analysis.Rule, options ...engine.Option) *view.View {
	return view.Open(src, optionsOf(name, src, by, func(string, ...any) {}, options))
}

func optionsOf(
	name string, src capture.Source, by []*analysis.Rule, say func(string, ...any), options []engine.Option,
) view.Options {
	o := view.Options{Rules: by, Engine: options, Room: room}
	if len(options) == 0 {
		o.Store = func(ctx context.Context) view.Store { return keeperOf(ctx, name, src, by, say) }
	}
	return o
}

// How configures Open.
type How struct {
	Again    bool            // it is checked even if results are stored
	Quiet    bool            // nothing is printed
	Volatile bool            // results are neither loaded nor stored
	Engine   []engine.Option // with any, the same
}

// Open returns a capture with the results of checking the steps that it has now. It loads stored results, or checks the
// capture and stores the results: in the capture, in a file next to it, or only for this call. It prints a line about
// that, which begins with the command.
func Open(ctx context.Context, e cli.Env, command, name string, src capture.Source, how How) (*Capture, error) {
	var saying sync.Mutex // results are stored while a notice is printed
	say := func(format string, args ...any) {
		saying.Lock()
		defer saying.Unlock()
		if !how.Quiet {
			e.Tell(command+": "+format, args...)
		}
	}
	o := optionsOf(name, src, rules.All, say, how.Engine)
	o.Once, o.Again = true, how.Again
	if how.Volatile {
		o.Store = nil
	}
	v := view.Open(e.WithProgress(ctx, command+" "+name+": checking", src), o)
	j := &Capture{Source: src, view: v, say: say}
	if err := j.wait(ctx); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return j, nil
}

// wait waits until the View has all results, and prints its notices.
func (j *Capture) wait(ctx context.Context) error {
	for said := ""; ; {
		state, changed := j.view.Now()
		if state.Notice != said {
			said = state.Notice
			j.say("%s", said)
		}
		if state.Whole || state.Err != nil {
			j.Results, j.Stored, j.reader, j.links = state.Results, state.Stored, nil, nil
			return state.Err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Use opens a capture, calls f as Try does, and closes it.
func Use(
	ctx context.Context, e cli.Env, command, name string, src capture.Source, how How, f func(*Capture) error,
) error {
	j, err := Open(ctx, e, command, name, src, how)
	if err != nil {
		return err
	}
	return cmp.Or(j.Try(ctx, f), j.Close())
}

// Try calls f with a capture of Open. If stored results turn out to be damaged, it checks the capture and calls f again.
func (j *Capture) Try(ctx context.Context, f func(*Capture) error) error {
	err := f(j)
	if !j.Stored || !errors.Is(err, capture.ErrDamagedEntry) {
		return err
	}
	j.view.Doubt(j.Results, err)
	if err := j.wait(ctx); err != nil {
		return err
	}
	return f(j)
}

// Stored returns a capture with its stored results; nil without usable ones.
func Stored(ctx context.Context, name string, src capture.Source) *Capture {
	r, end, _ := keeperOf(ctx, name, src, rules.All, nil).Snapshot(ctx) //nolint:errcheck // such results are not usable
	if r == nil {
		return nil
	}
	return &Capture{Results: r, Source: src, Stored: true, end: end}
}

// Keep checks a capture that a command has written, so that later readers need not check it.
func Keep(ctx context.Context, e cli.Env, command, name string) {
	src, err := source.OpenFile(name)
	if err != nil {
		return // the next reader gets the error
	}
	defer src.Close()
	if keeperOf(ctx, name, src, rules.All, nil).mark == nil {
		return
	}
	if j, err := Open(ctx, e, command, name, src, How{Quiet: true}); err == nil {
		j.Close() //nolint:errcheck // nothing is lost with it
	}
}

// FindingsIn returns the findings in a capture.
func FindingsIn(
	ctx context.Context, e cli.Env, command, name string, src capture.Source,
) (found []analysis.Finding, err error) {
	err = Use(ctx, e, command, name, src, How{}, func(j *Capture) error {
		result, err := j.Complete(ctx, src)
		if err == nil {
			found = result.Findings
		}
		return err
	})
	return found, err
}

// room returns a temporary file for the results of a large capture; nil for others, or if there is no room for files.
func room(info capture.Info) view.Room {
	if info.Exchanges < spoolFrom {
		return nil
	}
	f, err := os.CreateTemp("", "a2atap-results-*")
	if err != nil {
		return nil
	}
	f.Close() //nolint:errcheck // only its name is wanted
	shelf, err := bolt.CreateShelf(f.Name())
	if err != nil {
		os.Remove(f.Name()) //nolint:errcheck // it is empty
		return nil
	}
	return spool{shelf, f.Name()}
}

// A spool is a temporary file of results.
type spool struct {
	*bolt.ShelfFile
	name string
}

func (s spool) Close() error { return errors.Join(s.ShelfFile.Close(), os.Remove(s.name)) }
