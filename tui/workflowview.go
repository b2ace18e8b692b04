package tui

import (
	"fmt"
	"strings"

	"a2atap/tui/style"
	"a2atap/tui/text"
)

func (w *workflowPanel) view() []style.Line {
	f := w.ladder
	switch {
	case f.err != nil:
		return []style.Line{style.Text(style.Error, "! "+f.err.Error())}
	case !f.ready:
		return []style.Line{style.Text(style.Dim, "  "+w.waiting())}
	case !w.asTree:
		return f.view()
	}
	c := w.columns()
	lines := []style.Line{style.Text(style.Dim, "   "+text.Pad("n", c.number)+" "+text.Pad("client → agent", c.link)+" "+
		text.Pad("request", c.request)+" "+text.PadLeft("st", 3)+" "+text.PadLeft("took", c.took)+" outcome")}
	for i := w.tree.top; i < w.tree.bottom(); i++ {
		lines = append(lines, w.branch(c, i))
	}
	if w.treePreviewHeight() == 0 || w.tree.length == 0 {
		return lines
	}
	for len(lines) <= w.tree.height {
		lines = append(lines, style.Line{})
	}
	return append(lines, w.preview()...)
}

// waiting says why the workflow is not shown yet.
func (w *workflowPanel) waiting() string {
	s := w.shared
	switch {
	case w.ladder.loading != 0:
		return "reading the exchanges of the workflow …"
	case s.judged.Err != nil:
		return "what caused this exchange was not read: judging has stopped"
	case s.judged.Behind:
		return fmt.Sprintf("what caused what is still being read, %d %% …",
			min(100*s.judged.Next/max(s.info.Arrivals, 1), 99))
	}
	return "what caused this exchange is known when its request has been read …"
}

// columns are those of the list, with room for the tree.
func (w *workflowPanel) columns() columns {
	c := columns{number: 12, link: 20, request: 18, took: 8}
	if w.tree.width >= 100 {
		c = columns{number: 20, link: 28, request: 24, took: 8}
	}
	c.last = max(w.tree.width-3-c.number-1-c.link-1-c.request-1-statusWidth-1-c.took-1, 1)
	return c
}

// branch draws a row of the tree.
func (w *workflowPanel) branch(c columns, i int) style.Line {
	b := &w.ladder.content.tree[i]
	mark, look := " ", style.Normal
	if worst, found := w.shared.found.Worst(b.Seq); found {
		mark, look = style.OfSeverity(worst)
	}
	cursor := " "
	if i == w.tree.cursor {
		cursor = ">"
	}
	row := style.Line{Selected: i == w.tree.cursor}.Add(style.Strong, cursor).Add(look, mark+" ").
		Add(style.Dim, text.Pad(lastOf(b.stem+fmt.Sprint(b.Seq), c.number), c.number)+" ")
	if b.Absent {
		return row.Add(style.Dim, "not in the capture")
	}
	row = c.add(row, &b.Entry)
	if words := b.inferred(); words != "" {
		row = row.Add(style.Dim, " ("+words+")")
	}
	return row
}

// treePreviewHeight is the number of lines at the bottom that describe the selected exchange of the tree.
func (w *workflowPanel) treePreviewHeight() int {
	if w.ladder.previewHeight() == 0 {
		return 0
	}
	return 4
}

// preview describes the selected exchange of the tree, and says how it is known what caused it.
func (w *workflowPanel) preview() []style.Line {
	b := &w.ladder.content.tree[w.tree.cursor]
	lines := []style.Line{
		style.Text(style.Dim, strings.Repeat("─", w.tree.width)),
		style.Text(style.Strong, fmt.Sprintf(" %d ", b.Seq)).Add(style.Normal, b.Client+" → "+b.Agent+"  "+b.Request).
			Add(style.Dim, "  "+w.shared.clock(b.Started)),
		style.Text(style.Normal, " ").Join(drawOutcome(&b.Entry, 0)),
	}
	switch words := b.inferred(); {
	case b.under == 0:
		return append(lines, style.Text(style.Dim, " nothing that is shown here has caused it"))
	case words != "":
		return append(lines, style.Text(style.Dim, fmt.Sprintf(" caused by %d, %s", b.under, words)))
	}
	return append(lines, style.Text(style.Dim, fmt.Sprintf(" caused by %d, proved: %s", b.under, b.by)))
}

// lastOf cuts text of our own to a width; what is left out is its beginning.
func lastOf(text string, columns int) string {
	runes := []rune(text)
	if over := len(runes) - columns; over > 0 {
		return "…" + string(runes[over+1:])
	}
	return text
}
