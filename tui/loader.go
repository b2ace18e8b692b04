package tui

import (
	"context"

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/notes"
)

// A loader reads the capture. Its methods return commands, which run outside the event loop and end with a message.
type loader struct {
	ctx       context.Context
	src       capture.Source
	rules     []*analyzer.Rule
	keys      []analyzer.EngineOption // that cards are signed with
	results   chan judged             // from judge to awaitJudged
	verdicts  *Verdicts               // on the recording; nil if the loader judges all by itself
	kept      *keptReading            // what judging came to, if that is known
	links     *links                  // what caused what; that of verdicts if there are any
	observed  *observed
	reader    *reading.Reader
	relations *relations // for captures without an index
	notes     *notes.Keeper
	cards     *cards
}

func newLoader(ctx context.Context, src capture.Source, rules []*analyzer.Rule, keys ...analyzer.EngineOption) *loader {
	return &loader{
		ctx: ctx, src: src, rules: rules, keys: keys, results: make(chan judged), links: &links{},
		observed: &observed{}, reader: &reading.Reader{},
		relations: &relations{}, notes: notes.NewKeeper(""), cards: &cards{kept: make(map[uint64]bool)},
		kept: newKeptReading(nil),
	}
}

// until returns the loader of a panel: it reads until the context ends.
func (l *loader) until(ctx context.Context) *loader {
	of := *l
	of.ctx = ctx
	return &of
}
