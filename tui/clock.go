package tui

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/tui/text"
)

// times is how the inspector shows instants, the same in all panels.
type times uint8

const (
	timesLocal times = iota // of the clock on the wall
	timesUTC
	timesRelative // since the first exchange
	timesCount
)

// clock writes an instant as people read it, in at most twelve columns.
func (s *shared) clock(t time.Time) string {
	switch {
	case t.IsZero():
		return "–"
	case s.times == timesUTC:
		return t.UTC().Format("15:04:05.000")
	case s.times == timesLocal:
		return t.In(s.zone()).Format("15:04:05.000")
	case s.first.IsZero():
		return "…"
	}
	return text.Duration(t.Sub(s.first))
}

// clockIn is clock, without the fraction of the second where there is no room for it.
func (s *shared) clockIn(t time.Time, columns int) string {
	at := s.clock(t)
	if columns < len(at) && s.times != timesRelative {
		at, _, _ = strings.Cut(at, ".")
	}
	return at
}

// clockName says which times clock writes at an instant, for a heading.
func (s *shared) clockName(at time.Time, columns int) string {
	zone := "UTC"
	switch s.times {
	case timesRelative:
		return "from 1st"
	case timesLocal:
		zone, _ = at.In(s.zone()).Zone()
	}
	if name := "time " + zone; len(name) <= columns {
		return name
	}
	return zone
}

// zone is where local times are local.
func (s *shared) zone() *time.Location {
	if s.location == nil {
		return time.Local
	}
	return s.location
}

// nextTimes changes to the next way to show instants, and returns what to say of it.
func (s *shared) nextTimes() string {
	s.times = (s.times + 1) % timesCount
	switch s.times {
	case timesUTC:
		return "times: UTC"
	case timesRelative:
		return "times: since the first exchange"
	}
	return "times: local, " + s.clockName(s.info.Created, 0)
}

// firstStarted says when the first exchange began; it is zero if there is none yet.
type firstStarted struct {
	at  time.Time
	err error
}

// needFirst returns the command that reads when the first exchange began, if that is needed.
func (s *shared) needFirst() tea.Cmd {
	if s.times != timesRelative || !s.first.IsZero() || !s.opened {
		return nil
	}
	l := s.load
	return func() tea.Msg {
		for x, err := range l.Source.Ends(l.Context, 1, 1) {
			if err != nil {
				return firstStarted{err: err}
			}
			return firstStarted{at: x.Started}
		}
		return firstStarted{}
	}
}

// knowFirst takes when the first exchange began.
func (m *inspector) knowFirst(msg firstStarted) tea.Cmd {
	if msg.err != nil {
		m.shared.message = "T: " + msg.err.Error()
	}
	m.shared.first = msg.at
	return nil
}
