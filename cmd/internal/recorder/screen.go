package recorder

import (
	"fmt"

	"a2atap/proxy/capture/notes"
	"a2atap/tui"
)

// Screen is what the inspector shows of the recording: its rules, what they find, and where to send traffic.
func (r *Recording) Screen() tui.Options {
	var hints []string
	for _, t := range r.Taps() {
		hints = append(hints, fmt.Sprintf("%s is tapped at %s", t.Name(), t.URL()))
	}
	if f := r.Forward(); f != nil {
		hints = append(hints, "the forward proxy for any agent is "+f.URL())
	}
	if s := r.shipment; s != nil {
		hints = append(hints, fmt.Sprintf("shipped to %s as %s", s.To.Address, s.To.Options.Host))
	}
	return tui.Options{
		Rules: r.rules, Keys: r.keys, Verdicts: r.verdicts, Hints: hints, QuitEnds: "Quitting ends the recording.",
		Notes: notes.Path(r.before.Name),
	}
}
