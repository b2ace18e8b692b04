package bolt

import (
	"sync"
	"time"

	"a2atap/proxy/capture/bolt/internal/layout"
)

// An Account says what became of the exchanges that were appended since Open: their number is Exchanges and
// LostExchanges together.
type Account struct {
	Exchanges     int64 // of which something is in the capture
	LostExchanges int64 // of which nothing is, those included that were appended as lost
	LostBytes     int64 // of them, and of gaps in others
	Unreported    bool  // the capture does not say all of that, since it could not be written
}

// Account returns what became of what was appended. It may be called after Close.
func (s *Store) Account() Account {
	<-s.done
	w := s.writer
	left := w.lost.total(w.holds)
	a := Account{
		Exchanges:     w.begun,
		LostExchanges: w.state.LostExchanges - w.start.LostExchanges + left.Exchanges,
		LostBytes:     w.state.LostBytes - w.start.LostBytes + left.Bytes,
		Unreported:    left != w.state.Unreported,
	}
	if w.watch.Err != nil && w.watch.Deleted {
		a.LostExchanges, a.Exchanges, a.Unreported = a.LostExchanges+a.Exchanges, 0, true
	}
	return a
}

// retryPause is how long a commit that failed waits before it is tried again.
const retryPause = 100 * time.Millisecond

// patience is whether commits that fail are tried again.
type patience struct {
	over chan struct{}
	once sync.Once
}

// StopWaiting ends what Options.Wait began: from now on steps that cannot be stored at once are lost, those included
// that wait already.
func (s *Store) StopWaiting() { s.writer.patience.end() }

func (p *patience) end() { p.once.Do(func() { close(p.over) }) }

func (w *writer) waits() bool {
	select {
	case <-w.patience.over:
		return false
	default:
		return w.options.Wait
	}
}

func (w *writer) pause() {
	select {
	case <-time.After(retryPause):
	case <-w.patience.over:
	}
}

// What is said of how much a killed recorder loses: a multiple of what it was seen to have waiting, since the commit
// under way may take longer than those before, and never less than what a busy machine comes to.
const (
	crashFactor = 4
	crashLeast  = 200 * time.Millisecond
)

// beat returns the sign of life for a commit that begins now.
func (w *writer) beat() layout.Beat {
	return layout.Beat{Whole: w.whole.UnixNano(), Within: max(crashFactor*w.lag, crashLeast)}
}

// taken is called when the steps of the next commit were taken from the queue, of which the first came at since.
func (w *writer) taken(since time.Time) {
	w.since, w.whole = since, time.Now()
	if w.options.Behind != nil {
		waited := w.options.Behind()
		w.whole, w.since = w.whole.Add(-waited), w.since.Add(-waited)
	}
}

// stored is called when the steps that were taken are in the file, or lost. What was seen is forgotten slowly.
func (w *writer) stored() { w.lag = max(w.lag-w.lag/1024, time.Since(w.since)) }
