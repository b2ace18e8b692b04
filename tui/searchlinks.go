package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture/filter"
)

// linked is which exchange began the workflow of each, by number less one, as it was known at a moment.
type linked struct {
	begins []uint64
	told   uint64 // how many links were told before
}

// relinked says of which exchanges it is known by now that another one began their workflow, as far as the filter asks.
type relinked struct {
	ticket  uint64
	linked  linked
	changed []uint64
	took    time.Duration
}

// now returns the links as they are known now.
func (l *links) now(exchanges uint64) linked {
	answer := linked{told: l.told.Load(), begins: make([]uint64, exchanges)}
	for i := range answer.begins {
		answer.begins[i] = l.index.Of(uint64(i) + 1).Workflow
	}
	return answer
}

// began returns which exchange began the workflow of another one, by number less one; itself as long as nothing is
// known.
func (k *linked) began(i int) uint64 {
	if i < len(k.begins) {
		return k.begins[i]
	}
	return uint64(i) + 1
}

// narrowToWorkflows leaves those exchanges in the pool whose workflow a filter may mean, if it does not mean all.
func (l *loader) narrowToWorkflows(answer *narrowed, f *filter.Filter) error {
	info, err := l.src.Info(l.ctx)
	if err != nil {
		return err
	}
	l.needLinks()
	answer.linked = l.links.now(info.Exchanges)
	pool := []uint64{}
	for i, began := range answer.linked.begins {
		if f.MayMatch("workflow", int64(began)) {
			pool = append(pool, uint64(i)+1)
		}
	}
	if len(pool) < len(answer.linked.begins) {
		answer.pool, answer.all = pool, false
	}
	return nil
}

// relinked tests exchanges again of which another workflow is known by now.
func (l *list) relinked(msg tea.Msg) tea.Cmd {
	s := l.search
	if s == nil || !s.filter.Asks("workflow") {
		return nil
	}
	load := l.shared.load
	switch msg := msg.(type) {
	case relinked:
		if msg.ticket != s.ticket {
			return nil
		}
		s.linked, s.relinking = msg.linked, false
		again := s.retestChanged(load, &l.shared.found, msg.changed)
		return tea.Batch(again, s.relink(load, l.shared.info.Exchanges, msg.took))
	case linksChanged:
		return s.relink(load, l.shared.info.Exchanges, 0)
	}
	return nil
}

// relink returns the command that looks for exchanges of which another workflow is known by now, if links were told
// since. What takes long is done less often.
func (s *search) relink(l *loader, exchanges uint64, took time.Duration) tea.Cmd {
	if s.relinking || s.linked.begins == nil || s.linked.told == l.links.told.Load() {
		return nil
	}
	s.relinking = true
	before, f, ticket := s.linked, s.filter, s.ticket
	return func() tea.Msg {
		l.pause(min(10*took, 2*time.Second))
		begin := time.Now()
		answer := relinked{ticket: ticket, linked: l.links.now(exchanges)}
		may := func(began uint64) bool { return f.MayMatch("workflow", int64(began)) }
		for i, began := range answer.linked.begins {
			if was := before.began(i); was != began && (may(was) || may(began)) {
				answer.changed = append(answer.changed, uint64(i)+1)
			}
		}
		answer.took = time.Since(begin)
		return answer
	}
}
