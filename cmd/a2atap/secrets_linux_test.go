package main

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/analyzer/rules"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/must"
	"a2atap/tui"
)

// The inspector shows no secret in any exchange, and would show many if they were kept.
func TestNoSecretIsOnTheScreen(t *testing.T) {
	for _, keep := range []bool{false, true} {
		w := sow(t, keep)
		src := must.Get(bolt.Read(w.path))(t)
		defer src.Close()
		screen, ended := inspectSource(t, src, tui.Options{Rules: rules.All}, 200, 80)
		screen.shows(t, "40 exchanges")
		screen.strike(t, "\x1b[F", "") // the end of the list
		screen.strike(t, "d", "X-Booking")
		screen.strike(t, "v", ", decoded")
		screen.strike(t, "v", ", raw")
		for n := 39; n > 0; n-- {
			screen.strike(t, "[", "")
			screen.matches(t, fmt.Sprintf("exchanges › %d [^\n]*, raw", n)) // it is loaded
		}
		screen.strike(t, "Q", "")
		screen.strike(t, "Q", "") // that is meant
		must.Do(t, <-ended)
		switch places := w.found(screen.written()); {
		case !keep && len(places) > 0:
			t.Errorf("the screen shows\n%s", strings.Join(places, "\n"))
		case keep && len(places) < 100:
			t.Errorf("the screen shows %d secrets that are kept", len(places))
		}
	}
}
