// Package load reads a capture for the inspector: rows of exchanges, pieces of long streams, changes of a growing
// capture, findings, and causes. A Loader never blocks the event loop: methods that take time are called in commands,
// outside the loop, or return a command whose message brings the result. Rows, findings and causes come from a View.
//
// The package reads only what the inspector needs. An exchange costs its beginning and its end, not its middle; a list
// costs its visible rows. Nothing here draws.
package load

import (
	"context"
	"sync"
	"sync/atomic"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/view"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/notes"
)

// A Loader reads the capture. Its methods return commands, which run outside the event loop and end with a message.
type Loader struct {
	Context   context.Context
	Source    capture.Source
	Rules     []*analysis.Rule
	View      *view.View  // nil if only the exchanges are known
	results   chan Judged // from Judge to AwaitJudged
	observed  *atomic.Pointer[observation]
	Reading   *Reading
	Links     *links
	Reader    *reading.Reader
	Relations *relations // for captures without an index
	Notes     *notes.Keeper
	Cards     *cards
}

// New returns a loader that reads a capture until the context ends. Without a View, the loader knows nothing but the
// exchanges.
func New(ctx context.Context, src capture.Source, rules []*analysis.Rule) *Loader {
	return &Loader{
		Context: ctx, Source: src, Rules: rules, results: make(chan Judged), Links: &links{},
		observed: &atomic.Pointer[observation]{}, Reader: &reading.Reader{}, Relations: &relations{},
		Notes: notes.NewKeeper(""), Cards: &cards{kept: make(map[uint64]bool)},
		Reading: NewReading(nil),
	}
}

// Until returns the loader of a panel. It reads until the context ends.
func (l *Loader) Until(ctx context.Context) *Loader {
	of := *l
	of.Context = ctx
	return &of
}

// cards are the agent cards of a capture. Without them, the path alone does not identify a call.
type cards struct {
	mu   sync.Mutex
	Read uint64          // exchanges up to this one were searched for cards
	kept map[uint64]bool // exchanges that a reading names and that have been read
}

// A memoryIndex is built by reading a whole capture that has no index.
type memoryIndex map[capture.Key][]uint64

// relations caches the index of a capture without a built-in index, until the capture grows.
type relations struct {
	mu    sync.Mutex
	Index memoryIndex
	until uint64 // arrivals up to this one have been read
}
