package tui

import (
	"context"

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
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
	kept      *keptReading            // what judging came to; nil if it has to be judged
	links     *links                  // what caused what; that of verdicts if there are any
	observed  *observed
	reader    *reading.Reader
	relations *relations // for captures without an index
	notes     *notes.Keeper
	cards     *uint64 // exchanges up to this one were searched for cards; for open and watch, which never run at once
}

func newLoader(ctx context.Context, src capture.Source, rules []*analyzer.Rule, keys ...analyzer.EngineOption) *loader {
	return &loader{
		ctx: ctx, src: src, rules: rules, keys: keys, results: make(chan judged), links: &links{},
		observed: &observed{}, reader: &reading.Reader{},
		relations: &relations{}, notes: notes.NewKeeper(""), cards: new(uint64),
	}
}

// until returns the loader of a panel: it reads until the context ends.
func (l *loader) until(ctx context.Context) *loader {
	of := *l
	of.ctx = ctx
	return &of
}

// readCards reads the agent cards that were recorded since its last call, if the capture has an index: without them a
// call cannot be told from its path alone.
func (l *loader) readCards(exchanges uint64) error {
	index, ok := l.src.(capture.Index)
	if !ok || exchanges <= *l.cards {
		return nil
	}
	if r := l.kept.reading(); r != nil && *l.cards == 0 && !r.Head().MoreCards {
		for _, seq := range r.Head().Cards {
			x, err := l.ends(seq, entryEvents)
			if err != nil {
				return err
			}
			l.reader.Read(brief(x))
		}
		*l.cards = exchanges
		return nil
	}
	for _, op := range []a2a.Operation{a2a.GetCard, a2a.GetExtendedCard} {
		for seq, err := range index.Find(l.ctx, capture.Key{Kind: "operation", Value: op.String()}, *l.cards+1) {
			if err != nil {
				return err
			}
			x, err := l.ends(seq, entryEvents)
			if err != nil {
				return err
			}
			l.reader.Read(brief(x))
		}
	}
	*l.cards = max(exchanges, cardsAgain) - cardsAgain
	return nil
}

// cardsAgain is how many of the newest exchanges are read again, since their answers may not have arrived yet.
const cardsAgain = 100
