package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/tui/keys"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// A findingsPanel lists the findings, worse ones first, in groups if the user wants, and explains the rule of the
// selected one.
type findingsPanel struct {
	shared *shared
	list   outline
	by     findingGrouping
	groups []findingGroup
	held   heldFinding // what the cursor stays at
	rule   window      // over the lines that explain the rule
	inRule bool        // keys move in the rule
	width  int
	height int
}

func newFindings(s *shared) *findingsPanel {
	f := &findingsPanel{shared: s}
	f.rebuild()
	return f
}

func (f *findingsPanel) place() keys.Scope { return keys.InFindings }

func (f *findingsPanel) title() string { return "findings" }

func (f *findingsPanel) resize(width, height int) tea.Cmd {
	f.width, f.height = width, height
	f.fitPanes()
	return nil
}

// fitPanes divides the height between the list and the rule, by half if both need that much.
func (f *findingsPanel) fitPanes() {
	f.list.height = f.height
	if f.height >= 8 {
		f.list.height = min(max(f.list.length, 3), max(f.height*2/5, 3))
	}
	f.list.move(f.list.cursor)
	f.rule.length = len(f.explain())
	f.rule.height = max(f.height-f.list.height-1, 0)
	f.rule.move(f.rule.cursor)
}

// first puts the cursor on the first finding of an exchange, if it has one.
func (f *findingsPanel) first(seq uint64) {
	f.rebuild()
	for i := range f.list.lines {
		l := &f.list.lines[i]
		if l.key == "" && f.shared.found.List[l.item].Place.Exchange == seq {
			f.list.reveal(i)
			break
		}
	}
	f.hold()
}

// selected returns the finding under the cursor, the first one under a heading, or nil.
func (f *findingsPanel) selected() *analyzer.Finding {
	i := f.list.under()
	if i < 0 || f.list.lines[i].item >= len(f.shared.found.List) {
		return nil
	}
	return &f.shared.found.List[f.list.lines[i].item]
}

func (f *findingsPanel) target() analyzer.Place {
	if found := f.selected(); found != nil {
		return found.Place
	}
	return analyzer.Place{}
}

func (f *findingsPanel) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case findingsChanged:
		f.rebuild()
		f.fitPanes()
	case keys.Action:
		f.act(msg)
	}
	return nil
}

func (f *findingsPanel) act(a keys.Action) {
	switch {
	case a == keys.NextPane:
		f.inRule = !f.inRule && f.rule.height > 0
	case a == keys.ChangeGrouping:
		f.regroup()
		f.fitPanes()
	case a == keys.FoldAll:
		f.list.foldAll()
		f.moved()
	case f.inRule && a != keys.NextFinding && a != keys.PreviousFinding:
		f.rule.scroll(a)
	case a == keys.NextFinding:
		f.step(1)
	case a == keys.PreviousFinding:
		f.step(-1)
	case f.list.act(a):
		f.moved()
	}
}

// moved explains the rule of what is under the cursor now.
func (f *findingsPanel) moved() {
	f.hold()
	f.rule = window{}
	f.fitPanes()
}

// step moves to the next finding in a direction, past headings, which it unfolds.
func (f *findingsPanel) step(step int) {
	if f.list.cursor >= len(f.list.shown) {
		return
	}
	for i := f.list.shown[f.list.cursor] + step; i >= 0 && i < len(f.list.lines); i += step {
		if f.list.lines[i].key == "" {
			f.list.reveal(i)
			f.moved()
			return
		}
	}
}

// fold folds or unfolds the group under the cursor. It returns false if none is there.
func (f *findingsPanel) fold() (tea.Cmd, bool) {
	if f.inRule || !f.list.fold() {
		return nil, false
	}
	f.moved()
	return nil, true
}

// scroll moves a window over text, which has no cursor.
func (w *window) scroll(a keys.Action) {
	last := max(w.length-w.height, 0)
	page := max(w.height-1, 1)
	lines := map[keys.Action]int{
		keys.Down: 1, keys.Up: -1, keys.PageDown: page, keys.PageUp: -page, keys.Top: -w.length, keys.Bottom: w.length,
	}
	w.top = min(max(w.top+lines[a], 0), last)
	w.cursor = w.top
}

func (f *findingsPanel) status() string {
	counts := &f.shared.found.Counts
	words := fmt.Sprintf("%s, %s, %s", text.Plural(counts[analyzer.Error], "error"),
		text.Plural(counts[analyzer.Warning], "warning"), text.Plural(counts[analyzer.Note], "note"))
	if more := f.shared.found.Total() - len(f.shared.found.List); more > 0 {
		words += fmt.Sprintf("; the first %s are listed", text.Number(len(f.shared.found.List)))
	}
	if f.by != findingsFlat {
		words += "; " + f.by.words()
	}
	if c := &f.shared.judged.Counts; c.Failed > 0 {
		words += fmt.Sprintf("; %d of %s failed", c.Failed, text.Plural(c.Calls, "call"))
	}
	return words
}

func (f *findingsPanel) view() []style.Line {
	var lines []style.Line
	if f.list.length == 0 {
		lines = append(lines, style.Text(style.Dim, "  "+f.nothing()))
	}
	for i := f.list.top; i < f.list.bottom(); i++ {
		lines = append(lines, f.line(i))
	}
	for len(lines) < f.list.height {
		lines = append(lines, style.Line{})
	}
	if f.rule.height == 0 {
		return lines
	}
	head := "── rule "
	if f.inRule {
		head = "── rule (tab: back to the findings) "
	}
	if f.rule.length > f.rule.height {
		head += fmt.Sprintf("── %d–%d of %d ", f.rule.top+1, f.rule.bottom(), f.rule.length)
	}
	lines = append(lines, style.Text(style.Title, head+strings.Repeat("─", max(f.width-text.Width(head), 0))))
	explained := f.explain()
	return append(lines, explained[min(f.rule.top, len(explained)):min(f.rule.bottom(), len(explained))]...)
}

// nothing explains why there is no finding.
func (f *findingsPanel) nothing() string {
	counts := f.shared.judged.Counts
	switch {
	case f.shared.judged.Behind || !f.shared.opened:
		return "no finding so far; " + f.shared.running()
	case counts.Judged == 0:
		return "no finding, but nothing was judged: no rule applies to any of the exchanges"
	}
	words := fmt.Sprintf("no finding in %s judged", text.Plural(counts.Judged, "exchange"))
	if f.shared.info.Live {
		words += " so far"
	}
	if counts.Failed > 0 {
		words += fmt.Sprintf("; %d of %s failed", counts.Failed, text.Plural(counts.Calls, "call"))
	}
	if counts.Unproved > 0 {
		words += ", and a client got no call through"
	}
	return words
}

func (f *findingsPanel) line(i int) style.Line {
	l := f.list.at(i)
	if l.key != "" {
		return f.groupLine(i, l)
	}
	found := &f.shared.found.List[l.item]
	mark, look := style.OfSeverity(found.Severity)
	cursor := " "
	if i == f.list.cursor {
		cursor = ">"
	}
	return style.Line{Selected: i == f.list.cursor && !f.inRule}.Add(style.Strong, cursor).Add(look, mark+" ").
		Add(style.Dim, text.Blanks(2*l.level)+text.PadLeft(fmt.Sprint(found.Place.Exchange), 5)+" ").
		Add(style.Strong, text.Pad(f.nameOf(found), min(30, f.width/2))+" ").Add(style.Normal, found.Message)
}

// explain returns the text about the selected finding and its rule.
func (f *findingsPanel) explain() []style.Line {
	found := f.selected()
	if found == nil {
		return nil
	}
	room := max(f.width-2, 8)
	var lines []style.Line
	paragraph := func(look style.Style, name, words string) {
		if words == "" {
			return
		}
		if name != "" {
			lines = append(lines, style.Line{}, style.Text(style.Name, " "+name))
		}
		for _, piece := range text.Prose(words, room) {
			lines = append(lines, style.Text(look, " "+piece))
		}
	}
	mark, look := style.OfSeverity(found.Severity)
	paragraph(look, "", mark+" "+found.Message)
	paragraph(style.Dim, "", "at "+found.Place.String())
	paragraph(style.Normal, "", fmt.Sprintf("%s, %s; %s at fault on %s → %s; %s", found.Rule.Level, found.Severity,
		found.Side,
		found.Link.Client, found.Link.Agent, strings.Join(found.Sections(), ", ")))
	if len(found.Also) > 0 {
		paragraph(style.Normal, "", "reported in place of "+strings.Join(found.Also, ", "))
	}
	paragraph(style.Normal, "Rule", found.Rule.ID+": "+found.Rule.Title)
	for _, c := range ruleChapters(found.Rule) {
		paragraph(style.Normal, c.name, c.words)
	}
	return lines
}
