package ladder

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// A Workflow shows the exchanges of one request of a user, through all agents involved: as a ladder with a lifeline for
// each client and agent, as a tree of causes and effects, or as a waterfall.
type Workflow struct {
	ladder *Panel
	shared *panel.Shared
	asTree bool
	tree   panel.Window  // over the branches
	told   uint64        // number of links at the last load
	full   bool          // it has to be loaded even if no link has changed
	keys   []keys.Action // keys pressed before it was loaded
}

// NewWorkflow returns the workflow of an exchange. Begin reads the workflow.
func NewWorkflow(s *panel.Shared, seq uint64) *Workflow {
	w := &Workflow{shared: s, ladder: New(s, seq)}
	w.ladder.fetch = w.fetch
	return w
}

// fetch returns the command that loads the workflow.
func (w *Workflow) fetch(found load.Snapshot, pause time.Duration) tea.Cmd {
	f := w.ladder
	w.told = w.shared.Load.Links.Told.Load()
	have := f.content.links
	if w.full || !f.ready {
		have = nil
	}
	w.full = false
	return readWorkflow(f.load, f.loading, f.seq, have, found, pause)
}

func (w *Workflow) Scope() keys.Scope { return keys.InWorkflow }

func (w *Workflow) Title() string {
	if w.ladder.ready {
		return "workflow of " + fmt.Sprint(w.ladder.content.root)
	}
	return "workflow"
}

// unread reports whether links up to the exchange from which the panel was opened are still unread.
func (w *Workflow) unread() bool {
	r := w.shared.Load.Reading.Now()
	return r == nil || r.Head().Linked < w.ladder.seq && !r.Head().Ended
}

// Leave cancels running work. Call it when the panel closes.
func (w *Workflow) Leave() { w.ladder.leave() }

// Begin loads the workflow, if the links have been read that far.
func (w *Workflow) Begin() tea.Cmd {
	if w.unread() {
		return nil
	}
	return w.ladder.Begin()
}

func (w *Workflow) Resize(width, height int) tea.Cmd {
	cmd := w.ladder.Resize(width, height)
	w.tree.Width, w.tree.Height = width, max(height-1-w.treePreviewHeight(), 0)
	w.tree.Reveal()
	return cmd
}

func (w *Workflow) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case keys.Action:
		return w.act(msg)
	case content:
		return w.setContent(msg)
	case arrowRead:
		return w.ladder.Update(msg)
	case panel.ExchangesChanged:
		return w.changed(msg.Seqs)
	case panel.FindingsChanged:
		return w.changed(msg.Seqs)
	case panel.LinksChanged:
		return w.relink()
	}
	return nil
}

// changed loads the workflow again if one of the changed exchanges is in it.
func (w *Workflow) changed(seqs []uint64) tea.Cmd {
	if !slices.ContainsFunc(seqs, func(seq uint64) bool {
		_, mine := slices.BinarySearch(w.ladder.content.seqs, seq)
		return mine
	}) {
		return nil
	}
	w.full = true
	return w.again()
}

// relink reads the links again if there are new ones.
func (w *Workflow) relink() tea.Cmd {
	switch {
	case w.unread():
		return nil
	case !w.ladder.ready && w.ladder.loading == 0:
		return w.Begin()
	case w.told == w.shared.Load.Links.Told.Load():
		return nil
	}
	return w.again()
}

// again reloads the workflow, now or when the current load has finished.
func (w *Workflow) again() tea.Cmd {
	if w.ladder.loading != 0 {
		w.ladder.reloadAgain = true
		return nil
	}
	return w.ladder.Begin()
}

func (w *Workflow) setContent(msg content) tea.Cmd {
	f := w.ladder
	if msg.ticket != f.loading {
		return nil
	}
	if msg.same {
		f.loading, f.took = 0, msg.took
		f.content.more, f.content.maybe = msg.more, msg.maybe
		if f.reloadAgain {
			return f.Begin()
		}
		return nil
	}
	selected := w.Target().Exchange
	cmds := []tea.Cmd{f.setContent(msg)}
	w.full = w.full || msg.err != nil
	w.tree.Length = len(f.content.tree)
	w.tree.Move(w.branchOf(selected))
	if f.ready {
		keys := w.keys
		w.keys = nil
		for _, a := range keys {
			cmds = append(cmds, w.act(a))
		}
	}
	return tea.Batch(cmds...)
}

// branchOf returns the position of an exchange in the tree, or the cursor's position if the tree does not have it.
func (w *Workflow) branchOf(seq uint64) int {
	for i := range w.ladder.content.tree {
		if w.ladder.content.tree[i].Seq == seq {
			return i
		}
	}
	return w.tree.Cursor
}

func (w *Workflow) act(a keys.Action) tea.Cmd {
	switch {
	case !w.ladder.ready:
		w.keys = append(w.keys, a)
	case a == keys.NextPane:
		w.turn()
		return w.ladder.ShowMessage(false)
	case !w.asTree:
		return w.ladder.Update(a)
	case a == keys.NextFinding:
		return w.jump(1)
	case a == keys.PreviousFinding:
		return w.jump(-1)
	default:
		w.tree.Act(a)
	}
	return nil
}

// turn switches from the ladder to the tree, to the waterfall, and back. The same exchange stays selected.
func (w *Workflow) turn() {
	f, seq := w.ladder, w.Target().Exchange
	switch {
	case w.asTree:
		w.asTree, f.falls = false, true
		f.fall.choose(seq)
	case f.falls:
		f.turn(false)
	default:
		w.asTree = true
		w.tree.Move(w.branchOf(seq))
	}
}

// jump moves to the next exchange of the tree with a finding, wrapping around at the end.
func (w *Workflow) jump(step int) tea.Cmd {
	list := w.ladder.content.tree
	for i, beyond := range panel.Around(w.tree.Cursor, len(list), step) {
		if _, found := w.shared.Found.Worst(list[i].Seq); found {
			w.tree.Move(i)
			w.shared.SayIf(beyond, panel.OnFrom("finding", step))
			return nil
		}
	}
	return panel.Say("no further finding in this workflow")
}

func (w *Workflow) Target() analysis.Place {
	if list := w.ladder.content.tree; w.asTree && w.tree.Cursor < len(list) {
		return analysis.Place{Exchange: list[w.tree.Cursor].Seq}
	}
	return w.ladder.Target()
}

func (w *Workflow) Status() string {
	c := &w.ladder.content
	if !w.ladder.ready {
		return ""
	}
	words := text.Plural(len(c.seqs), "exchange")
	switch _, there := slices.BinarySearch(c.seqs, w.ladder.seq); {
	case c.more > 0 && !there:
		words = fmt.Sprintf("the first %s of %s; %d is not included", text.Number(len(c.seqs)), text.Number(len(c.seqs)+c.more),
			w.ladder.seq)
	case c.more > 0:
		words = fmt.Sprintf("the first %s of %s", text.Number(len(c.seqs)), text.Plural(len(c.seqs)+c.more, "exchange"))
	}
	if w.shared.Judged.Behind {
		words += " so far"
	}
	if n := len(c.maybe); n > 0 {
		words += fmt.Sprintf("; %d more may belong to it: %s", n, firstOf(c.maybe))
	}
	return words
}

// firstOf names the first few of some exchanges.
func firstOf(list []uint64) string {
	const named = 4
	words := fmt.Sprint(list[0])
	for _, n := range list[1:min(len(list), named)] {
		words += fmt.Sprintf(", %d", n)
	}
	if len(list) > named {
		words += ", …"
	}
	return words
}

func (w *Workflow) Click(y int) tea.Cmd {
	if !w.asTree {
		return w.ladder.Click(y)
	}
	w.tree.Click(y - 1) // below the heading
	return nil
}

func (w *Workflow) Why(a keys.Action) string {
	return panel.Unless(a != keys.ShowWorkflow, "this is the workflow of the exchange")
}

func (w *Workflow) View() []style.Line {
	f := w.ladder
	switch {
	case f.err != nil:
		return panel.Failure(f.err, f.window.Width)
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

// waiting explains why the workflow is not shown yet.
func (w *Workflow) waiting() string {
	s := w.shared
	switch {
	case w.ladder.loading != 0:
		return "reading the exchanges of the workflow …"
	case s.Judged.Err != nil:
		return "the cause of this exchange is unknown: checking has stopped"
	case s.Judged.Behind:
		return fmt.Sprintf("causes are still being read, %d %% …",
			min(100*s.Judged.Next/max(s.Info.Arrivals, 1), 99))
	}
	return "the cause of this exchange is known once its request has been read …"
}

// columns returns the list's columns, with room for the tree.
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
		Add(style.Dim, text.Pad(text.ClipStart(b.Stem+fmt.Sprint(b.Seq), c.Number), c.Number)+" ")
	if b.Absent {
		return row.Add(style.Dim, "not in the capture")
	}
	row = c.Add(row, &b.Entry)
	if words := cmp.Or(b.inferred(), b.Doubt()); words != "" {
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

// preview describes the selected exchange of the tree, and the evidence for its cause.
func (w *Workflow) preview() []style.Line {
	b := &w.ladder.content.tree[w.tree.Cursor]
	lines := []style.Line{
		style.Text(style.Dim, strings.Repeat("─", w.tree.Width)),
		style.Text(style.Strong, fmt.Sprintf(" %d ", b.Seq)).Add(style.Normal, b.Client+" → "+b.Agent+"  "+b.Request).
			Add(style.Dim, "  "+w.shared.Clock(b.Started)),
		style.Text(style.Normal, " ").Join(panel.Outcome(&b.Entry, 0)),
	}
	switch words := b.inferred(); {
	case b.Doubt() != "":
		return append(lines, style.Text(style.Dim, " "+b.Doubt()))
	case b.Parent == 0:
		return append(lines, style.Text(style.Dim, " no exchange shown here caused it"))
	case words != "":
		return append(lines, style.Text(style.Dim, fmt.Sprintf(" caused by %d, %s", b.Parent, words)))
	}
	return append(lines, style.Text(style.Dim, fmt.Sprintf(" caused by %d, proved: %s", b.Parent, b.By)))
}
