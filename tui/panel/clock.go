package panel

import (
	"strings"
	"time"

	"a2atap/tui/text"
)

// Times is how the inspector shows instants, the same in all panels.
type Times uint8

const (
	timesLocal Times = iota // of the clock on the wall
	timesUTC
	timesRelative // since the first exchange
	timesCount
)

// Clock writes an instant as people read it, in at most twelve columns.
func (s *Shared) Clock(t time.Time) string {
	switch {
	case t.IsZero():
		return "–"
	case s.Times == timesUTC:
		return t.UTC().Format("15:04:05.000")
	case s.Times == timesLocal:
		return t.In(s.zone()).Format("15:04:05.000")
	case s.First.IsZero():
		return "…"
	}
	return text.Duration(t.Sub(s.First))
}

// EventTime writes when an event came: by the clock, or how long after its exchange began.
func (s *Shared) EventTime(began time.Time, at time.Duration) string {
	switch {
	case at < 0:
		return "–"
	case s.Deltas:
		return "+" + text.Duration(at)
	}
	return s.Clock(began.Add(at))
}

// ClockIn is clock, without the fraction of the second where there is no room for it.
func (s *Shared) ClockIn(t time.Time, columns int) string {
	at := s.Clock(t)
	if columns < len(at) && s.Times != timesRelative {
		at, _, _ = strings.Cut(at, ".")
	}
	return at
}

// ClockName says which times clock writes at an instant, for a heading.
func (s *Shared) ClockName(at time.Time, columns int) string {
	zone := "UTC"
	switch s.Times {
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
func (s *Shared) zone() *time.Location {
	if s.Location == nil {
		return time.Local
	}
	return s.Location
}

// NextTimes changes to the next way to show instants, and returns what to say of it.
func (s *Shared) NextTimes() string {
	s.Times = (s.Times + 1) % timesCount
	switch s.Times {
	case timesUTC:
		return "times: UTC"
	case timesRelative:
		return "times: since the first exchange"
	}
	return "times: local, " + s.ClockName(s.Info.Created, 0)
}
