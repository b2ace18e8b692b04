package load

import (
	"errors"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// CardsAgain is how many of the newest exchanges are read again, since their answers may not have arrived yet.
const CardsAgain = 100

// NeedCards reads the current cards of the capture, for callers that need them now. If they are being read already, it
// waits for that.
func (l *Loader) NeedCards() error {
	if r := l.Reading.Now(); r != nil && !r.Head().MoreCards {
		return l.KeptCards(r.Head().Cards)
	}
	if _, ok := l.Source.(capture.Index); !ok {
		return nil
	}
	info, err := l.Source.Info(l.Context)
	if err == nil {
		_, err = l.ReadCards(info.Exchanges)
	}
	return err
}

// KeptCards reads the exchanges that have cards according to a reading, unless it has read them before.
func (l *Loader) KeptCards(seqs []uint64) error {
	c := l.Cards
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, seq := range seqs {
		if c.kept[seq] {
			continue
		}
		x, err := l.Ends(seq, EntryEvents)
		switch {
		case err == nil:
			l.Reader.Read(Brief(x))
		case !errors.Is(err, capture.ErrNotFound):
			return err
		}
		c.kept[seq] = true
	}
	return nil
}

// ReadCards reads the agent cards that were recorded since its last call, if the capture has an index. It reports
// whether there were any.
func (l *Loader) ReadCards(exchanges uint64) (learned bool, err error) {
	c := l.Cards
	c.mu.Lock()
	defer c.mu.Unlock()
	index, ok := l.Source.(capture.Index)
	if !ok || exchanges <= c.Read {
		return false, nil
	}
	for _, op := range []a2a.Operation{a2a.GetCard, a2a.GetExtendedCard} {
		for seq, err := range index.Find(l.Context, capture.Key{Kind: "operation", Value: op.String()}, c.Read+1) {
			if err != nil {
				return learned, err
			}
			x, err := l.Ends(seq, EntryEvents)
			if err != nil {
				return learned, err
			}
			l.Reader.Read(Brief(x))
			learned = true
		}
	}
	c.Read = max(exchanges, CardsAgain) - CardsAgain
	return learned, nil
}
