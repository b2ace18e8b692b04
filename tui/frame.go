package tui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// frame draws the screen: as many lines as it is high, none wider than it is.
func (v *screen) frame() []style.Line {
	m := v.inspector
	lines := append([]style.Line{v.titleLine()}, v.body()...)
	bottom := v.bottom()
	for len(lines) < m.height-len(bottom) {
		lines = append(lines, style.Line{})
	}
	lines = append(lines[:max(min(len(lines), m.height-len(bottom)), 0)], bottom...)
	lines = v.overlay(lines[:max(min(len(lines), m.height), 0)])
	for i := range lines {
		lines[i] = lines[i].Fit(max(m.width, 0))
	}
	return lines
}

// overlay puts what belongs to the prompt over the lines above it. The title stays.
func (v *screen) overlay(lines []style.Line) []style.Line {
	m := v.inspector
	if m.prompt == nil || m.question != nil {
		return lines
	}
	over := m.prompt.over(m.width)
	room := max(len(lines)-2, 0)
	over = over[:min(len(over), room)]
	copy(lines[max(len(lines)-1-len(over), 0):], over)
	return lines
}

// body draws what is between the title and the last line.
func (v *screen) body() []style.Line {
	m := v.inspector
	if m.panes.split() {
		return m.panes.draw()
	}
	return m.top().View()
}

// titleLine shows the open panels and the counts of the top one; where there are panes, those of the list.
func (v *screen) titleLine() style.Line {
	m := v.inspector
	where, status, _ := v.title()
	room := m.width - text.Width(status)
	if room < 12 {
		return style.Text(style.Title, where)
	}
	return style.Text(style.Title, text.Pad(where, room)).Add(style.Normal, status)
}

// title returns what the first line says at its beginning and at its end, and where in it the names of the panels begin.
func (v *screen) title() (where, status string, columns []int) {
	m := v.inspector
	status = m.top().Status()
	if m.panes.split() {
		status = m.list.Status()
	}
	status = text.Clean(status) + " "
	for i, p := range m.stack {
		if i > 0 {
			where += " ›"
		}
		columns = append(columns, text.Width(where)+1)
		where += " " + text.Clean(p.Title())
	}
	name := ""
	if m.shared.Info.Name != "" {
		name = " " + text.Clean(filepath.Base(m.shared.Info.Name)) + " ›"
	}
	if m.width-text.Width(status) < text.Width(name)+text.Width(where)+2 { // the panels matter more than the file's name
		name = ""
	}
	for i := range columns {
		columns[i] += text.Width(name)
	}
	return name + where, status, columns
}

// crumbAt returns the index of the panel whose name is at a column of the first line, or -1.
func (v *screen) crumbAt(x int) int {
	m := v.inspector
	_, _, columns := v.title()
	for i, p := range m.stack {
		if x >= columns[i] && x < columns[i]+text.Width(text.Clean(p.Title())) {
			return i
		}
	}
	return -1
}

// bottom returns the last line: what is to be said or, if there is nothing, the keys that can be struck, and at its end
// the state of the findings. What is too long for one line takes several, without the state.
func (v *screen) bottom() []style.Line {
	m := v.inspector
	state, look := v.state()
	room := max(m.width-text.Width(state)-2, 0)
	words, said := v.said()
	switch {
	case words == "" && m.prompt != nil:
		return []style.Line{m.prompt.line(m.width)}
	case words == "":
		return []style.Line{v.hintLine(room).Add(look, " "+state)}
	case m.question == nil && 1+text.Width(words) <= room:
		return []style.Line{style.Text(said, text.Pad(" "+words, room)).Add(look, " "+state)}
	}
	var lines []style.Line
	for _, piece := range text.Prose(words, max(m.width-1, 1)) {
		lines = append(lines, style.Text(said, text.Pad(" "+piece, m.width)))
	}
	return lines[:min(len(lines), max(m.height-1, 1))]
}

// said returns what is to be said, a question before all else; "" if there is nothing.
func (v *screen) said() (string, style.Style) {
	m := v.inspector
	switch {
	case m.question != nil:
		return m.question.words, style.Warning
	case m.prompt != nil:
		return "", style.Normal
	case m.shared.Message != "":
		return m.shared.Message, style.Strong
	case m.shared.FollowErr != "":
		return "! " + m.shared.FollowErr, style.Error
	case m.shared.Judged.Err != nil:
		return "! judging has stopped: " + m.shared.Judged.Err.Error(), style.Error
	}
	return "", style.Normal
}

// hintLine names as many keys as there is room for.
func (v *screen) hintLine(room int) style.Line {
	hints := style.Line{}
	used := 0
	for _, h := range v.hints() {
		if used+text.Width(h[0])+text.Width(h[1])+3 > room {
			break
		}
		used += text.Width(h[0]) + text.Width(h[1]) + 3
		hints = hints.Add(style.Strong, " "+h[0]).Add(style.Dim, " "+h[1]+" ")
	}
	return hints.Add(style.Normal, text.Blanks(room-used))
}

// hints returns the keys that the last line names, and what they do: help first, then the keys of the panel that have
// an effect now.
func (v *screen) hints() (hints [][2]string) {
	m := v.inspector
	if m.typing() {
		return [][2]string{
			{"enter", "keep"}, {"esc", "cancel"}, {"tab", "complete"}, {"↑↓", "move"}, {"ctrl-u", "clear"},
		}
	}
	var rows []*keys.Key
	for i := range keys.Table {
		if k := &keys.Table[i]; k.Short != "" && k.In&m.top().Scope() != 0 && m.why(k) == "" {
			rows = append(rows, k)
		}
	}
	slices.SortStableFunc(rows, func(a, b *keys.Key) int { return rank(a) - rank(b) })
	for _, k := range rows {
		if m.panes.split() && k.Action == keys.NextPane {
			continue // among panes tab does something else
		}
		label, _, _ := strings.Cut(k.Label, " ")
		hints = append(hints, [2]string{label, k.Short})
	}
	if m.panes.split() {
		hints = slices.Insert(hints, min(1, len(hints)), [2]string{"tab", "pane"})
	}
	return hints
}

func rank(k *keys.Key) int {
	switch k.Action {
	case keys.ShowHelp:
		return 0
	case keys.Leave, keys.Back:
		return 1
	}
	return 2
}

// state returns the worst findings, the progress of judging, what was lost, and whether the capture is live.
func (v *screen) state() (string, style.Style) {
	m := v.inspector
	s := m.shared
	var words []string
	worst, found := s.Found.WorstOfAll()
	look := style.Dim
	if found {
		var mark string
		mark, look = style.OfSeverity(worst)
		words = append(words, fmt.Sprintf("%s %s", mark, text.Plural(s.Found.Counts[worst], worst.String())))
	} else if s.Opened && !s.Judged.Behind && s.Judged.Counts.Judged > 0 {
		words = append(words, "no finding")
		if s.Judged.Counts.Unproved > 0 { // which would else look like success
			look = style.Warning
		}
	} else if s.Opened && !s.Judged.Behind {
		words = append(words, "nothing judged")
	}
	if c := &s.Judged.Counts; c.Failed > 0 && !found { // the findings panel says it too
		words = append(words, fmt.Sprintf("%d of %s failed", c.Failed, text.Plural(c.Calls, "call")))
	}
	switch {
	case s.Judged.Reading:
		words = append(words, "reading findings")
	case s.Judged.Behind:
		words = append(words, fmt.Sprintf("judging %d %%", min(100*s.Judged.Next/max(s.Info.Arrivals, 1), 99)))
	}
	if lost := max(s.Info.LostExchanges, s.Judged.Counts.Lost); lost > 0 {
		words = append(words, text.Plural(lost, "exchange")+" lost")
	}
	if s.Info.Crashes > 0 {
		words = append(words, "recorder killed")
	}
	if held := m.holding.words(); held != "" {
		words = append([]string{held}, words...)
		look = style.Warning
	}
	if m.outbox.sending != nil {
		words = append([]string{"sending, esc ends it"}, words...)
		look = style.Warning
	}
	switch {
	case s.Away:
		words = append(words, "server away")
		if look == style.Dim {
			look = style.Warning
		}
	case s.Info.Live:
		words = append(words, "live")
	case s.Opened && s.WasLive:
		words = append(words, "ended")
	}
	return strings.Join(words, ", ") + " ", look
}
