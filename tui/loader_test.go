package tui

import (
	"sync"
	"testing"

	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/tui/load"
)

// Panels come and go while the cards of a growing capture are read, and none is read twice for that.
func TestPanelsOpenWhileCardsAreRead(t *testing.T) {
	const calls = 300
	r, err := bolt.Read(store(t, calls))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l := load.New(t.Context(), r, nil)
	var reading sync.WaitGroup
	reading.Go(func() {
		for n := range uint64(calls) {
			if _, err := l.ReadCards(n + 1); err != nil {
				t.Error(err)
			}
		}
	})
	var of *load.Loader
	for range calls {
		of = l.Until(t.Context())
	}
	reading.Wait()
	expect.Equal(t, "exchanges that the loader of a panel takes for searched", calls-load.CardsAgain, of.Cards.Read)
}
