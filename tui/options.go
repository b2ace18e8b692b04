package tui

import (
	"io"
	"os"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/view"
	"a2atap/proxy/capture"
	"a2atap/tui/internal/style"
)

// Options configure the inspector.
type Options struct {
	Rules    []*analysis.Rule
	View     *view.View                              // of the capture; nil: the inspector checks it by the rules
	Theme    Theme                                   // Dark if it is empty
	Mouse    bool                                    // the mouse is on from the beginning
	Location *time.Location                          // time zone for local times; nil means the machine's
	Filter   string                                  // initial filter of the list
	Curl     func(*capture.Exchange) (string, error) // returns a request as a curl command; nil if unavailable
	Notes    string                                  // file of marks and comments; "" keeps them only in memory
	Sender   *Sender                                 // sends requests again; nil if unavailable
	Holder   *Holder                                 // holds messages in transit; nil if unavailable
	Exporter *Exporter                               // writes exchanges into files; nil if unavailable
	Notices  <-chan string                           // lines for the user, shown in the last line; may be nil
	Hints    []string                                // shown while nothing is recorded, such as the addresses of taps
	QuitEnds string                                  // what quitting ends, as a sentence; "" for nothing
	In       io.Reader                               // keys; nil is the terminal
	Out      *os.File                                // the terminal
}

// A Theme is the palette that the inspector draws with.
type Theme = style.Theme
