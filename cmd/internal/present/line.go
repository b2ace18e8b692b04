package present

import (
	"io"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/credential"
	"a2atap/tui/text"
)

// An ink is how a terminal draws a piece of a line: parameters of SGR (ECMA-48 section 8.3.117), from the terminal's
// sixteen colors. Color is never the only carrier of a meaning: everything colored also has a word.
type ink string

const (
	inkPlain ink = ""
	inkDim   ink = "2"
	inkGood  ink = "32"
	inkBad   ink = "1;31"
	inkWarn  ink = "33"
	inkNote  ink = "36"
)

// draw returns a text in color.
func (i ink) draw(text string) string {
	if i == inkPlain || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + string(i) + "m" + text + "\x1b[m"
}

// A piece is a part of a line, and how it is drawn.
type piece struct {
	Text string
	ink  ink
}

// paint returns the pieces as one line. They may include foreign text: paint escapes control sequences, and omits
// passwords in URLs.
func paint(colours bool, pieces ...piece) string {
	var line strings.Builder
	for _, p := range pieces {
		text := analysis.Clean(credential.WithoutUserinfo(p.Text))
		if colours {
			text = p.ink.draw(text)
		}
		line.WriteString(text)
	}
	return strings.TrimRight(line.String(), " ")
}

// stateInk is the color of a task's state, if the task has ended or waits.
func stateInk(s a2a.State) ink {
	switch s {
	case a2a.Completed:
		return inkGood
	case a2a.Failed, a2a.Rejected:
		return inkBad
	case a2a.Canceled, a2a.InputRequired, a2a.AuthRequired:
		return inkWarn
	}
	return inkPlain
}

// statusInk is the color of an HTTP status.
func statusInk(status int) ink {
	switch {
	case status == 0 || status >= 500:
		return inkBad
	case status >= 400:
		return inkWarn
	}
	return inkPlain
}

func severityInk(s analysis.Severity) ink { return reportInks[report.InkOf(s)] }

// findingPieces is report.Line with the place in the severity's color.
func findingPieces(f *analysis.Finding) []piece {
	line := report.Line(f)
	place := analysis.Clean(f.Place.String())
	rest, ok := strings.CutPrefix(line, place)
	if !ok {
		return []piece{{line, severityInk(f.Severity)}}
	}
	return []piece{{place, severityInk(f.Severity)}, {rest, inkPlain}}
}

// reportInks are how a terminal draws the pieces of a report.
var reportInks = [...]ink{
	report.Plain: inkPlain, report.Errors: inkBad, report.Warnings: inkWarn, report.Notes: inkNote, report.Aside: inkDim,
	report.Heading: inkWarn, report.Was: inkBad, report.Now: inkGood,
}

// PaintReport returns a function that colors pieces of a report for w; nil without color.
func PaintReport(e cli.Env, w io.Writer) func(report.Ink, string) string {
	if !e.Colours(w) {
		return nil
	}
	return Draw
}

// Draw colors a piece of a report, without passwords in URLs.
func Draw(i report.Ink, text string) string {
	return reportInks[i].draw(credential.WithoutUserinfo(text))
}

// InColumns returns a foreign text without passwords, cut or padded to this many columns. A number is right-aligned.
func InColumns(words string, columns int, number bool) string {
	words = credential.WithoutUserinfo(words)
	if number {
		return text.PadLeft(words, columns)
	}
	return text.Pad(words, columns)
}

// fit cuts the pieces of a line to this many columns, or not at all for 0. It removes trailing blanks.
func fit(line []piece, columns int) []piece {
	left := columns
	for i := range line {
		line[i].Text = text.Clean(credential.WithoutUserinfo(line[i].Text))
		if columns == 0 {
			continue
		}
		width := text.Columns(line[i].Text)
		if more := i+1 < len(line); width > left || more && width == left {
			line[i].Text = text.Clip(line[i].Text+strings.Repeat(" ", left), left)
			line = line[:i+1]
			break
		}
		left -= width
	}
	if last := len(line) - 1; last >= 0 {
		line[last].Text = strings.TrimRight(line[last].Text, " ")
	}
	return line
}
