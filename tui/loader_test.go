package tui

import (
	"sync"
	"testing"

	"a2atap/proxy/capture/bolt"
)

// Panels come and go while the cards of a growing capture are read, and none is read twice for that.
func TestPanelsOpenWhileCardsAreRead(t *testing.T) {
	const calls = 300
	r, err := bolt.Read(store(t, calls))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l := newLoader(t.Context(), r, nil)
	var reading sync.WaitGroup
	reading.Go(func() {
		for n := range uint64(calls) {
			if _, err := l.readCards(n + 1); err != nil {
				t.Error(err)
			}
		}
	})
	var of *loader
	for range calls {
		of = l.until(t.Context())
	}
	reading.Wait()
	if got := of.cards.read; got != calls-cardsAgain {
		t.Errorf("the loader of a panel takes %d exchanges for searched, want %d", got, calls-cardsAgain)
	}
}
