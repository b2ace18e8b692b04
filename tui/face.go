package tui

import (
	"io"

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/sequence"
	"a2atap/proxy/capture"
	"a2atap/tui/document"
	"a2atap/tui/load"
	"a2atap/tui/printer"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// A Theme is the palette that the inspector draws with.
type Theme = style.Theme

// Plain is the theme without colour.
const Plain = style.Plain

// ChooseTheme returns the theme of a name; see style.ChooseTheme.
func ChooseTheme(name string, getenv func(string) string) (Theme, error) {
	return style.ChooseTheme(name, getenv)
}

// Verdicts brings what the rules find in a recording to the inspector that shows it; see load.Verdicts.
type Verdicts = load.Verdicts

// NewVerdicts returns the verdicts on the steps that come after an arrival number; see load.NewVerdicts.
func NewVerdicts(after uint64) *Verdicts { return load.NewVerdicts(after) }

// An Arrow is one line of a ladder; see package sequence.
type Arrow = sequence.Arrow

// Arrows returns the arrows of one exchange; see sequence.Of.
func Arrows(x *capture.Exchange, r *reading.Reading, s *analyzer.Summary, findings []analyzer.Finding) []Arrow {
	return sequence.Of(x, r, s, findings)
}

// SortArrows puts the arrows of several exchanges in order of time.
func SortArrows(arrows []Arrow) { sequence.Sort(arrows) }

// The parts of an exchange that are printed; see package document.
type (
	Side = document.Side
	Part = document.Part
)

const (
	BothSides    = document.BothSides
	RequestSide  = document.RequestSide
	ResponseSide = document.ResponseSide
)

// Width returns how many columns a text takes on a terminal that is cleaned by Clip.
func Width(words string) int { return text.Width(text.Clean(words)) }

// Clip returns a text as one line without control functions, cut to so many columns.
func Clip(words string, columns int) string { return text.Clip(words, columns) }

// Clean returns a text as one line without control functions.
func Clean(words string) string { return text.Clean(words) }

// Sign returns the sign of a severity, by which findings are told apart without colour.
func Sign(s analyzer.Severity) string {
	mark, _ := style.OfSeverity(s)
	return mark
}

// A Printer prints what the panels show as text that stays; see package printer.
type Printer = printer.Printer

// NewPrinter returns a printer for a terminal of that width in columns; see printer.New.
func NewPrinter(w io.Writer, width int, theme Theme) *Printer { return printer.New(w, width, theme) }
