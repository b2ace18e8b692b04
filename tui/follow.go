package tui

import (
	"errors"
	"maps"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/proxy/capture"
)

// The pace at which a growing capture is looked at: twelve frames a second show all that a person can see, and a burst
// of traffic comes as one message.
const (
	batchPause = 80 * time.Millisecond
	batchTime  = 100 * time.Millisecond // how long one command works before it says what it has
	retryPause = time.Second
)

// grown is the answer of open and watch: the capture as it is now.
type grown struct {
	info  capture.Info
	seqs  []uint64 // exchanges that got steps, in order
	next  uint64   // arrival number from which on nothing was seen yet
	ended bool
	err   error // it could not be read; watching goes on
}

// open reads what the capture is.
func (l *loader) open() tea.Cmd {
	return func() tea.Msg {
		info, err := l.src.Info(l.ctx)
		if err == nil {
			err = l.learn(info.Exchanges)
		}
		return grown{info: info, next: info.Arrivals + 1, ended: !info.Live, err: err}
	}
}

// watch waits for steps from an arrival number on, gathers those of a moment, and says which exchanges they belong to.
func (l *loader) watch(next uint64) tea.Cmd {
	return func() tea.Msg {
		g := grown{next: next}
		err := l.src.Wait(l.ctx, next)
		switch {
		case errors.Is(err, capture.ErrEnded):
			g.ended = true
		case err == nil:
			l.pause(batchPause)
			err = l.gather(&g)
		}
		if err == nil || g.ended {
			g.info, err = l.src.Info(l.ctx)
		}
		if err == nil {
			err = l.learn(g.info.Exchanges)
		}
		if l.ctx.Err() != nil {
			return nil
		}
		if err != nil {
			l.pause(retryPause)
			return grown{next: next, err: err} // to be read again, whatever was read of it
		}
		return g
	}
}

func (l *loader) gather(g *grown) error {
	seqs := make(map[uint64]bool)
	for s, err := range l.src.Steps(l.ctx, g.next) {
		if err != nil {
			return err
		}
		g.next = s.Arrival + 1
		if s.Seq > 0 {
			seqs[s.Seq] = true
		}
	}
	g.seqs = slices.Sorted(maps.Keys(seqs))
	return nil
}

// pause waits, unless the inspector ends.
func (l *loader) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-l.ctx.Done():
	}
}

// judged is the answer of judge: how far the rules have come, and what they found since the answer before.
type judged struct {
	findings []analyzer.Finding
	counts   analyzer.Counts
	next     uint64 // arrival number from which on nothing was judged yet
	behind   bool   // there is more to be judged now
	ended    bool
	err      error
}

// judge gives the engine the steps from an arrival number on, for a moment at most. Only one such command may be under
// way: the engine passes from one to the next.
func (l *loader) judge(e *analyzer.Engine, next uint64) tea.Cmd {
	return func() tea.Msg {
		j := judged{next: next}
		err := l.src.Wait(l.ctx, next)
		switch {
		case errors.Is(err, capture.ErrEnded):
			j.ended = true
			j.findings = append(j.findings, e.End(false)...)
		case err == nil:
			if next > 1 {
				l.pause(batchPause / 4)
			}
			err = l.run(e, &j)
		}
		if l.ctx.Err() != nil {
			return nil
		}
		j.counts = e.Counts()
		if !j.ended && err != nil {
			j.err = err
			l.pause(retryPause)
		}
		return j
	}
}

func (l *loader) run(e *analyzer.Engine, j *judged) error {
	end := time.Now().Add(batchTime)
	for s, err := range l.src.Steps(l.ctx, j.next) {
		if err != nil {
			return err
		}
		j.next = s.Arrival + 1
		j.findings = append(j.findings, e.Step(s)...)
		if j.next%64 == 0 && time.Now().After(end) {
			j.behind = true
			return nil
		}
	}
	return nil
}
