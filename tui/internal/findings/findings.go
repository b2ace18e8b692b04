// Package findings is the panel that lists the findings, worse ones first and optionally in groups. It explains the
// rule of the selected finding.
package findings

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/page"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// A Panel lists the findings, worse ones first and optionally in groups. It explains the rule of the selected finding.
type Panel struct {
	shared *panel.Shared
	list   panel.Outline
	by     findingGrouping
	groups []findingGroup
	held   heldFinding  // what the cursor stays at
	rule   panel.Window // over the lines that explain the rule
	inRule bool         // keys move in the rule
	width  int
	height int
}

// New returns the list of findings.
func New(s *panel.Shared) *Panel {
	f := &Panel{shared: s}
	f.rebuild()
	return f
}

func (f *Panel) Scope() keys.Scope { return keys.InFindings }

func (f *Panel) Title() string { return "findings" }

func (f *Panel) Resize(width, height int) tea.Cmd {
	f.width, f.height = width, height
	f.FitPanes()
	return nil
}

// FitPanes divides the height between the list and the rule. From eight lines on, the list gets as many lines as it
// has, at most two fifths of the height and at least three. On less height, the list gets all of it.
func (f *Panel) FitPanes() {
	f.list.Height = f.height
	if f.height >= 8 {
		f.list.Height = min(max(f.list.Length, 3), max(f.height*2/5, 3))
	}
	f.list.Move(f.list.Cursor)
	f.rule.Length = len(f.explain())
	f.rule.Height = max(f.height-f.list.Height-1, 0)
	f.rule.Move(f.rule.Cursor)
}

// First moves the cursor to the first finding of an exchange, if it has one.
func (f *Panel) First(seq uint64) {
	f.rebuild()
	for i := range f.list.Lines {
		l := &f.list.Lines[i]
		if l.Key == "" && f.shared.Found.List[l.Item].Place.Exchange == seq {
			f.list.Reveal(i)
			break
		}
	}
	f.hold()
}

// Selected returns the finding under the cursor, or the first one under a heading, or nil.
func (f *Panel) Selected() *analysis.Finding {
	i := f.list.Under()
	if i < 0 || f.list.Lines[i].Item >= len(f.shared.Found.List) {
		return nil
	}
	return &f.shared.Found.List[f.list.Lines[i].Item]
}

func (f *Panel) Target() analysis.Place {
	if found := f.Selected(); found != nil {
		return found.Place
	}
	return analysis.Place{}
}

func (f *Panel) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case panel.FindingsChanged:
		f.rebuild()
		f.FitPanes()
	case keys.Action:
		f.act(msg)
	}
	return nil
}

func (f *Panel) act(a keys.Action) {
	switch {
	case a == keys.NextPane:
		f.inRule = !f.inRule && f.rule.Height > 0
	case a == keys.ChangeGrouping:
		f.regroup()
		f.FitPanes()
	case a == keys.FoldAll:
		f.list.FoldAll()
		f.moved()
	case f.inRule && a != keys.NextFinding && a != keys.PreviousFinding:
		f.rule.Scroll(a)
	case a == keys.NextFinding:
		f.step(1)
	case a == keys.PreviousFinding:
		f.step(-1)
	case f.list.Act(a):
		f.moved()
	}
}

// moved explains the rule of the line now under the cursor.
func (f *Panel) moved() {
	f.hold()
	f.rule = panel.Window{}
	f.FitPanes()
}

// step moves to the next finding in a direction. It skips and unfolds headings, and wraps around at the end.
func (f *Panel) step(step int) {
	if f.list.Cursor >= len(f.list.Shown) {
		return
	}
	for i, beyond := range panel.Around(f.list.Shown[f.list.Cursor], len(f.list.Lines), step) {
		if f.list.Lines[i].Key == "" {
			f.shared.SayIf(beyond, panel.OnFrom("finding", step))
			f.list.Reveal(i)
			f.moved()
			return
		}
	}
}

// Fold folds or unfolds the group under the cursor. It returns false if the cursor is not on a group.
func (f *Panel) Fold() (tea.Cmd, bool) {
	if f.inRule || !f.list.Fold() {
		return nil, false
	}
	f.moved()
	return nil, true
}

func (f *Panel) Status() string {
	counts := &f.shared.Found.Counts
	words := fmt.Sprintf("%s, %s, %s", text.Plural(counts[analysis.Error], "error"),
		text.Plural(counts[analysis.Warning], "warning"), text.Plural(counts[analysis.Note], "note"))
	if more := f.shared.Found.Total() - len(f.shared.Found.List); more > 0 {
		words += fmt.Sprintf("; the first %s are listed", text.Number(len(f.shared.Found.List)))
	}
	if f.by != findingsFlat {
		words += "; " + f.by.words()
	}
	if c := &f.shared.Judged.Counts; c.Failed > 0 {
		words += fmt.Sprintf("; %d of %s failed", c.Failed, text.Plural(c.Calls, "call"))
	}
	return words
}

func (f *Panel) View() []style.Line {
	var lines []style.Line
	if f.list.Length == 0 {
		lines = append(lines, style.Text(style.Dim, "  "+f.nothing()))
	}
	for i := f.list.Top; i < f.list.Bottom(); i++ {
		lines = append(lines, f.line(i))
	}
	for len(lines) < f.list.Height {
		lines = append(lines, style.Line{})
	}
	if f.rule.Height == 0 {
		return lines
	}
	head := "── rule "
	if f.inRule {
		head = "── rule (tab: back to the findings) "
	}
	if f.rule.Length > f.rule.Height {
		head += fmt.Sprintf("── %d–%d of %d ", f.rule.Top+1, f.rule.Bottom(), f.rule.Length)
	}
	lines = append(lines, style.Text(style.Title, head+strings.Repeat("─", max(f.width-text.Width(head), 0))))
	explained := f.explain()
	return append(lines, explained[min(f.rule.Top, len(explained)):min(f.rule.Bottom(), len(explained))]...)
}

// nothing explains why there are no findings.
func (f *Panel) nothing() string {
	counts := f.shared.Judged.Counts
	switch {
	case f.shared.Judged.Behind || !f.shared.Opened:
		return "no finding so far; " + f.shared.Running()
	case counts.Judged == 0:
		return "no finding, but nothing was checked: no rule applies to any of the exchanges"
	}
	words := fmt.Sprintf("no finding in %s checked", text.Plural(counts.Judged, "exchange"))
	if f.shared.Info.Live {
		words += " so far"
	}
	if counts.Failed > 0 {
		words += fmt.Sprintf("; %d of %s failed", counts.Failed, text.Plural(counts.Calls, "call"))
	}
	if counts.Unproved > 0 {
		words += ", and no call of one client succeeded"
	}
	return words
}

func (f *Panel) line(i int) style.Line {
	l := f.list.At(i)
	if l.Key != "" {
		return f.groupLine(i, l)
	}
	found := &f.shared.Found.List[l.Item]
	mark, look := style.OfSeverity(found.Severity)
	return f.list.RowIf(i, !f.inRule).Add(look, mark+" ").
		Add(style.Dim, text.Blanks(2*l.Level)+text.PadLeft(fmt.Sprint(found.Place.Exchange), 5)+" ").
		Add(style.Strong, text.Pad(f.nameOf(found), min(30, f.width/2))+" ").Add(style.Normal, found.Message())
}

// explain returns the text about the selected finding and its rule.
func (f *Panel) explain() []style.Line {
	found := f.Selected()
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
	paragraph(look, "", mark+" "+found.Message())
	paragraph(style.Dim, "", "at "+found.Place.String())
	paragraph(style.Normal, "", fmt.Sprintf("%s, %s; %s at fault on %s → %s; %s", found.Rule.Level, found.Severity,
		strings.TrimSpace(found.Side.String()+" "+found.Program()),
		found.Link.Client, found.Link.Agent, strings.Join(found.Sections(), ", ")))
	if len(found.Also) > 0 {
		paragraph(style.Normal, "", "reported instead of "+strings.Join(found.Also, ", "))
	}
	paragraph(style.Normal, "Rule", found.Rule.ID+": "+found.Rule.Title)
	for _, c := range page.RuleChapters(found.Rule) {
		paragraph(style.Normal, c.Name, c.Words)
	}
	return lines
}

func (f *Panel) Click(y int) tea.Cmd {
	if f.list.Click(y) {
		f.inRule = false
		f.moved()
	}
	return nil
}

func (f *Panel) Why(a keys.Action) string {
	return panel.Unless(a != keys.FoldAll || f.by != findingsFlat, panel.NothingGrouped)
}

// rebuild lists the current findings. The cursor stays at its finding or heading.
func (f *Panel) rebuild() {
	list := f.shared.Found.List
	groups := groupFindings(list, f.by)
	var lines []panel.OutlineLine
	at := -1
	f.groups = groups
	for n := range groups {
		level := 0
		if f.by != findingsFlat {
			key := f.by.words() + " " + groups[n].name
			if f.held.key == key {
				at = len(lines)
			}
			lines = append(lines, panel.OutlineLine{Key: key, Item: n})
			level = 1
		}
		for _, i := range groups[n].found {
			if at < 0 && f.held.key == "" && f.held.finding != nil && sameFinding(&list[i], f.held.finding) {
				at = len(lines)
			}
			lines = append(lines, panel.OutlineLine{Level: level, Item: i})
		}
	}
	f.list.Set(lines, at)
}

// heldFinding is the anchor of the cursor: a heading, by its key, or a finding.
type heldFinding struct {
	key     string
	finding *analysis.Finding
}

// hold anchors the cursor to the line under it.
func (f *Panel) hold() {
	f.held = heldFinding{}
	if l := f.list.At(f.list.Cursor); l != nil && l.Key != "" {
		f.held.key = l.Key
	}
	if found := f.Selected(); found != nil {
		copied := *found
		f.held.finding = &copied
	}
}

// regroup switches to the next grouping, and keeps the cursor at its finding.
func (f *Panel) regroup() {
	f.by = (f.by + 1) % findingGroupings
	f.held.key = ""
	f.rebuild()
	f.hold()
}

// nameOf returns the part of a finding's name that its heading does not show: the rule, or, under a rule, the side at
// fault.
func (f *Panel) nameOf(found *analysis.Finding) string {
	if f.by == findingsByRule {
		return found.Link.Client + " → " + found.Link.Agent
	}
	return found.Rule.ID
}

// groupLine draws a heading.
func (f *Panel) groupLine(i int, l *panel.OutlineLine) style.Line {
	g := &f.groups[l.Item]
	mark, look := style.OfSeverity(g.worst())
	var counts []string
	for _, s := range analysis.WorstFirst {
		if n := g.counts[s]; n > 0 {
			counts = append(counts, text.Plural(n, s.String()))
		}
	}
	return f.list.RowIf(i, !f.inRule).Add(look, mark+" ").
		Add(style.Title, f.list.FoldSign(l)+text.Pad(g.name, min(30, f.width/2))+" ").
		Add(style.Normal, fmt.Sprintf("%s in %s", strings.Join(counts, ", "), text.Plural(g.exchanges, "exchange"))).
		Add(style.Dim, "  "+g.title)
}
