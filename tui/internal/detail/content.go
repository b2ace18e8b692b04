package detail

import (
	"context"
	"maps"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/document"
	"a2atap/tui/internal/find"
	"a2atap/tui/internal/panel"
)

// maxOpen bounds the events whose content is shown at once.
const maxOpen = 100

// A content is the displayed exchange: its layout, and the data for it.
type content struct {
	Layout
	shared   *panel.Shared
	Seq      uint64
	ctx      context.Context // canceled when the user leaves the panel
	width    int
	mode     document.View
	limit    int // maximum bytes of a body that are shown
	folding  document.Folding
	pattern  *find.Pattern      // nil without a search
	opened   int                // the event opened for a match, or -1
	kept     []analysis.Finding // findings from the reading
	building uint64             // ticket of the document being built
	goal     analysis.Place     // where to move when the document is ready
	sought   bool               // the cursor is at the goal, or the user has moved it
	Err      error
}

// build returns the command that lays out the exchange again.
func (c *content) build() tea.Cmd {
	if c.Exchange == nil {
		return nil
	}
	c.building = c.shared.Ticket()
	open := slices.Sorted(maps.Keys(c.doc.Open))
	if n := c.opened; n >= 0 && len(open) > maxOpen {
		open = append(slices.DeleteFunc(open, func(i int) bool { return i == n })[:maxOpen-1], n)
	}
	source := c.source()
	source.Open = open[:min(len(open), maxOpen)]
	return document.Build(c.shared.Load, c.building, source)
}

// source returns the input of the layout.
func (c *content) source() document.Source {
	return document.Source{
		Context: c.ctx, Excerpt: c.Excerpt, Findings: c.findings(), View: c.mode, Width: max(c.width, 8),
		Limit: c.limit, Folds: c.folding, Note: c.shared.Notes.Of(c.Seq, c.Exchange.ID), Pattern: c.pattern,
	}
}

// findings returns the findings of the exchange. The reading may have them before the list of findings does.
func (c *content) findings() []analysis.Finding {
	if found := c.shared.Found.Of(c.Seq); found != nil {
		return found
	}
	return c.kept
}

// openFor opens an event to show a match in it, and closes the event opened for the previous match.
func (c *content) openFor(index int) tea.Cmd {
	at := c.spot()
	open := make(map[int][]document.Line, len(c.doc.Open)+1)
	for i, lines := range c.doc.Open {
		if i != c.opened {
			open[i] = lines
		}
	}
	open[index] = c.doc.Marks[index]
	c.doc.Open, c.opened = open, index
	c.index()
	c.Window.Length = c.Length()
	c.Window.Move(c.lineOf(at))
	return c.build()
}

// toggleEvent opens or closes the event under the cursor.
func (c *content) toggleEvent() tea.Cmd {
	i := c.EventAtCursor()
	if i < 0 {
		return nil
	}
	if c.opened == i {
		c.opened = -1
	}
	row := c.lineOf(spot{zoneEvents, i, -1})
	_, open := c.doc.Open[i]
	c.doc.Open = maps.Clone(c.doc.Open)
	if open {
		delete(c.doc.Open, i)
	} else {
		if row > c.Window.Top+c.Window.Height/2 { // make the content visible
			c.Window.Top = row - c.Window.Height/3
		}
		c.doc.Open[i] = c.doc.Marks[i]
	}
	c.Window.Cursor = row
	return c.build()
}
