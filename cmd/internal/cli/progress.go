package cli

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/tui/terminal"
	"a2atap/tui/text"
)

// ShowsProgress reports whether long commands show their progress.
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

// A Progress is a source that shows the progress of its reader on standard error, after the first second. It is not
// safe for concurrent use.
type Progress struct {
	capture.Source
	W     io.Writer
	What  string
	Began time.Time

	total  uint64 // exchanges of the source
	read   uint64 // number of them read
	base   uint64 // units done at the first count
	since  time.Time
	last   time.Time
	width  int // of the shown line; 0 without one
	common *CommonFlags
}

// WithProgress returns the source, wrapped to show progress if that is wanted. The line begins with what.
func (e Env) WithProgress(ctx context.Context, what string, src capture.Source) capture.Source {
	if !e.ShowsProgress() {
		return src
	}
	p := &Progress{
		Source: src, W: e.Err, What: credential.WithoutUserinfo(what), Began: time.Now(), common: e.Common,
	}
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
				p.at()
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
				p.at()
			}
			if !yield(x, err) {
				return
			}
		}
	}
}

func (p *Progress) at() {
	p.read++
	p.Count("exchange", p.read, p.total)
}

// Count shows how many units of the total are done, how fast, and how long the rest will take at that rate.
func (p *Progress) Count(unit string, done, total uint64) {
	if p.since.IsZero() {
		p.base, p.since = done, time.Now()
	}
	if !p.due() {
		return
	}
	total = max(total, done)
	counted := fmt.Sprintf("%s of %s", text.Number(done), analysis.Plural(total, unit))
	if total > 1 {
		counted = fmt.Sprintf("%s of %s %ss", text.Number(done), text.Number(total), unit)
	}
	if p.common != nil {
		p.common.done.Store(counted)
	}
	p.write(progressLine(p.What, counted, done-p.base, total-done, float64(done)/float64(max(total, 1)), time.Since(p.since),
		p.columns()))
}

func (p *Progress) columns() int {
	if n := ColumnsOf(p.W); n > 0 {
		return n - 1 // a terminal may wrap after its last column
	}
	return 100
}

// These are the maximum and minimum widths of a bar in columns.
const (
	longestBar = 30
	leastBar   = 8
)

// progressLine returns a progress line: a name, a bar, the amount done, the rate, and the remaining time. If it does
// not fit into the columns, the least useful parts are dropped first.
func progressLine(what, counted string, done, left uint64, part float64, took time.Duration, columns int) string {
	words := []string{fmt.Sprintf("%3.0f%%", 100*part), counted}
	if rate := float64(done) / took.Seconds(); done > 0 && took > 0 {
		words = append(words, text.Number(uint64(rate))+"/s")
		if left > 0 {
			words = append(words, time.Duration(float64(left)/rate*float64(time.Second)).Round(time.Second).String()+" left")
		}
	}
	end := strings.Join(words, "  ")
	room := columns - text.Columns(what) - len(end) - len("  []  ")
	if room < leastBar {
		return text.Clip(what+"  "+end, columns)
	}
	length := min(room, longestBar)
	full := int(part * float64(length))
	return what + "  [" + strings.Repeat("=", full) + strings.Repeat(" ", length-full) + "]  " + end
}

// Until shows the progress of work that takes at most a given time: how much of the time is over, and the state.
func (p *Progress) Until(limit time.Duration, state string) {
	if !p.due() {
		return
	}
	took := time.Since(p.Began)
	words := fmt.Sprintf("%s of at most %s, %s", took.Round(time.Second), limit, state)
	p.write(progressLine(p.What, words, 0, 0, min(took.Seconds()/limit.Seconds(), 1), took, p.columns()))
}

// due reports whether to show progress now: at most five times a second.
func (p *Progress) due() bool {
	now := time.Now()
	if now.Sub(p.Began) < progressAfter || now.Sub(p.last) < ProgressEvery {
		return false
	}
	p.last = now
	return true
}

// write replaces the current line.
func (p *Progress) write(line string) {
	width := text.Columns(line)
	fmt.Fprintf(p.W, "\r%s%s", line, strings.Repeat(" ", max(p.width-width, 0)))
	p.width = width
}

// Clear erases the line.
func (p *Progress) Clear() {
	if p.width > 0 {
		fmt.Fprintf(p.W, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}
