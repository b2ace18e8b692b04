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
	batchTime  = 100 * time.Millisecond // how long something works before it says what it has
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

// watch waits for steps from an arrival number on, gathers those of a moment, and says which exchanges they belong to. When
// the recording has ended it waits for another one.
func (l *loader) watch(next uint64, ended bool) tea.Cmd {
	return func() tea.Msg {
		g := grown{next: next}
		err := l.wait(next, ended)
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

// judged is how far the rules have come, and what they found since the message before.
type judged struct {
	findings []analyzer.Finding
	counts   analyzer.Counts
	next     uint64 // arrival number from which on nothing was judged yet
	behind   bool   // there is more to be judged now
	ended    bool   // there will be no more, unless the recording goes on
	anew     bool   // it begins anew: the findings are all there are
	err      error  // they could not go on for now
}

// hear waits for the rules to have something to say.
func (l *loader) hear() tea.Cmd {
	return func() tea.Msg {
		select {
		case j := <-l.verdicts:
			return j
		case <-l.ctx.Done():
			return nil
		}
	}
}

// judge runs the rules over the capture, and then along with the recording, until that ends, and with the next one. What it finds it tells
// hear, a moment's findings at once. It goes through the capture in one sweep, since to begin again in the middle is dear
// in some formats.
func (l *loader) judge() tea.Cmd {
	return func() tea.Msg {
		j := judgement{loader: l, engine: analyzer.NewEngine(l.rules, l.keys...), next: 1}
		for l.ctx.Err() == nil {
			switch err := l.src.Wait(l.ctx, j.next); {
			case errors.Is(err, capture.ErrEnded):
				j.found = append(j.found, j.engine.End(false)...)
				if !j.tell(judged{ended: true}) || !j.again() {
					return nil
				}
			case err == nil:
				err = j.run()
				j.tell(judged{err: err})
				l.pause(batchPause / 4)
			default:
				j.tell(judged{err: err})
				l.pause(retryPause)
			}
		}
		return nil
	}
}

// A judgement is the rules on their way through a capture.
type judgement struct {
	*loader
	engine *analyzer.Engine
	next   uint64
	found  []analyzer.Finding
	known  uint64 // arrival number up to which an engine before this one has said what it found
	anew   bool   // that is still to be said
}

// run judges what is there now.
func (j *judgement) run() error {
	told := time.Now()
	for s, err := range j.src.Steps(j.ctx, j.next) {
		if err != nil {
			return err
		}
		j.next = s.Arrival + 1
		j.found = append(j.found, j.engine.Step(s)...)
		if j.next%64 == 0 && j.next >= j.known && time.Since(told) > batchTime {
			if !j.tell(judged{behind: true}) {
				return j.ctx.Err()
			}
			told = time.Now()
		}
	}
	return nil
}

// tell says what was found since it said something, and reports whether anybody listens.
func (j *judgement) tell(news judged) bool {
	news.findings, news.counts, news.next, news.anew = j.found, j.engine.Counts(), j.next, j.anew
	j.found, j.anew = nil, false
	select {
	case j.verdicts <- news:
		return true
	case <-j.ctx.Done():
		return false
	}
}
