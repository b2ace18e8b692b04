package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/tui/load"
	"a2atap/tui/panel"
)

// relinked says of which exchanges it is known by now that another one began their workflow, as far as the filter asks.
type relinked struct {
	ticket  uint64
	linked  load.Linked
	changed []uint64
	took    time.Duration
}

// relinked tests exchanges again of which another workflow is known by now.
func (l *list) relinked(msg tea.Msg) tea.Cmd {
	s := l.search
	if s == nil || !s.filter.Asks("workflow") {
		return nil
	}
	load := l.shared.Load
	switch msg := msg.(type) {
	case relinked:
		if msg.ticket != s.ticket {
			return nil
		}
		s.linked, s.relinking = msg.linked, false
		again := s.retestChanged(load, &l.shared.Found, msg.changed)
		return tea.Batch(again, s.relink(load, l.shared.Info.Exchanges, msg.took))
	case panel.LinksChanged:
		return s.relink(load, l.shared.Info.Exchanges, 0)
	}
	return nil
}

// relink returns the command that looks for exchanges of which another workflow is known by now, if links were told
// since. What takes long is done less often.
func (s *search) relink(l *load.Loader, exchanges uint64, took time.Duration) tea.Cmd {
	if s.relinking || s.linked.Begins == nil || s.linked.Told == l.Links.Told.Load() {
		return nil
	}
	s.relinking = true
	before, f, ticket := s.linked, s.filter, s.ticket
	return func() tea.Msg {
		l.Pause(min(10*took, 2*time.Second))
		begin := time.Now()
		answer := relinked{ticket: ticket, linked: l.Links.Now(exchanges)}
		may := func(began uint64) bool { return f.MayMatch("workflow", int64(began)) }
		for i, began := range answer.linked.Begins {
			if was := before.Began(i); was != began && (may(was) || may(began)) {
				answer.changed = append(answer.changed, uint64(i)+1)
			}
		}
		answer.took = time.Since(begin)
		return answer
	}
}
