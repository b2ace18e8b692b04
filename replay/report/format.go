// Package report describes the differences between a recording and live traffic, or between two recordings, and writes
// them in several formats.
//
// A Report has only the results of a comparison, which fills it. It is not safe for concurrent use; writers do not
// change it.
package report

import (
	"io"

	"a2atap/analyzer/report"
)

var formats = report.FormatsOf[*Report]{
	{"text", "", Text},
	{"json", "", JSON},
	{"markdown", "", Markdown},
	{"junit", "", JUnit},
	{"github", "", gitHub},
	{"html", "", HTML},
}

// Formats returns the names of the formats.
func Formats() []string { return formats.Names() }

// Write writes a report in the format of that name, which must be one of Formats.
func Write(w io.Writer, name string, r *Report) error { return formats.Write(w, name, r) }
