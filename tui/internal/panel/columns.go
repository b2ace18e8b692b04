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

// Columns are the column widths of a list of exchanges. A column of no width is left out. The last one, which is the
// message where there is one and else the outcome, takes what is left.
type Columns struct {
	Number, Time, Link, Request, Took, size, Outcome, trace int

	Last int // how wide the last column is; 0 if that is not known
}

// ShortID cuts an id to what tells it apart.
func ShortID(id string) string { return text.Clean(sequence.ShortID(id)) }

// Widths of columns that are there when there is room.
const (
	StatusWidth = 3
	sizeWidth   = 8
	traceWidth  = 8
)

// ColumnsOf chooses the columns for a width: a narrow list leaves out what the detail beside it shows, a wide one has
// more of what helps.
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
	if left >= 34 {
		c.size = sizeWidth
		left -= sizeWidth + 1
	}
	if left >= 52 {
		c.Outcome = 30
		left -= c.Outcome + 1
	}
	if left >= 50 {
		c.trace = traceWidth
		left -= c.trace + 1
	}
	c.Last = max(left, 1)
	return c
}

// Peers writes who called whom in a column so wide; where there is little room, whom.
func Peers(client, agent string, columns int) string {
	if columns < 20 {
		return "→ " + agent
	}
	return client + " → " + agent
}

// Took writes how long an exchange took.
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
	if c.size > 0 {
		words = append(words, text.PadLeft("size", c.size))
	}
	if c.trace > 0 {
		words = append(words, text.Pad("trace", c.trace))
	}
	if c.Outcome > 0 {
		words = append(words, text.Pad("outcome", c.Outcome), "message")
	} else {
		words = append(words, "outcome")
	}
	return style.Text(style.Dim, "  "+strings.Join(words, " "))
}

// Add adds what the columns behind the time say of an exchange.
func (c *Columns) Add(row style.Line, e *load.Entry) style.Line {
	row = row.Add(style.Normal, text.Pad(Peers(e.Client, e.Agent, c.Link), c.Link)+" ").
		Add(style.Strong, text.Pad(e.Request, c.Request)+" ").
		Add(style.OfStatus(e.Status), text.PadLeft(e.Status, StatusWidth)+" ")
	if c.Took > 0 {
		row = row.Add(style.Normal, text.PadLeft(Took(e), c.Took)+" ")
	}
	if c.size > 0 {
		row = row.Add(style.Dim, text.PadLeft(text.Size(e.Size), c.size)+" ")
	}
	if c.trace > 0 {
		row = row.Add(style.Dim, text.Pad(e.Trace[:min(len(e.Trace), c.trace)], c.trace)+" ")
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

// addComment adds what somebody said of the exchange.
func addComment(e *load.Entry, row style.Line) style.Line {
	if e.Comment == "" {
		return row
	}
	return row.Add(style.Title, e.Comment+" ")
}

// Outcome draws what came of the exchange, with the sign of a failure or of a state before it. Where it does not fit
// into so many columns, what matters more comes first; 0 is any room.
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

// byWeight puts the words of an outcome first that say most: what went wrong, the state, what is missing. Which task has
// the state is left out.
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
