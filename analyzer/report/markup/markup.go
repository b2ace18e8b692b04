// Package markup makes untrusted texts safe in the formats that reports share: GitHub's Markdown, HTML, and workflow
// commands. The contents of a text are shown, and never interpreted.
//
// Each function is for one position: [Text] for running Markdown, [Code] for a code span, [Element] and [HTML] for
// HTML, [Annotate] for a workflow command. A text must pass through the function for its position, once; [Table]
// expects safe cells. Control characters and direction marks become visible characters.
package markup

import (
	"cmp"
	"fmt"
	"html"
	"strings"

	"a2atap/analyzer/analysis"
)

// escaper escapes the characters that Markdown and HTML interpret: messages quote text from the wire.
var escaper = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"#", `\#`, "~", `\~`, "@", "&#64;",
)

// Text returns a text for Markdown, on one line with single blanks, without markup.
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

// Code returns a text as code. Inside code only the backtick has a meaning, and in tables also the bar and its escape
// character, which would need a backslash that code displays.
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

// An Annotation is a message that GitHub shows next to a job.
type Annotation struct {
	Severity    analysis.Severity
	Title, Text string
}

// kinds are the workflow commands that annotate, by severity.
var kinds = [...]string{analysis.Note: "notice", analysis.Warning: "warning", analysis.Error: "error"}

// maxAnnotations is how many annotations of each kind GitHub shows in a step.
const maxAnnotations = 10

var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// Annotate returns workflow commands, at most ten lines of each severity. If there are more, the last line has the title
// and counts the rest. The noun names what it counts; "" stands for the severity.
func Annotate(list []Annotation, title, noun string) string {
	var b strings.Builder
	var total, written [len(kinds)]int
	for _, a := range list {
		total[a.Severity]++
	}
	for _, a := range list {
		s := a.Severity
		if written[s]++; written[s] < maxAnnotations || total[s] == maxAnnotations {
			annotate(&b, a)
		}
	}
	for s, n := range total {
		if more := n - maxAnnotations + 1; n > maxAnnotations {
			s := analysis.Severity(s)
			annotate(&b, Annotation{s, title, fmt.Sprintf("and %s more", analysis.Plural(more, cmp.Or(noun, s.String())))})
		}
	}
	return b.String()
}

// annotate writes a workflow command on one line.
func annotate(b *strings.Builder, a Annotation) {
	fmt.Fprintf(b, "::%s title=%s::%s\n", kinds[a.Severity], property.Replace(analysis.Clean(a.Title)),
		data.Replace(analysis.Clean(a.Text)))
}
