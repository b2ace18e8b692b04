package cli

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

// ShowsProgress reports whether commands that take long show their progress.
func (e Env) ShowsProgress() bool {
	if e.Common == nil || e.Common.Quiet {
		return false
	}
	switch e.Common.Progress {
	case "always":
		return true
	case "never":
		return false
	}
	return terminal.Is(e.Err)
}

const (
	progressAfter = time.Second
	ProgressEvery = 200 * time.Millisecond
)

// A Progress is a source that shows the progress of its reader on standard error, from the first second on.
type Progress struct {
	capture.Source
	W     io.Writer
	What  string
	total uint64
	Began time.Time
	last  time.Time
	shown bool
}

// WithProgress returns the source, wrapped to show progress if that is wanted. The line begins with what.
func (e Env) WithProgress(ctx context.Context, what string, src capture.Source) capture.Source {
	if !e.ShowsProgress() {
		return src
	}
	p := &Progress{Source: src, W: e.Err, What: credential.WithoutUserinfo(what), Began: time.Now()}
	if info, err := src.Info(ctx); err == nil {
		p.total = info.Exchanges
	}
	return p
}

// Steps implements capture.Source.
func (p *Progress) Steps(ctx context.Context, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		defer p.Clear()
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
func (p *Progress) Exchanges(ctx context.Context, from uint64) iter.Seq2[*capture.Exchange, error] {
	return func(yield func(*capture.Exchange, error) bool) {
		defer p.Clear()
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

func (p *Progress) at(seq uint64) { p.Count("exchange", seq, p.total) }

// Count shows how many units of the total are done.
func (p *Progress) Count(unit string, done, total uint64) {
	if p.due() {
		fmt.Fprintf(p.W, "\r%s: %s %d of %d ", p.What, unit, done, max(total, done))
	}
}

// Show shows how far it has come, in words that may get shorter.
func (p *Progress) Show(words string) {
	if p.due() {
		fmt.Fprintf(p.W, "\r%s: %-40s", p.What, words)
	}
}

// due reports whether there is something to show now: at most five times a second.
func (p *Progress) due() bool {
	now := time.Now()
	if now.Sub(p.Began) < progressAfter || now.Sub(p.last) < ProgressEvery {
		return false
	}
	p.last, p.shown = now, true
	return true
}

// Clear erases the line.
func (p *Progress) Clear() {
	if p.shown {
		fmt.Fprintf(p.W, "\r%*s\r", len(p.What)+50, "")
		p.shown = false
	}
}
