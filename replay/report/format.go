// Package report says what differs between a recording and what came now, or between two recordings, and writes that in
// several formats.
//
// A Report holds the results and nothing of how they came about: the comparison fills it. It is not safe for concurrent
// use; writers do not change it.
package report

import (
	"io"
	"slices"
)

// A format is a form in which a report can be written.
type format struct {
	name  string
	write func(io.Writer, *Report) error
}

var formats = []format{
	{"text", Text},
	{"json", JSON},
	{"markdown", Markdown},
	{"junit", JUnit},
	{"github", gitHub},
	{"html", HTML},
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
func Write(w io.Writer, name string, r *Report) error {
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
	return formats[i].write(w, r)
}
