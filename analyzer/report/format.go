package report

import (
	"io"
	"slices"
)

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
