package tui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"
)

// A resumable source is a capture to which another recorder may append when its recording has ended.
type resumable interface {
	// Resumed returns nil when the capture is recorded into again, or has a step with arrival number from or later, or
	// else the context's error.
	Resumed(ctx context.Context, from uint64) error
}

// resumes reports whether a recording that has ended may be resumed.
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

// restart waits until the recording is resumed, and then starts a new engine from the beginning, since the old one was
// told that the capture had ended. Findings are not reported again until the new engine has passed the point that the
// old one had reached. It returns false if the recording cannot be resumed.
func (j *judgeRun) restart() bool {
	if !j.resumes() || j.wait(j.next, true) != nil {
		return false
	}
	j.kept.letGo(j.ctx, nil) // it is of what was there before
	j.observed.bySelf()
	j.engine = j.newEngine()
	j.known, j.next, j.restarted = j.next, 1, true
	return true
}

// liveChanged shows that a recording has ended or was resumed. It is called before the list is updated.
func (m *inspector) liveChanged(first, was bool) {
	switch s := m.shared; {
	case first:
	case was && !s.info.Live:
		m.shared.message = "the recording has ended"
		m.followed, m.list.follow = m.list.follow, false
	case !was && s.info.Live:
		m.shared.message = "the recording was resumed"
		m.list.follow = m.followed && m.list.window.cursor >= m.list.window.length-1
	}
}

// watch returns the command that waits for new steps, if any can come.
func (m *inspector) watch(next uint64) tea.Cmd {
	s := m.shared
	if !s.info.Live && !s.load.resumes() {
		return nil
	}
	return s.load.watch(next, !s.info.Live)
}
