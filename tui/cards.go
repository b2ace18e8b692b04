package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
)

// cardsLearned says that cards were learned which exchanges up to one have brought.
type cardsLearned struct {
	upTo uint64
	any  bool
	err  error
}

// learnCards learns cards beside what is shown, where no reading says which there are.
func (s *shared) learnCards() tea.Cmd {
	l := s.load
	if _, ok := l.Source.(capture.Index); !ok || s.learning || !s.opened || s.info.Exchanges <= s.learnt {
		return nil
	}
	if r := l.Reading.Now(); r != nil && !r.Head().MoreCards {
		return nil
	}
	s.learning = true
	upTo := s.info.Exchanges
	return func() tea.Msg {
		learned, err := l.ReadCards(upTo)
		return cardsLearned{upTo, learned, err}
	}
}

// learned shows what is known better by now.
func (m *inspector) learned(msg cardsLearned) tea.Cmd {
	s := m.shared
	s.learning, s.learnt = false, msg.upTo
	if msg.err != nil && s.load.Context.Err() == nil {
		s.message = "agent cards cannot be read: " + msg.err.Error()
	}
	if !msg.any {
		return s.learnCards()
	}
	return tea.Batch(s.learnCards(), m.broadcast(msg))
}
