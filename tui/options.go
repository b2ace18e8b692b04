package tui

import (
	"io"
	"os"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/kept"
	"a2atap/proxy/capture"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
)

// Options configure the inspector.
type Options struct {
	Rules    []*analysis.Rule
	Keys     []engine.Option                         // that agent cards are signed with
	Reading  *kept.Reading                           // what judging the capture came to, or has so far; nil: it is judged
	Making   <-chan struct{}                         // closed when this process adds no more to the Reading; nil if it does not
	Verdicts *Verdicts                               // on a recording of this process; nil: the inspector judges by itself
	Theme    Theme                                   // Dark if it is empty
	Mouse    bool                                    // the mouse is on from the beginning
	Location *time.Location                          // of local times; nil is that of the machine
	Filter   string                                  // that the list begins with
	Curl     func(*capture.Exchange) (string, error) // writes a request as a curl command; nil if that is not available
	Notes    string                                  // file of marks and comments; empty: they are kept until the end
	Sender   *Sender                                 // sends requests again; nil if nothing can be sent
	Holder   *Holder                                 // holds messages on their way; nil if none can be
	Exporter *Exporter                               // writes exchanges into files; nil if that is not available
	Hints    []string                                // shown while nothing is recorded, such as the addresses of taps
	QuitEnds string                                  // what quitting ends, as a sentence; empty for nothing else
	In       io.Reader                               // keys; nil is the terminal
	Out      *os.File                                // the terminal
}

// A Theme is the palette that the inspector draws with.
type Theme = style.Theme

// Verdicts brings what the rules find in a recording to the inspector that shows it; see load.Verdicts.
type Verdicts = load.Verdicts
