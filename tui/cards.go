package tui

import (
	"errors"
	"sync"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// cards are the agent cards of a capture, without which a call cannot be told from its path alone.
type cards struct {
	mu   sync.Mutex
	read uint64          // exchanges up to this one were searched for them
	kept map[uint64]bool // exchanges that a reading names and that were read
}

// cardsAgain is how many of the newest exchanges are read again, since their answers may not have arrived yet.
const cardsAgain = 100

// cardsLearned says that cards were learned which exchanges up to one have brought.
type cardsLearned struct {
	upTo uint64
	any  bool
	err  error
}

// needCards learns the cards of the capture as it is now, for what cannot wait for them. It waits for who learns them
// already.
func (l *loader) needCards() error {
	if r := l.kept.reading(); r != nil && !r.Head().MoreCards {
		return l.keptCards(r.Head().Cards)
	}
	if _, ok := l.src.(capture.Index); !ok {
		return nil
	}
	info, err := l.src.Info(l.ctx)
	if err == nil {
		_, err = l.readCards(info.Exchanges)
	}
	return err
}

// keptCards reads exchanges that a reading says to bring cards, unless they were read.
func (l *loader) keptCards(seqs []uint64) error {
	c := l.cards
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, seq := range seqs {
		if c.kept[seq] {
			continue
		}
		x, err := l.ends(seq, entryEvents)
		switch {
		case err == nil:
			l.reader.Read(brief(x))
		case !errors.Is(err, capture.ErrNotFound):
			return err
		}
		c.kept[seq] = true
	}
	return nil
}

// readCards reads the agent cards that were recorded since its last call, if the capture has an index. It reports whether
// there were any.
func (l *loader) readCards(exchanges uint64) (learned bool, err error) {
	c := l.cards
	c.mu.Lock()
	defer c.mu.Unlock()
	index, ok := l.src.(capture.Index)
	if !ok || exchanges <= c.read {
		return false, nil
	}
	for _, op := range []a2a.Operation{a2a.GetCard, a2a.GetExtendedCard} {
		for seq, err := range index.Find(l.ctx, capture.Key{Kind: "operation", Value: op.String()}, c.read+1) {
			if err != nil {
				return learned, err
			}
			x, err := l.ends(seq, entryEvents)
			if err != nil {
				return learned, err
			}
			l.reader.Read(brief(x))
			learned = true
		}
	}
	c.read = max(exchanges, cardsAgain) - cardsAgain
	return learned, nil
}

// learnCards learns cards beside what is shown, where no reading says which there are.
func (s *shared) learnCards() tea.Cmd {
	l := s.load
	if _, ok := l.src.(capture.Index); !ok || s.learning || !s.opened || s.info.Exchanges <= s.learnt {
		return nil
	}
	if r := l.kept.reading(); r != nil && !r.Head().MoreCards {
		return nil
	}
	s.learning = true
	upTo := s.info.Exchanges
	return func() tea.Msg {
		learned, err := l.readCards(upTo)
		return cardsLearned{upTo, learned, err}
	}
}

// learned shows what is known better by now.
func (m *inspector) learned(msg cardsLearned) tea.Cmd {
	s := m.shared
	s.learning, s.learnt = false, msg.upTo
	if msg.err != nil && s.load.ctx.Err() == nil {
		s.message = "agent cards cannot be read: " + msg.err.Error()
	}
	if !msg.any {
		return s.learnCards()
	}
	return tea.Batch(s.learnCards(), m.broadcast(msg))
}
