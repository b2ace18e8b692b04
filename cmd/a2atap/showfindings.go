package main

import (
	"slices"

	"a2atap/analyzer"
	"a2atap/analyzer/track/workflow"
)

// A ledger is what judging a capture says of each exchange, for those who print it: the findings, or only how severe
// the worst of them is, which takes a byte.
type ledger struct {
	whole func(seq uint64) bool // whether the findings in an exchange are kept
	links *workflow.Index       // nil if nobody asks
	seen  widths

	marks     map[uint64]*marksPage
	findings  map[uint64][]analyzer.Finding
	revisable []analyzer.Finding // by rules that may revise them at the end
	late      int                // findings in exchanges that were printed

	// called when an exchange is over, before the findings of its last step are taken; nil if nobody follows
	ended func(seq uint64)
}

// A mark is what is known of an exchange in a byte: the worst severity plus one, or 0 for none, whether it is over, and
// whether it was printed.
type mark = uint8

const (
	severityMark mark = 3
	endedMark    mark = 1 << 2
	printedMark  mark = 1 << 3
)

const pageMarks = 1 << 10

// A marksPage is the marks of exchanges in a row. Numbers in files of other programs may be far apart.
type marksPage [pageMarks]mark

func newLedger(whole func(uint64) bool) *ledger {
	return &ledger{whole: whole, marks: make(map[uint64]*marksPage), findings: make(map[uint64][]analyzer.Finding)}
}

// options returns those with which an engine fills the ledger, beside take.
func (l *ledger) options() []analyzer.EngineOption {
	options := []analyzer.EngineOption{analyzer.OnEnded(l.end)}
	if l.links != nil {
		options = append(options, workflow.Into(l.links.Put)...)
	}
	return options
}

func (l *ledger) mark(seq uint64) *mark {
	page := l.marks[seq/pageMarks]
	if page == nil {
		page = &marksPage{}
		l.marks[seq/pageMarks] = page
	}
	return &page[seq%pageMarks]
}

// isOver reports whether an exchange is over.
func (l *ledger) isOver(seq uint64) bool { return l.has(seq, endedMark) }

func (l *ledger) has(seq uint64, m mark) bool {
	page := l.marks[seq/pageMarks]
	return page != nil && page[seq%pageMarks]&m != 0
}

// pass takes note that an exchange is printed, or was not chosen: findings in it that come from now on are late.
func (l *ledger) pass(seq uint64) { *l.mark(seq) |= printedMark }

// take takes a finding.
func (l *ledger) take(f analyzer.Finding) {
	at := f.Place.Exchange
	if l.has(at, printedMark) {
		l.late++
	}
	if f.Rule.Revises {
		l.revise(f)
		return
	}
	m := l.mark(at)
	if worst := mark(f.Severity) + 1; worst > *m&severityMark {
		*m = *m&^severityMark | worst
	}
	if l.whole(at) {
		l.findings[at] = append(l.findings[at], f)
	}
}

// revise takes a finding that may take the place of others, or be replaced. There are few.
func (l *ledger) revise(f analyzer.Finding) {
	kept := l.revisable[:0]
	for _, g := range l.revisable {
		if !f.TakesPlaceOf(&g) {
			kept = append(kept, g)
			continue
		}
		for _, id := range g.Also {
			if !slices.Contains(f.Also, id) {
				f.Also = append(f.Also, id)
			}
		}
	}
	f.Revises = false
	l.revisable = append(kept, f)
}

// end takes an exchange that is over.
func (l *ledger) end(x analyzer.Summary) {
	l.seen.see(&x)
	*l.mark(x.Seq) |= endedMark
	if l.ended != nil {
		l.ended(x.Seq)
	}
}

// of returns the findings in an exchange, as far as they are kept.
func (l *ledger) of(seq uint64) []analyzer.Finding {
	found := l.findings[seq]
	for _, f := range l.revisable {
		if f.Place.Exchange == seq {
			found = append(slices.Clip(found), f)
		}
	}
	return found
}

// forget drops the findings in an exchange that was printed.
func (l *ledger) forget(seq uint64) { delete(l.findings, seq) }

// worst returns the severity of the worst finding in an exchange, if there is one.
func (l *ledger) worst(seq uint64) (worst analyzer.Severity, found bool) {
	if page := l.marks[seq/pageMarks]; page != nil {
		if m := page[seq%pageMarks] & severityMark; m > 0 {
			worst, found = analyzer.Severity(m-1), true
		}
	}
	for i := range l.revisable {
		if f := &l.revisable[i]; f.Place.Exchange == seq {
			worst, found = max(worst, f.Severity), true
		}
	}
	return worst, found
}
