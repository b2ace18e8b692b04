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

// frame draws the screen: exactly as many lines as its height, none wider than its width.
func (v *screen) frame() []style.Line {
	lines := append([]style.Line{v.titleLine()}, v.body()...)
	bottom := v.bottom()
	for len(lines) < v.height-len(bottom) {
		lines = append(lines, style.Line{})
	}
	lines = append(lines[:max(min(len(lines), v.height-len(bottom)), 0)], bottom...)
	lines = v.overlay(lines[:max(min(len(lines), v.height), 0)])
	for i := range lines {
		lines[i] = lines[i].Fit(max(v.width, 0))
	}
	return lines
}

// overlay draws the prompt's extra lines over the lines above it. The title stays.
func (v *screen) overlay(lines []style.Line) []style.Line {
	if v.prompt == nil || v.question != nil {
		return lines
	}
	over := v.prompt.over(v.width)
	room := max(len(lines)-2, 0)
	over = over[:min(len(over), room)]
	copy(lines[max(len(lines)-1-len(over), 0):], over)
	return lines
}

// body draws the part between the title and the last line.
func (v *screen) body() []style.Line {
	if v.panes.split() {
		return v.panes.draw()
	}
	return v.top().View()
}

// titleLine shows the open panels and the counts of the top panel; with several panes, the counts of the list.
func (v *screen) titleLine() style.Line {
	where, status, _ := v.title()
	room := v.width - text.Width(status)
	if room < 12 {
		return style.Text(style.Title, where)
	}
	return style.Text(style.Title, text.Pad(where, room)).Add(style.Normal, status)
}

// title returns the beginning and the end of the first line, and the columns where the names of the panels begin.
func (v *screen) title() (where, status string, columns []int) {
	status = v.top().Status()
	if v.panes.split() {
		status = v.list.Status()
	}
	status = text.Clean(status) + " "
	for i, p := range v.stack {
		if i > 0 {
			where += " ›"
		}
		columns = append(columns, text.Width(where)+1)
		where += " " + text.Clean(p.Title())
	}
	name := ""
	if v.shared.Info.Name != "" {
		name = " " + text.Clean(filepath.Base(v.shared.Info.Name)) + " ›"
	}
	if v.width-text.Width(status) < text.Width(name)+text.Width(where)+2 { // the panels matter more than the file name
		name = ""
	}
	for i := range columns {
		columns[i] += text.Width(name)
	}
	return name + where, status, columns
}

// crumbAt returns the index of the panel whose name is at a column of the first line, or -1.
func (v *screen) crumbAt(x int) int {
	_, _, columns := v.title()
	for i, p := range v.stack {
		if x >= columns[i] && x < columns[i]+text.Width(text.Clean(p.Title())) {
			return i
		}
	}
	return -1
}

// bottom returns the last line: the message or, without one, the available keys. The state of the findings is at its
// end. Long messages take several lines, without the state.
func (v *screen) bottom() []style.Line {
	state, look := v.state()
	room := max(v.width-text.Width(state)-2, 0)
	words, said := v.said()
	switch {
	case words == "" && v.prompt != nil:
		return []style.Line{v.prompt.line(v.width)}
	case words == "":
		return []style.Line{v.hintLine(room).Add(look, " "+state)}
	case v.question == nil && 1+text.Width(words) <= room:
		return []style.Line{style.Text(said, text.Pad(" "+words, room)).Add(look, " "+state)}
	}
	var lines []style.Line
	for _, piece := range text.Prose(words, max(v.width-1, 1)) {
		lines = append(lines, style.Text(said, text.Pad(" "+piece, v.width)))
	}
	return lines[:min(len(lines), max(v.height-1, 1))]
}

// said returns the message to show; a question comes first. It returns "" without a message.
func (v *screen) said() (string, style.Style) {
	switch {
	case v.question != nil:
		return v.question.words, style.Warning
	case v.prompt != nil:
		return "", style.Normal
	case v.shared.Message != "":
		return v.shared.Message, style.Strong
	case v.shared.FollowErr != "":
		return "! " + v.shared.FollowErr, style.Error
	case v.shared.Judged.Err != nil:
		return "! checking has stopped: " + v.shared.Judged.Err.Error(), style.Error
	}
	return "", style.Normal
}

// hintLine lists as many keys as fit.
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

// hints returns the keys for the last line, and their effects: help first, then the keys of the panel that have an
// effect now.
func (v *screen) hints() (hints [][2]string) {
	if v.typing() {
		return [][2]string{
			{"enter", "keep"}, {"esc", "cancel"}, {"tab", "complete"}, {"↑↓", "move"}, {"ctrl-u", "clear"},
		}
	}
	var rows []*keys.Key
	for i := range keys.Table {
		if k := &keys.Table[i]; k.Short != "" && k.In&v.top().Scope() != 0 && v.why(k) == "" {
			rows = append(rows, k)
		}
	}
	slices.SortStableFunc(rows, func(a, b *keys.Key) int { return rank(a) - rank(b) })
	for _, k := range rows {
		if v.panes.split() && k.Action == keys.NextPane {
			continue // with several panes, tab does something else
		}
		label, _, _ := strings.Cut(k.Label, " ")
		hints = append(hints, [2]string{label, k.Short})
	}
	if v.panes.split() {
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

// state returns the worst findings, the progress of checking, the losses, and whether the capture is live.
func (v *screen) state() (string, style.Style) {
	s := v.shared
	var words []string
	worst, found := s.Found.WorstOfAll()
	look := style.Dim
	if found {
		var mark string
		mark, look = style.OfSeverity(worst)
		words = append(words, fmt.Sprintf("%s %s", mark, text.Plural(s.Found.Counts[worst], worst.String())))
	} else if s.Opened && !s.Judged.Behind && s.Judged.Counts.Judged > 0 {
		words = append(words, "no finding")
		if s.Judged.Counts.Unproved > 0 { // otherwise it would look like success
			look = style.Warning
		}
	} else if s.Opened && !s.Judged.Behind {
		words = append(words, "nothing judged")
	}
	if c := &s.Judged.Counts; c.Failed > 0 && !found { // the findings panel reports it too
		words = append(words, fmt.Sprintf("%d of %s failed", c.Failed, text.Plural(c.Calls, "call")))
	}
	switch {
	case s.Judged.Reading:
		words = append(words, "reading findings")
	case s.Judged.Behind:
		words = append(words, fmt.Sprintf("checking %d %%", min(100*s.Judged.Next/max(s.Info.Arrivals, 1), 99)))
	}
	if lost := max(s.Info.LostExchanges, s.Judged.Counts.Lost); lost > 0 {
		words = append(words, text.Plural(lost, "exchange")+" not recorded")
	}
	if s.Info.Crashes > 0 {
		words = append(words, "recorder killed")
	}
	if held := v.holding.words(); held != "" {
		words = append([]string{held}, words...)
		look = style.Warning
	}
	if v.outbox.sending != nil {
		words = append([]string{"sending, esc cancels"}, words...)
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
