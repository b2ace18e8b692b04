package present

import (
	"io"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/credential"
	differences "a2atap/replay/report"
	"a2atap/tui/text"
)

// An ink is how a terminal draws a piece of a line: parameters of SGR (ECMA-48 section 8.3.117), of the sixteen colours
// that its user has chosen. Colour never carries a meaning alone: what is coloured has a word too.
type ink string

const (
	inkPlain ink = ""
	inkDim   ink = "2"
	inkGood  ink = "32"
	inkBad   ink = "1;31"
	inkWarn  ink = "33"
	inkNote  ink = "36"
)

// A piece is a part of a line, and how it is drawn.
type piece struct {
	Text string
	ink  ink
}

// paint returns the pieces as one line. Foreign text may be in them: a terminal obeys nothing of it, and passwords of
// URLs are left out.
func paint(colours bool, pieces ...piece) string {
	var line strings.Builder
	for _, p := range pieces {
		text := analysis.Clean(credential.WithoutUserinfo(p.Text))
		if !colours || p.ink == inkPlain || strings.TrimSpace(text) == "" {
			line.WriteString(text)
			continue
		}
		line.WriteString("\x1b[" + string(p.ink) + "m" + text + "\x1b[m")
	}
	return strings.TrimRight(line.String(), " ")
}

// stateInk is the colour of a task's state: that of an end, or of waiting for somebody.
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

// statusInk is the colour of an HTTP status.
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

// findingPieces is report.Line with the place in the colour of the severity.
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
}

// PaintReport draws pieces of a report as they are wanted on w, a terminal; it is nil where no colours are.
func PaintReport(e cli.Env, w io.Writer) func(report.Ink, string) string {
	if !e.Colours(w) {
		return nil
	}
	return func(i report.Ink, text string) string {
		if strings.TrimSpace(text) == "" || reportInks[i] == inkPlain {
			return text
		}
		return "\x1b[" + string(reportInks[i]) + "m" + text + "\x1b[m"
	}
}

// InColumns returns a foreign text without passwords, cut or filled up to so many columns.
func InColumns(words string, columns int) string {
	words = text.Clip(credential.WithoutUserinfo(words), columns)
	return words + strings.Repeat(" ", max(columns-text.Columns(words), 0))
}

// fit cuts the pieces of a line to so many columns; 0 is any number of them. Blanks at the end are left out.
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

// linkWords names a client and an agent in at most so many columns, so that both are seen, however long their names
// are.
func linkWords(client, agent string, columns int) string {
	const arrow = " → "
	client, agent = text.Clean(client), text.Clean(agent)
	room := columns - text.Columns(arrow)
	left := min(text.Columns(client), max(room/2, room-text.Columns(agent)))
	return text.Clip(client, left) + arrow + text.Clip(agent, room-left)
}

// differenceInks are how a terminal draws the pieces of a report of differences.
var differenceInks = [...]ink{
	differences.Plain: inkPlain, differences.Heading: inkWarn, differences.Was: inkBad, differences.Now: inkGood, differences.Aside: inkDim,
}

// WriteDifferences writes a report of differences in the form of that name; text in colours, if they are wanted.
func WriteDifferences(w io.Writer, format string, r *differences.Report, colours bool) error {
	if format != "text" || !colours {
		return differences.Write(w, format, r)
	}
	return differences.Painted(w, r, func(i differences.Ink, text string) string {
		return paint(true, piece{text, differenceInks[i]})
	})
}
