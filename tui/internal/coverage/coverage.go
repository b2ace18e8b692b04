// Package coverage is the panel with the verdict on the capture so far. For each link, it shows which rules were
// observed, broken, or never observed.
package coverage

import (
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// A Panel shows the verdict on the capture so far. For each link, it shows which rules were observed, broken, or never
// observed, in the categories of reports.
type Panel struct {
	shared  *panel.Shared
	outline panel.Outline
	lines   []coverageLine
	verdict string
	known   coverage
	ready   bool
	loading uint64 // ticket
	again   bool   // more was judged since
	took    time.Duration
	width   int
	height  int
	err     error
}

// A coverageLine is a heading or a rule.
type coverageLine struct {
	words  string         // of a heading
	broken bool           // a rule under the heading was
	rule   *analysis.Rule // nil for a heading
	on     judgment.Coverage
}

// New returns the coverage panel. Begin reads the coverage.
func New(s *panel.Shared) *Panel { return &Panel{shared: s} }

func (c *Panel) Scope() keys.Scope { return keys.InCoverage }

func (c *Panel) Title() string { return "coverage" }

func (c *Panel) Target() analysis.Place { return analysis.Place{} }

// Begin returns the command that reads the coverage. Slow reads are less frequent.
func (c *Panel) Begin() tea.Cmd {
	pause := time.Duration(0)
	if c.ready {
		pause = max(500*time.Millisecond, min(20*c.took, 5*time.Second))
	}
	c.loading, c.again = c.shared.Ticket(), false
	return readCoverage(c.shared.Load, c.loading, pause)
}

func (c *Panel) Resize(width, height int) tea.Cmd {
	c.width, c.height = width, height
	c.outline.Height = max(height-len(c.verdictLines()), 0)
	c.outline.Window.Reveal()
	return nil
}

func (c *Panel) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case coverage:
		return c.set(msg)
	case panel.LinksChanged: // comes whenever more was judged
		if c.again = true; c.loading == 0 {
			return c.Begin()
		}
	case keys.Action:
		if msg == keys.FoldAll {
			c.outline.FoldAll()
		} else {
			c.outline.Act(msg)
		}
	}
	return nil
}

func (c *Panel) set(msg coverage) tea.Cmd {
	if msg.ticket != c.loading {
		return nil
	}
	c.loading, c.took, c.err = 0, msg.took, msg.err
	if msg.err == nil {
		c.ready, c.known = true, msg
		if !msg.whole {
			var ledger judgment.Ledger
			for i := range c.shared.Found.List {
				ledger.Add(&c.shared.Found.List[i])
			}
			msg.result.Found, msg.result.Critical = c.shared.Found.Counts, ledger.Critical
		}
		c.verdict = msg.result.Verdict(analysis.Error).String()
		c.Resize(c.width, c.height) // what the verdict needs is known now
		c.rebuild()
	}
	if c.again {
		return c.Begin()
	}
	return nil
}

// rebuild lists the coverage. The cursor stays at its line.
func (c *Panel) rebuild() {
	key := ""
	var rule *analysis.Rule
	if l := c.outline.At(c.outline.Cursor); l != nil {
		key = c.keyAbove(c.outline.Shown[c.outline.Cursor])
		rule = c.lines[l.Item].rule
	}
	c.lines = nil
	var lines []panel.OutlineLine
	at, heading := -1, ""
	add := func(l panel.OutlineLine, what coverageLine) {
		if l.Key != "" {
			heading = l.Key
		}
		if heading == key && what.rule == rule {
			at = len(lines)
		}
		l.Item = len(c.lines)
		lines, c.lines = append(lines, l), append(c.lines, what)
	}
	seen := make(map[*analysis.Rule]bool)
	for i := range c.known.on {
		on := &c.known.on[i]
		link := on.Link.String()
		add(panel.OutlineLine{Key: link}, coverageLine{words: on.String(), broken: on.Broken > 0})
		for rule := range on.Rules {
			seen[rule] = true
		}
		c.addCategories(add, link, on.Rules, c.shared.Load.Rules)
	}
	var never []*analysis.Rule
	for _, r := range c.shared.Load.Rules {
		if !seen[r] {
			never = append(never, r)
		}
	}
	if len(never) > 0 {
		add(panel.OutlineLine{Key: "never"}, coverageLine{
			words: fmt.Sprintf("never observed: %d of %d rules", len(never), len(c.shared.Load.Rules)),
		})
		c.addCategories(add, "never", nil, never)
	}
	c.outline.Set(lines, at)
}

// keyAbove returns the key of a line, or of the heading right above it.
func (c *Panel) keyAbove(line int) string {
	for ; line >= 0; line-- {
		if key := c.outline.Lines[line].Key; key != "" {
			return key
		}
	}
	return ""
}

// addCategories lists rules by category: broken ones first, then observed ones.
func (c *Panel) addCategories(
	add func(panel.OutlineLine, coverageLine), under string, on map[*analysis.Rule]judgment.Coverage, rules []*analysis.Rule,
) {
	for _, category := range analysis.Categories {
		var list []*analysis.Rule
		observed, broken := 0, 0
		for _, r := range rules {
			if r.Category != category {
				continue
			}
			list = append(list, r)
			if of := on[r]; of.Broken > 0 {
				broken++
				observed++
			} else if of.Applied > 0 {
				observed++
			}
		}
		if len(list) == 0 {
			continue
		}
		slices.SortStableFunc(list, func(a, b *analysis.Rule) int { return standing(on[a]) - standing(on[b]) })
		words := fmt.Sprintf("%s: %d of %d observed, %d broken", report.Kebab(category), observed, len(list), broken)
		if on == nil {
			words = fmt.Sprintf("%s: %d", report.Kebab(category), len(list))
		}
		add(panel.OutlineLine{Key: under + " " + string(category), Level: 1, Closed: true},
			coverageLine{words: words, broken: broken > 0})
		for _, r := range list {
			add(panel.OutlineLine{Level: 2}, coverageLine{rule: r, on: on[r]})
		}
	}
}

// standing orders rules: broken, observed, never observed.
func standing(c judgment.Coverage) int {
	switch {
	case c.Broken > 0:
		return 0
	case c.Applied > 0:
		return 1
	}
	return 2
}

func (c *Panel) Status() string {
	if !c.ready {
		return ""
	}
	words := text.Plural(len(c.known.on), "link")
	if c.shared.Judged.Behind || c.shared.Info.Live {
		words += " so far"
	}
	return words
}

// Fold folds or unfolds the heading under the cursor. It returns false if the cursor is not on a heading.
func (c *Panel) Fold() (tea.Cmd, bool) { return nil, c.outline.Fold() }

// Rule returns the rule under the cursor, or nil.
func (c *Panel) Rule() *analysis.Rule {
	if l := c.outline.At(c.outline.Cursor); l != nil {
		return c.lines[l.Item].rule
	}
	return nil
}

// verdictLines returns the totals, in the terms of check.
func (c *Panel) verdictLines() []style.Line {
	if !c.ready || c.height < 6 {
		return nil
	}
	var lines []style.Line
	for _, piece := range text.Prose(c.verdict, max(c.width-2, 8)) {
		lines = append(lines, style.Text(style.Strong, " "+piece))
	}
	return append(lines[:min(len(lines), c.height/3)], style.Line{})
}

func (c *Panel) View() []style.Line {
	switch {
	case c.err != nil:
		return panel.Failure(c.err, c.width)
	case !c.ready:
		return []style.Line{style.Text(style.Dim, "  reading the coverage …")}
	}
	lines := c.verdictLines()
	for i := c.outline.Top; i < c.outline.Bottom(); i++ {
		lines = append(lines, c.line(i))
	}
	return lines
}

// line draws a row.
func (c *Panel) line(i int) style.Line {
	l := c.outline.At(i)
	what := &c.lines[l.Item]
	row := c.outline.Row(i)
	indent := text.Blanks(2 * l.Level)
	switch {
	case what.rule == nil:
		mark, look := " ", style.Title
		if what.broken {
			mark = "!"
		}
		return row.Add(style.Error, mark).Add(look, indent+c.outline.FoldSign(l)+what.words)
	case what.on.Broken > 0:
		mark, look := style.OfSeverity(what.rule.Severity())
		return c.ruleLine(row.Add(look, mark+indent), what, fmt.Sprintf("broken %s of %s", text.Number(what.on.Broken),
			text.Number(what.on.Applied)))
	case what.on.Applied > 0:
		return c.ruleLine(row.Add(style.Good, "✓"+indent), what, text.Plural(what.on.Applied, "time"))
	}
	return c.ruleLine(row.Add(style.Dim, "–"+indent), what, "never")
}

func (c *Panel) ruleLine(row style.Line, what *coverageLine, times string) style.Line {
	return row.Add(style.Strong, text.Pad(what.rule.ID, min(34, c.width/2))+" ").Add(style.Normal, text.Pad(times, 18)).
		Add(style.Dim, what.rule.Title)
}

// coverage is the message of readCoverage.
type coverage struct {
	ticket uint64
	result *judgment.Result
	whole  bool // it counts all findings
	on     []report.Observed
	took   time.Duration
	err    error
}

// readCoverage reads the coverage so far, after a pause.
func readCoverage(l *load.Loader, ticket uint64, pause time.Duration) tea.Cmd {
	return func() tea.Msg {
		l.Pause(pause)
		begin := time.Now()
		info, err := l.Source.Info(l.Context)
		answer := coverage{ticket: ticket, err: err}
		answer.result, answer.whole = l.Observed()
		answer.result.Note(info)
		answer.on = report.ObservedOn(answer.result, l.Rules)
		answer.took = time.Since(begin)
		return answer
	}
}
