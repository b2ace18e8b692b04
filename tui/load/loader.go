// Package load reads a capture for the inspector: rows of exchanges, pieces of long streams, what changes in a capture
// that grows, what the rules find in it and what caused what. A Loader never waits in the event loop: what takes time is
// a method that is called in a command, outside the loop, or one that returns such a command, whose message brings the
// result. Where a reading says what judging came to (see package kept), that is shown instead of being worked out again.
//
// Only what is asked for is read: an exchange costs its ends, not its middle, and a list costs the rows that are seen.
// Nothing here draws.
package load

import (
	"context"
	"sync"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/reading"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/notes"
)

// A Loader reads the capture. Its methods return commands, which run outside the event loop and end with a message.
type Loader struct {
	Context   context.Context
	Source    capture.Source
	Rules     []*analysis.Rule
	Keys      []engine.Option // that cards are signed with
	results   chan Judged     // from judge to awaitJudged
	Verdicts  *Verdicts       // on the recording; nil if the loader judges all by itself
	Reading   *Reading        // what judging came to, if that is known
	Links     *links          // what caused what; that of verdicts if there are any
	Observed  *observed
	Reader    *reading.Reader
	Relations *relations // for captures without an index
	Notes     *notes.Keeper
	Cards     *cards
}

// New returns a loader that reads until the context ends, judges by the rules, and checks signatures with the keys.
func New(ctx context.Context, src capture.Source, rules []*analysis.Rule, keys ...engine.Option) *Loader {
	return &Loader{
		Context: ctx, Source: src, Rules: rules, Keys: keys, results: make(chan Judged), Links: &links{},
		Observed: &observed{}, Reader: &reading.Reader{},
		Relations: &relations{}, Notes: notes.NewKeeper(""), Cards: &cards{kept: make(map[uint64]bool)},
		Reading: NewReading(nil),
	}
}

// Until returns the loader of a panel: it reads until the context ends.
func (l *Loader) Until(ctx context.Context) *Loader {
	of := *l
	of.Context = ctx
	return &of
}

// cards are the agent cards of a capture, without which a call cannot be told from its path alone.
type cards struct {
	mu   sync.Mutex
	Read uint64          // exchanges up to this one were searched for them
	kept map[uint64]bool // exchanges that a reading names and that were read
}

// A memoryIndex is built by reading a whole capture that has no index.
type memoryIndex map[capture.Key][]uint64

// relations keep the index of a capture that has none of its own, until that has grown.
type relations struct {
	mu    sync.Mutex
	Index memoryIndex
	until uint64 // the arrivals that were read
}

// Judged reports how far the rules have come, and what they found since the previous message.
type Judged struct {
	Findings  []analysis.Finding
	Further   Findings // findings that come after those, without the list of them
	Counts    judgment.Counts
	Next      uint64   // first arrival number that was not judged yet
	Behind    bool     // there is more to judge
	Ended     bool     // all is judged, unless the recording is resumed
	Restarted bool     // the engine was restarted: findings replaces all earlier ones
	Notice    string   // for the last line
	Lost      string   // why the reading is not used any more
	Reading   bool     // findings of a reading are still to come
	Rows      []uint64 // exchanges with other rows
	Err       error    // judging cannot continue: for now, or at all if ended
}

// A judgeRun is one run of the rules over a capture.
type judgeRun struct {
	*Loader
	engine    *engine.Engine
	next      uint64
	found     []analysis.Finding
	known     uint64 // arrival number up to which a previous engine has reported its findings
	restarted bool   // not reported yet
}

// send passes a message to awaitJudged. It returns false when the inspector has ended.
func (j *judgeRun) send(news Judged) bool {
	select {
	case j.results <- news:
		return true
	case <-j.Context.Done():
		return false
	}
}
