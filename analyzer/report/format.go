package report

import (
	"io"
	"slices"
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report/exchanges"
)

// A Report is all that a report can be made of.
type Report struct {
	Result *judgment.Result
	Rules  []*analyzer.Rule  // that were asked for, in reading order
	Gate   analyzer.Severity // from which on a finding fails the check; one above Error if none does
	Tool   Tool
	Now    time.Time // the date of the report

	Coverage bool                              // text names the rules that never applied, instead of counting them
	Paint    func(ink Ink, text string) string // draws pieces of text in colours; nil for none

	Tests      []Suite     // of agents that were asked actively; nil for what was only recorded
	Directions []Direction // between two agents; nil if there are not two

	Traffic *exchanges.Section // the exchanges, for HTML; nil if they are not to be shown
}

// A format is a form in which a report can be written.
type format struct {
	name, purpose string
	write         func(io.Writer, *Report) error
}

var formats = []format{
	{"text", "for people", Text},
	{"json", "for programs", JSON},
	{"markdown", "for people, such as a comment on a pull request", Markdown},
	{"html", "a page for people, one file that fetches nothing", HTML},
	{"junit", "for CI, a suite a link or an agent", JUnit},
	{"sarif", "for code scanning", SARIF},
	{"github", "annotations of GitHub Actions", GitHub},
}

// Formats returns the names of the forms in which a report can be written.
func Formats() []string {
	names := make([]string, 0, len(formats))
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Purpose says what the form of that name, which must be one of Formats, is for.
func Purpose(name string) string { return named(name).purpose }

// Write writes a report in the form of that name, which must be one of Formats.
func Write(w io.Writer, name string, r *Report) error { return named(name).write(w, r) }

func named(name string) *format {
	return &formats[slices.IndexFunc(formats, func(f format) bool { return f.name == name })]
}

// gate returns the severity that decides the status in words: also where no finding fails the check, errors are not
// called clean.
func (r *Report) gate() analyzer.Severity { return min(r.Gate, analyzer.Error) }

// verdict returns the sum of the report.
func (r *Report) verdict() judgment.Verdict {
	v := r.Result.Verdict(r.gate())
	if r.Tests != nil {
		v.Status = r.status(r.gate())
	}
	return v
}

// sentence returns the sum of the report in words.
func (r *Report) sentence() string {
	if r.Tests != nil {
		return string(r.status(r.gate())) + ": " + r.Verdict()
	}
	return r.verdict().String()
}
