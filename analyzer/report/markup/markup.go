// Package markup makes texts from anywhere safe in the formats that reports share: Markdown as GitHub reads it,
// HTML, and workflow commands. What a text holds is shown, and never obeyed.
//
// Each function is for one position: [Text] for running Markdown, [Code] for a code span, [Element] and [HTML] for
// HTML, [Annotate] for a workflow command. A text must pass through the one of its position, once; [Table] takes cells
// that are safe already. Control characters and marks of direction become visible signs.
package markup

import (
	"fmt"
	"html"
	"strings"

	"a2atap/analyzer/analysis"
)

// escaper takes the meaning off what Markdown and HTML act on: messages quote what was on the wire.
var escaper = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"#", `\#`, "~", `\~`, "@", "&#64;",
)

// Text returns a text for Markdown, on one line with single blanks, that says only itself.
func Text(s string) string {
	return escaper.Replace(strings.Join(strings.Fields(analysis.Clean(s)), " "))
}

// Element returns a text for an element of HTML in Markdown, such as a summary, where backslashes would be shown, and
// which some renderers read as Markdown all the same.
func Element(s string) string {
	return inElement.Replace(html.EscapeString(strings.Join(strings.Fields(analysis.Clean(s)), " ")))
}

var inElement = strings.NewReplacer(
	"@", "&#64;", "[", "&#91;", "]", "&#93;", "`", "&#96;", "*", "&#42;", "_", "&#95;", "~", "&#126;", `\`, "&#92;",
)

// Code returns a text as code. Inside of code nothing has a meaning but the backtick, and in tables the bar and what
// would take its meaning off, which then needs a backslash that code would show.
func Code(s string) string {
	if s = analysis.Clean(s); strings.ContainsAny(s, "`|\\") {
		return "<code>" + Text(s) + "</code>"
	}
	return "`" + s + "`"
}

// Table writes a table in Markdown, the first row of which is its head. Cells must be safe already.
func Table(b *strings.Builder, rows [][]string) {
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	b.WriteString("\n")
}

// An AnnotationKind is a workflow command that annotates.
type AnnotationKind string

// The kinds of annotations. GitHub shows ten of each kind in a step.
const (
	Error   AnnotationKind = "error"
	Warning AnnotationKind = "warning"
	Notice  AnnotationKind = "notice"
)

// MaxAnnotations is how many annotations of one kind a step may have.
const MaxAnnotations = 10

var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// Annotate writes a workflow command on one line.
func Annotate(b *strings.Builder, kind AnnotationKind, title, message string) {
	fmt.Fprintf(b, "::%s title=%s::%s\n", kind, property.Replace(analysis.Clean(title)),
		data.Replace(analysis.Clean(message)))
}
