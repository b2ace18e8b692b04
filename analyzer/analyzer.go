// Package analyzer checks recorded A2A traffic against the rules of the protocol.
//
//	result, err := analyzer.Judge(ctx, source)
//
// Judge checks a finished capture, and Follow one that is being recorded. A source is a capture of any format, which
// a2atap/proxy/capture/open opens, or the record of taps that are still open (a2atap/proxy/record).
//
// Package rules has the catalogue, analysis has the types to write rules with, and engine runs the rules. Package
// judgment has the results, and report writes them in each format. In tests, use package analyzertest.
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

// The types of results. Each is documented where it is declared.
type (
	// A Rule is a sentence of the protocol that traffic can break, and how that is seen.
	Rule = analysis.Rule
	// A Finding is a place in the traffic where a rule is broken.
	Finding = analysis.Finding
	// A Place is a location in an exchange.
	Place = analysis.Place
	// A Severity is how much a finding matters.
	Severity = analysis.Severity
	// A Result is the result of checking a capture: findings, coverage, and the outcome of the calls.
	Result = judgment.Result
	// A Verdict is the result in a word, with its reason; see Result.Verdict.
	Verdict = judgment.Verdict
)

// The severities, mildest first.
const (
	Note    = analysis.Note
	Warning = analysis.Warning
	Error   = analysis.Error
)

// Judge checks the current contents of the source with the rules of the catalog and additional ones. It returns an
// error if the source cannot be read, with the results so far, or if an additional rule is invalid. It does not reuse
// earlier results.
func Judge(ctx context.Context, source capture.Source, more ...*Rule) (*Result, error) {
	return engine.Run(ctx, slices.Concat(rules.All, more), source, nil)
}

// Follow checks a recording in progress until the recording or the context ends, and calls each with every finding as
// it is made. If each is not nil, the result has no findings. See Judge for errors; the end of the context is not an
// error.
func Follow(ctx context.Context, source capture.Source, each func(Finding), more ...*Rule) (*Result, error) {
	return engine.Follow(ctx, slices.Concat(rules.All, more), source, each)
}
