package report

import (
	"io"
	"slices"
)

// FormatsOf are the formats of one kind of report.
type FormatsOf[R any] []struct {
	Name, Purpose string
	Write         func(io.Writer, R) error
}

// Names returns the names of the formats.
func (list FormatsOf[R]) Names() []string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return names
}

// Write writes a report in the format of that name, which must be one of Names.
func (list FormatsOf[R]) Write(w io.Writer, name string, r R) error {
	return list[slices.Index(list.Names(), name)].Write(w, r)
}

var formats = FormatsOf[*Report]{
	{"text", "for people", Text},
	{"json", "for programs", JSON},
	{"markdown", "for people, such as a comment on a pull request", Markdown},
	{"html", "a self-contained web page", HTML},
	{"junit", "for CI, one suite per link or agent", JUnit},
	{"sarif", "for code scanning", SARIF},
	{"github", "GitHub Actions annotations", GitHub},
}

// Formats returns the names of the formats of reports of check and probe.
func Formats() []string { return formats.Names() }

// Purpose returns the purpose of the format with that name, which must be one of Formats.
func Purpose(name string) string { return formats[slices.Index(formats.Names(), name)].Purpose }

// Write writes a report in the format of that name, which must be one of Formats.
func Write(w io.Writer, name string, r *Report) error { return formats.Write(w, name, r) }
