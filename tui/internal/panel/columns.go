package panel

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/sequence"
	"a2atap/analyzer/summary"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// A column is a column of a list that is shown if there is room.
type column struct {
	heading string
	right   bool // a number
	width   int
	from    int // minimum room, left by earlier columns and the outcome, to show it
	cell    func(e *load.Entry) string
}

// optional are the additional columns of a wide list, before the outcome. To add a column, add it here, and to the
// table in docs/inspector.md.
var optional = [...]column{
	{"size", true, 8, 34, func(e *load.Entry) string { return text.Size(e.Size) }},
	{"trace", false, 8, 81, func(e *load.Entry) string { return e.Trace[:min(len(e.Trace), 8)] }},
}

// pad cuts or pads words to the column.
func (c *column) pad(words string) string {
	if c.right {
		return text.PadLeft(words, c.width)
	}
	return text.Pad(words, c.width)
}

// Columns are the column widths of a list of exchanges. Width 0 omits a column. The last column takes the remaining
// width: the message, if shown, or else the outcome.
type Columns struct {
	Number, Time, Link, Request, Took, Outcome int

	Last     int      // how wide the last column is; 0 if that is not known
	optional []column // the shown ones
}

// ShortID shortens an id to a distinguishing part.
func ShortID(id string) string { return text.Clean(sequence.ShortID(id)) }

// StatusWidth is the width of the column of the status.
const StatusWidth = 3

// ColumnsOf chooses the columns for a width: a narrow list omits what the detail next to it shows, a wide one has
// additional columns.
func ColumnsOf(width int, exchanges uint64) Columns {
	c := Columns{Number: max(len(fmt.Sprint(exchanges)), 3), Time: 8, Link: 20, Request: 20, Took: 8}
	switch {
	case width < 72:
		c.Link, c.Request, c.Took = 10, 16, 0
	case width < 80:
		c.Link = 10
	case width > 120:
		c.Time, c.Link, c.Request = 12, 28, 24
	}
	left := width - 2 - c.Number - 1 - c.Time - 1 - c.Link - 1 - c.Request - 1 - StatusWidth - 1 - c.Took - 1
	for _, o := range optional {
		if left >= o.from {
			c.optional = append(c.optional, o)
			left -= o.width + 1
		}
	}
	if left >= 52 {
		c.Outcome = 30
		left -= c.Outcome + 1
	}
	c.Last = max(left, 1)
	return c
}

// Peers returns client and agent for a column of this width; on little room, only the agent.
func Peers(client, agent string, columns int) string {
	if columns < 20 {
		return "→ " + agent
	}
	return text.Link(client, agent, columns)
}

// Took formats the duration of an exchange.
func Took(e *load.Entry) string {
	if e.Took < 0 {
		return "–"
	}
	return text.Duration(e.Took)
}

// Heading names the columns.
func (c *Columns) Heading(when string) style.Line {
	words := []string{
		text.PadLeft("n", c.Number), text.Pad(when, c.Time), text.Pad(Peers("client", "agent", c.Link), c.Link), text.Pad("request", c.Request),
		text.PadLeft("st", StatusWidth),
	}
	if c.Took > 0 {
		words = append(words, text.PadLeft("took", c.Took))
	}
	for i := range c.optional {
		words = append(words, c.optional[i].pad(c.optional[i].heading))
	}
	if c.Outcome > 0 {
		words = append(words, text.Pad("outcome", c.Outcome), "message")
	} else {
		words = append(words, "outcome")
	}
	return style.Text(style.Dim, "  "+strings.Join(words, " "))
}

// Add adds an exchange's columns after the time.
func (c *Columns) Add(row style.Line, e *load.Entry) style.Line {
	row = row.Add(style.Normal, text.Pad(Peers(e.Client, e.Agent, c.Link), c.Link)+" ").
		Add(style.Strong, text.Pad(e.Request, c.Request)+" ").
		Add(style.OfStatus(e.Status), text.PadLeft(e.Status, StatusWidth)+" ")
	if c.Took > 0 {
		row = row.Add(style.Normal, text.PadLeft(Took(e), c.Took)+" ")
	}
	for i := range c.optional {
		row = row.Add(style.Dim, c.optional[i].pad(c.optional[i].cell(e))+" ")
	}
	if c.Outcome == 0 {
		row = addComment(e, row)
		if c.Last == 0 {
			return row.Join(Outcome(e, 0))
		}
		return row.Join(Outcome(e, max(c.Last-text.Width(text.Clean(e.Comment)), 1)))
	}
	outcome := Outcome(e, c.Outcome)
	if e.Failed && e.Comment == "" && outcome.Columns() > c.Outcome { // why matters more than what was asked
		return row.Join(outcome)
	}
	outcome = outcome.Fit(c.Outcome)
	row = row.Join(outcome).Add(style.Normal, text.Blanks(c.Outcome-outcome.Columns())+" ")
	return addComment(e, row).Add(style.Normal, e.Message)
}

// addComment adds the user's comment on the exchange.
func addComment(e *load.Entry, row style.Line) style.Line {
	if e.Comment == "" {
		return row
	}
	return row.Add(style.Title, e.Comment+" ")
}

// Outcome draws the exchange's outcome, after the sign of a failure or of a state. If it does not fit, more important
// parts come first; 0 columns means unlimited.
func Outcome(e *load.Entry, columns int) style.Line {
	mark, look := style.OfState(e.State.String())
	switch {
	case e.Failed:
		mark, look = "✗", style.Warning
	case !slices.ContainsFunc(e.Outcome, func(w summary.Word) bool { return w.Look == summary.OfState }):
		mark = ""
	}
	sign := style.Line{}
	switch {
	case mark == "":
	case len(e.Outcome) == 0:
		sign = style.Text(look, mark)
	default:
		sign = style.Text(look, mark+" ")
	}
	drawn := drawWords(e.Outcome)
	if columns > 0 && sign.Columns()+drawn.Columns() > columns {
		drawn = drawWords(byWeight(e.Outcome))
	}
	return sign.Join(drawn)
}

// byWeight sorts the words of an outcome by importance: errors, the state, missing parts. It omits the task of the
// state.
func byWeight(words []summary.Word) []summary.Word {
	var parts [5][]summary.Word
	for len(words) > 0 {
		end := slices.IndexFunc(words, func(w summary.Word) bool { return w.Text == ", " })
		next := end + 1
		if end < 0 {
			end, next = len(words), len(words)
		}
		part := words[:end]
		words = words[next:]
		weight := len(parts) - 1
		switch last := part[len(part)-1]; last.Look {
		case summary.Bad:
			weight = 0
		case summary.OfState:
			weight, part = 1, part[len(part)-1:]
		case summary.Warn:
			weight = 2
		case summary.Dim:
			weight = 3
		}
		if len(parts[weight]) > 0 {
			parts[weight] = append(parts[weight], summary.Word{Text: ", "})
		}
		parts[weight] = append(parts[weight], part...)
	}
	var sorted []summary.Word
	for _, part := range parts {
		if len(sorted) > 0 && len(part) > 0 {
			sorted = append(sorted, summary.Word{Text: ", "})
		}
		sorted = append(sorted, part...)
	}
	return sorted
}

// drawWords draws the words of an outcome.
func drawWords(words []summary.Word) style.Line {
	drawn := style.Line{}
	for _, w := range words {
		look := style.Normal
		switch w.Look {
		case summary.Dim:
			look = style.Dim
		case summary.Bad:
			look = style.Warning
		case summary.Warn:
			look = style.Note
		case summary.OfState:
			_, look = style.OfState(w.State.String())
		}
		drawn = drawn.Add(look, w.Text)
	}
	return drawn
}
