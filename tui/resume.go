package tui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
)

// A resumable source is a capture that another recorder may go on with when its recording has ended.
type resumable interface {
	// Resumed returns nil when the capture is recorded into again, or has a step with arrival number from or later, or
	// else the context's error.
	Resumed(ctx context.Context, from uint64) error
}

// resumes reports whether a recording that has ended may go on.
func (l *loader) resumes() bool {
	_, ok := l.src.(resumable)
	return ok
}

// wait waits for a step from an arrival number on, or, when the recording has ended, for another one.
func (l *loader) wait(next uint64, ended bool) error {
	if src, ok := l.src.(resumable); ok && ended {
		return src.Resumed(l.ctx, next)
	}
	return l.src.Wait(l.ctx, next)
}

// again waits until the recording goes on, and then lets the rules begin anew: they were told of an end that was none.
// What they have found up to here they find again, so they say nothing until they have come so far. It returns false if
// there is nothing to wait for.
func (j *judgement) again() bool {
	if !j.resumes() || j.wait(j.next, true) != nil {
		return false
	}
	j.engine = analyzer.NewEngine(j.rules, j.keys...)
	j.known, j.next, j.anew = j.next, 1, true
	return true
}

// relive takes notice that a recording has ended, or that one that had ended goes on. It is called before the list knows.
func (m *inspector) relive(first, was bool) {
	switch s := m.scene; {
	case first:
	case was && !s.info.Live:
		m.said = "the recording has ended; this is all of it"
		m.followed, m.list.follow = m.list.follow, false
	case !was && s.info.Live:
		m.said = "the recording goes on"
		m.list.follow = m.followed && m.list.window.cursor >= m.list.window.length-1
	}
}

// watch goes on watching a capture, if there is something to watch.
func (m *inspector) watch(next uint64) tea.Cmd {
	s := m.scene
	if !s.info.Live && !s.load.resumes() {
		return nil
	}
	return s.load.watch(next, !s.info.Live)
}
