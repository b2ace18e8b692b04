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

// formats are the forms in which a report can be written, by name.
var formats = []struct {
	name  string
	write func(io.Writer, *Report) error
}{
	{"text", Text},
	{"json", JSON},
	{"markdown", Markdown},
	{"html", HTML},
	{"junit", JUnit},
	{"sarif", SARIF},
	{"github", GitHub},
}

// Formats returns the names of the forms in which a report can be written.
func Formats() []string {
	names := make([]string, 0, len(formats))
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Write writes a report in the form of that name, which must be one of Formats.
func Write(w io.Writer, format string, r *Report) error {
	i := slices.IndexFunc(formats, func(f struct {
		name  string
		write func(io.Writer, *Report) error
	},
	) bool {
		return f.name == format
	})
	return formats[i].write(w, r)
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
