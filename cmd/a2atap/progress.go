package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/tui/terminal"
)

// commonFlags are the flags that all commands share.
type commonFlags struct {
	quiet    bool   // only errors and verdicts on standard error
	noColor  bool   // no colour even on a terminal
	progress string // auto, always or never
}

// quiet reports whether --quiet is given.
func (e env) quiet() bool { return e.common != nil && e.common.quiet }

// tell prints a line on standard error, unless --quiet is given.
func (e env) tell(format string, args ...any) {
	if e.quiet() {
		return
	}
	fmt.Fprintln(e.Err, credential.WithoutUserinfo(fmt.Sprintf(format, args...)))
}

// showsProgress reports whether commands that take long show their progress.
func (e env) showsProgress() bool {
	if e.common == nil || e.common.quiet {
		return false
	}
	switch e.common.progress {
	case "always":
		return true
	case "never":
		return false
	}
	return terminal.Is(e.Err)
}

const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

// A progress is a source that shows the progress of its reader on standard error, from the first second on.
type progress struct {
	capture.Source
	w     io.Writer
	what  string
	total uint64
	began time.Time
	last  time.Time
	shown bool
}

// withProgress returns the source, wrapped to show progress if that is wanted. The line begins with what.
func (e env) withProgress(ctx context.Context, what string, src capture.Source) capture.Source {
	if !e.showsProgress() {
		return src
	}
	p := &progress{Source: src, w: e.Err, what: credential.WithoutUserinfo(what), began: time.Now()}
	if info, err := src.Info(ctx); err == nil {
		p.total = info.Exchanges
	}
	return p
}

// Steps implements capture.Source.
func (p *progress) Steps(ctx context.Context, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		defer p.clear()
		for s, err := range p.Source.Steps(ctx, from) {
			if _, opened := s.What.(capture.Opened); opened {
				p.at(s.Seq)
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// Exchanges implements capture.Source.
func (p *progress) Exchanges(ctx context.Context, from uint64) iter.Seq2[*capture.Exchange, error] {
	return func(yield func(*capture.Exchange, error) bool) {
		defer p.clear()
		for x, err := range p.Source.Exchanges(ctx, from) {
			if err == nil {
				p.at(x.Seq)
			}
			if !yield(x, err) {
				return
			}
		}
	}
}

func (p *progress) at(seq uint64) { p.count("exchange", seq, p.total) }

// count shows how many units of the total are done.
func (p *progress) count(unit string, done, total uint64) {
	if p.due() {
		fmt.Fprintf(p.w, "\r%s: %s %d of %d ", p.what, unit, done, max(total, done))
	}
}

// show shows how far it has come, in words that may get shorter.
func (p *progress) show(words string) {
	if p.due() {
		fmt.Fprintf(p.w, "\r%s: %-40s", p.what, words)
	}
}

// due reports whether there is something to show now: at most five times a second.
func (p *progress) due() bool {
	now := time.Now()
	if now.Sub(p.began) < progressAfter || now.Sub(p.last) < progressEvery {
		return false
	}
	p.last, p.shown = now, true
	return true
}

// clear erases the line.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprintf(p.w, "\r%*s\r", len(p.what)+50, "")
		p.shown = false
	}
}
