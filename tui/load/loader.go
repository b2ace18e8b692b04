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

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/notes"
)

// A Loader reads the capture. Its methods return commands, which run outside the event loop and end with a message.
type Loader struct {
	Context   context.Context
	Source    capture.Source
	Rules     []*analyzer.Rule
	Keys      []analyzer.EngineOption // that cards are signed with
	results   chan Judged             // from judge to awaitJudged
	Verdicts  *Verdicts               // on the recording; nil if the loader judges all by itself
	Reading   *Reading                // what judging came to, if that is known
	Links     *links                  // what caused what; that of verdicts if there are any
	Observed  *observed
	Reader    *reading.Reader
	Relations *relations // for captures without an index
	Notes     *notes.Keeper
	Cards     *cards
}

func New(ctx context.Context, src capture.Source, rules []*analyzer.Rule, keys ...analyzer.EngineOption) *Loader {
	return &Loader{
		Context: ctx, Source: src, Rules: rules, Keys: keys, results: make(chan Judged), Links: &links{},
		Observed: &observed{}, Reader: &reading.Reader{},
		Relations: &relations{}, Notes: notes.NewKeeper(""), Cards: &cards{kept: make(map[uint64]bool)},
		Reading: NewReading(nil, nil),
	}
}

// Until returns the loader of a panel: it reads until the context ends.
func (l *Loader) Until(ctx context.Context) *Loader {
	of := *l
	of.Context = ctx
	return &of
}
