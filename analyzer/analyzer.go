// Package analyzer judges recorded A2A traffic by the rules of the protocol.
//
//	result, err := analyzer.Judge(ctx, source)
//
// judges what is in a capture, and Follow one that is being recorded. A source is a capture of any format, which
// a2atap/proxy/capture/open opens, or the record of taps that are still open (a2atap/proxy/record).
//
// What stands behind it: package rules has the catalogue, analysis is what rules are written in, engine runs them,
// judgment says what that came to, and report writes it down in each format. In tests, use package analyzertest.
package analyzer

import (
	"context"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
)

// What judging is about. Each says more where it is declared.
type (
	// A Rule is a sentence of the protocol that traffic can break, and how that is seen.
	Rule = analysis.Rule
	// A Finding is a place in the traffic where a rule is broken.
	Finding = analysis.Finding
	// A Place is where in an exchange something stands.
	Place = analysis.Place
	// A Severity says how much a finding matters.
	Severity = analysis.Severity
	// A Result is what judging a capture came to: findings, what was observed, and how the calls came out.
	Result = judgment.Result
	// A Verdict is that in a word, with its reason; see Result.Verdict.
	Verdict = judgment.Verdict
)

// The severities, mildest first.
const (
	Note    = analysis.Note
	Warning = analysis.Warning
	Error   = analysis.Error
)

// Judge judges what is in the source now, by the rules of the catalogue and more of one's own. It returns an error if the
// source cannot be read, with what was judged before, and one if a rule of one's own is not complete. A source that has
// been judged once is judged again.
func Judge(ctx context.Context, source capture.Source, more ...*Rule) (*Result, error) {
	return engine.Run(ctx, slices.Concat(rules.All, more), source, nil)
}

// Follow judges a recording while it goes on, until it or the context ends, and calls each with every finding as it is
// made. The result has no findings if each is given. See Judge for errors; the end of the context is none.
func Follow(ctx context.Context, source capture.Source, each func(Finding), more ...*Rule) (*Result, error) {
	return engine.Follow(ctx, slices.Concat(rules.All, more), source, each)
}
