package tui

import (
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/proxy/capture"
)

// Intervals for following a growing capture: twelve updates a second are as many as a person can see, and a burst of
// traffic comes as one message.
const (
	batchPause = 80 * time.Millisecond
	batchTime  = 100 * time.Millisecond // how long a command works before it reports what it has
	retryPause = time.Second
)

// grown is the message of open and watch: the capture as it is now.
type grown struct {
	info  capture.Info
	seqs  []uint64 // exchanges that got steps, in order
	next  uint64   // first arrival number that was not read yet
	ended bool
	err   error // it could not be read; watch is called again
}

// open reads what the capture says about itself.
func (l *loader) open() tea.Cmd {
	return func() tea.Msg {
		info, err := l.src.Info(l.ctx)
		g := grown{info: info, next: info.Arrivals + 1, ended: !info.Live, err: err}
		if r := l.kept.reading(); r != nil && !r.Head().Ended { // what it does not know yet is new to it
			g.next = min(g.next, r.Head().Arrival+1)
		}
		return g
	}
}

// watch waits for steps from an arrival number on, collects them for batchPause, and reports which exchanges they
// belong to. When the recording has ended it waits for another one.
func (l *loader) watch(next uint64, ended bool) tea.Cmd {
	return func() tea.Msg {
		g := grown{next: next}
		err := l.wait(next, ended)
		switch {
		case errors.Is(err, capture.ErrEnded):
			g.ended = true
		case err == nil:
			l.pause(batchPause)
			err = l.readSteps(&g)
		}
		if err == nil || g.ended {
			g.info, err = l.src.Info(l.ctx)
		}
		if l.ctx.Err() != nil {
			return nil
		}
		if err != nil {
			l.pause(retryPause)
			return grown{next: next, err: err} // read all of it again
		}
		return g
	}
}

func (l *loader) readSteps(g *grown) error {
	seqs := make(map[uint64]bool)
	changes := make(map[uint64]change)
	now := time.Now()
	for s, err := range l.src.Steps(l.ctx, g.next) {
		if err != nil {
			return err
		}
		g.next = s.Arrival + 1
		if s.Seq > 0 {
			seqs[s.Seq] = true
			_, closed := s.What.(capture.Closed)
			changes[s.Seq] = change{arrival: s.Arrival, closed: closed || changes[s.Seq].closed, since: now}
		}
	}
	l.kept.changed(changes)
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

// judged reports how far the rules have come, and what they found since the previous message.
type judged struct {
	findings  []analyzer.Finding
	further   findingIndex // findings that come after those, without the list of them
	counts    analyzer.Counts
	next      uint64   // first arrival number that was not judged yet
	behind    bool     // there is more to judge
	ended     bool     // all is judged, unless the recording is resumed
	restarted bool     // the engine was restarted: findings replaces all earlier ones
	notice    string   // for the last line
	lost      string   // why the reading is not used any more
	reading   bool     // findings of a reading are still to come
	rows      []uint64 // exchanges with other rows
	err       error    // judging cannot continue: for now, or at all if ended
}

// awaitJudged waits for the next message of judge.
func (l *loader) awaitJudged() tea.Cmd {
	return func() tea.Msg {
		select {
		case j := <-l.results:
			return j
		case <-l.ctx.Done():
			return nil
		}
	}
}

// judge runs the rules over the capture, follows the recording until it ends, and then any further one. Results go to
// awaitJudged in batches. It reads the capture in one pass, since some formats are expensive to enter in the middle.
// Where there are verdicts on the recording, it passes them on until that has ended.
func (l *loader) judge() tea.Cmd {
	return func() tea.Msg {
		j := judgeRun{loader: l, next: 1}
		if l.kept.reading() != nil || l.kept.why() != nil {
			if !j.relayKept() {
				return nil
			}
		} else if l.verdicts == nil {
			j.engine = l.newEngine()
		} else if !j.relay(l.verdicts) || !j.restart() {
			return nil
		}
		for l.ctx.Err() == nil {
			switch err := l.src.Wait(l.ctx, j.next); {
			case errors.Is(err, capture.ErrEnded):
				j.found = append(j.found, j.engine.End(false)...)
				if !j.report(judged{ended: true}) || !j.restart() {
					return nil
				}
			case err == nil:
				err = j.run(math.MaxUint64)
				j.report(judged{err: err})
				l.pause(batchPause / 4)
			default:
				j.report(judged{err: err})
				l.pause(retryPause)
			}
		}
		return nil
	}
}

// A judgeRun is one run of the rules over a capture.
type judgeRun struct {
	*loader
	engine    *analyzer.Engine
	next      uint64
	found     []analyzer.Finding
	known     uint64 // arrival number up to which a previous engine has reported its findings
	restarted bool   // not reported yet
}

// run judges the steps that are there now, up to an arrival number.
func (j *judgeRun) run(last uint64) error {
	reported := time.Now()
	for s, err := range j.src.Steps(j.ctx, j.next) {
		if err != nil {
			return err
		}
		if s.Arrival > last {
			return nil
		}
		j.next = s.Arrival + 1
		j.found = append(j.found, j.engine.Step(s)...)
		if j.next%64 == 0 && j.next >= j.known && time.Since(reported) > batchTime {
			if !j.report(judged{behind: true}) {
				return j.ctx.Err()
			}
			reported = time.Now()
		}
	}
	return nil
}

// report sends what was found since the last report. It returns false when the inspector has ended.
func (j *judgeRun) report(news judged) bool {
	news.findings, news.counts, news.next, news.restarted = j.found, j.engine.Counts(), j.next, j.restarted
	j.found, j.restarted = nil, false
	return j.send(news)
}

// send passes a message to awaitJudged. It returns false when the inspector has ended.
func (j *judgeRun) send(news judged) bool {
	select {
	case j.results <- news:
		return true
	case <-j.ctx.Done():
		return false
	}
}
