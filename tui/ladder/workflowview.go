package ladder

import (
	"fmt"
	"strings"

	"a2atap/tui/panel"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

func (w *Workflow) View() []style.Line {
	f := w.ladder
	switch {
	case f.err != nil:
		return []style.Line{style.Text(style.Error, "! "+f.err.Error())}
	case !f.ready:
		return []style.Line{style.Text(style.Dim, "  "+w.waiting())}
	case !w.asTree:
		return f.View()
	}
	c := w.columns()
	lines := []style.Line{style.Text(style.Dim, "   "+text.Pad("n", c.Number)+" "+text.Pad("client → agent", c.Link)+" "+
		text.Pad("request", c.Request)+" "+text.PadLeft("st", 3)+" "+text.PadLeft("took", c.Took)+" outcome")}
	for i := w.tree.Top; i < w.tree.Bottom(); i++ {
		lines = append(lines, w.branch(c, i))
	}
	if w.treePreviewHeight() == 0 || w.tree.Length == 0 {
		return lines
	}
	for len(lines) <= w.tree.Height {
		lines = append(lines, style.Line{})
	}
	return append(lines, w.preview()...)
}

// waiting says why the workflow is not shown yet.
func (w *Workflow) waiting() string {
	s := w.shared
	switch {
	case w.ladder.loading != 0:
		return "reading the exchanges of the workflow …"
	case s.Judged.Err != nil:
		return "what caused this exchange was not read: judging has stopped"
	case s.Judged.Behind:
		return fmt.Sprintf("what caused what is still being read, %d %% …",
			min(100*s.Judged.Next/max(s.Info.Arrivals, 1), 99))
	}
	return "what caused this exchange is known when its request has been read …"
}

// columns are those of the list, with room for the tree.
func (w *Workflow) columns() panel.Columns {
	c := panel.Columns{Number: 12, Link: 20, Request: 18, Took: 8}
	if w.tree.Width >= 100 {
		c = panel.Columns{Number: 20, Link: 28, Request: 24, Took: 8}
	}
	c.Last = max(w.tree.Width-3-c.Number-1-c.Link-1-c.Request-1-panel.StatusWidth-1-c.Took-1, 1)
	return c
}

// branch draws a row of the tree.
func (w *Workflow) branch(c panel.Columns, i int) style.Line {
	b := &w.ladder.content.tree[i]
	mark, look := w.shared.Sign(b.Seq)
	row := w.tree.Row(i).Add(look, mark+" ").
		Add(style.Dim, text.Pad(lastOf(b.stem+fmt.Sprint(b.Seq), c.Number), c.Number)+" ")
	if b.Absent {
		return row.Add(style.Dim, "not in the capture")
	}
	row = c.Add(row, &b.Entry)
	if words := b.inferred(); words != "" {
		row = row.Add(style.Dim, " ("+words+")")
	}
	return row
}

// treePreviewHeight is the number of lines at the bottom that describe the selected exchange of the tree.
func (w *Workflow) treePreviewHeight() int {
	if w.ladder.previewHeight() == 0 {
		return 0
	}
	return 4
}

// preview describes the selected exchange of the tree, and says how it is known what caused it.
func (w *Workflow) preview() []style.Line {
	b := &w.ladder.content.tree[w.tree.Cursor]
	lines := []style.Line{
		style.Text(style.Dim, strings.Repeat("─", w.tree.Width)),
		style.Text(style.Strong, fmt.Sprintf(" %d ", b.Seq)).Add(style.Normal, b.Client+" → "+b.Agent+"  "+b.Request).
			Add(style.Dim, "  "+w.shared.Clock(b.Started)),
		style.Text(style.Normal, " ").Join(panel.Outcome(&b.Entry, 0)),
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
