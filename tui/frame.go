package tui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"a2atap/analyzer"
)

// frame draws the screen: as many lines as it is high, none wider than it is.
func (m *inspector) frame() []line {
	lines := append([]line{m.titleLine()}, m.body()...)
	for len(lines) < m.height-1 {
		lines = append(lines, line{})
	}
	lines = append(lines[:max(min(len(lines), m.height-1), 0)], m.lastLine())
	lines = m.overlay(lines[:max(min(len(lines), m.height), 0)])
	for i := range lines {
		lines[i] = lines[i].fit(max(m.width, 0))
	}
	return lines
}

// overlay puts what belongs to the prompt over the lines above it. The title stays.
func (m *inspector) overlay(lines []line) []line {
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
func (m *inspector) body() []line {
	if m.split() {
		return m.drawPanes()
	}
	return m.top().view()
}

// titleLine shows the open panels and the counts of the top one; where there are panes, those of the list.
func (m *inspector) titleLine() line {
	where, status, _ := m.title()
	room := m.width - width(status)
	if room < 12 {
		return text(styleTitle, where)
	}
	return text(styleTitle, pad(where, room)).add(styleText, status)
}

// title returns what the first line says at its beginning and at its end, and where in it the names of the panels begin.
func (m *inspector) title() (where, status string, columns []int) {
	status = m.top().status()
	if m.split() {
		status = m.list.status()
	}
	status = clean(status) + " "
	for i, p := range m.stack {
		if i > 0 {
			where += " ›"
		}
		columns = append(columns, width(where)+1)
		where += " " + clean(p.title())
	}
	name := ""
	if m.shared.info.Name != "" {
		name = " " + clean(filepath.Base(m.shared.info.Name)) + " ›"
	}
	if m.width-width(status) < width(name)+width(where)+2 { // the panels matter more than the file's name
		name = ""
	}
	for i := range columns {
		columns[i] += width(name)
	}
	return name + where, status, columns
}

// crumbAt returns the index of the panel whose name is at a column of the first line, or -1.
func (m *inspector) crumbAt(x int) int {
	_, _, columns := m.title()
	for i, p := range m.stack {
		if x >= columns[i] && x < columns[i]+width(clean(p.title())) {
			return i
		}
	}
	return -1
}

// lastLine shows the last message or the available keys, and at its end the state of the findings.
func (m *inspector) lastLine() line {
	state, look := m.state()
	room := max(m.width-width(state)-2, 0)
	switch {
	case m.question != nil:
		return text(styleWarning, pad(" "+m.question.words, m.width))
	case m.prompt != nil:
		return m.prompt.line(m.width)
	case m.shared.message != "":
		return text(styleStrong, pad(" "+m.shared.message, room)).add(look, " "+state)
	case m.shared.followErr != "":
		return text(styleError, pad(" ! "+m.shared.followErr, room)).add(look, " "+state)
	case m.shared.judged.err != nil:
		return text(styleError, pad(" ! judging has stopped: "+m.shared.judged.err.Error(), room)).add(look, " "+state)
	}
	hints := line{}
	used := 0
	for _, h := range m.hints() {
		if used+width(h[0])+width(h[1])+3 > room {
			break
		}
		used += width(h[0]) + width(h[1]) + 3
		hints = hints.add(styleStrong, " "+h[0]).add(styleDim, " "+h[1]+" ")
	}
	return hints.add(styleText, blanks(room-used)).add(look, " "+state)
}

// hints returns the keys that the last line names, and what they do: help first, then the keys of the panel that have
// an effect now.
func (m *inspector) hints() (hints [][2]string) {
	if m.typing() {
		return [][2]string{
			{"enter", "keep"}, {"esc", "cancel"}, {"tab", "complete"}, {"↑↓", "move"}, {"ctrl-u", "clear"},
		}
	}
	var rows []*key
	for i := range keys {
		if k := &keys[i]; k.short != "" && k.in&m.top().place() != 0 && k.why(m) == "" {
			rows = append(rows, k)
		}
	}
	slices.SortStableFunc(rows, func(a, b *key) int { return rank(a) - rank(b) })
	for _, k := range rows {
		if m.split() && k.do == nextPane {
			continue // among panes tab does something else
		}
		label, _, _ := strings.Cut(k.label, " ")
		hints = append(hints, [2]string{label, k.short})
	}
	if m.split() {
		hints = slices.Insert(hints, min(1, len(hints)), [2]string{"tab", "pane"})
	}
	return hints
}

func rank(k *key) int {
	switch k.do {
	case showHelp:
		return 0
	case leave, goBack:
		return 1
	}
	return 2
}

// state returns the worst findings, the progress of judging, what was lost, and whether the capture is live.
func (m *inspector) state() (string, style) {
	s := m.shared
	var words []string
	worst, found := s.found.worstOfAll()
	look := styleDim
	if found {
		var mark string
		mark, look = sign(worst)
		words = append(words, fmt.Sprintf("%s %s", mark, plural(s.found.counts[worst], worst.String())))
	} else if s.opened && !s.judged.behind && s.judged.counts.Judged > 0 {
		words = append(words, "no finding")
		if s.judged.counts.Unproved > 0 { // which would else look like success
			look = styleWarning
		}
	} else if s.opened && !s.judged.behind {
		words = append(words, "nothing judged")
	}
	if c := &s.judged.counts; c.Failed > 0 && !found { // the findings panel says it too
		words = append(words, fmt.Sprintf("%d of %s failed", c.Failed, plural(c.Calls, "call")))
	}
	switch {
	case s.judged.reading:
		words = append(words, "reading findings")
	case s.judged.behind:
		words = append(words, fmt.Sprintf("judging %d %%", min(100*s.judged.next/max(s.info.Arrivals, 1), 99)))
	}
	if lost := max(s.info.LostExchanges, s.judged.counts.Lost); lost > 0 {
		words = append(words, plural(lost, "exchange")+" lost")
	}
	if s.info.Crashes > 0 {
		words = append(words, "recorder killed")
	}
	if m.doing.sending != nil {
		words = append([]string{"sending, esc ends it"}, words...)
		look = styleWarning
	}
	switch {
	case s.away:
		words = append(words, "server away")
		if look == styleDim {
			look = styleWarning
		}
	case s.info.Live:
		words = append(words, "live")
	case s.opened && s.wasLive:
		words = append(words, "ended")
	}
	return strings.Join(words, ", ") + " ", look
}

// exchangesOf returns the exchanges that have some findings or a mark, in order.
func exchangesOf(findings []analyzer.Finding, marks []uint8) []uint64 {
	var seqs []uint64
	for i := range findings {
		seqs = append(seqs, findings[i].Place.Exchange)
	}
	for seq, mark := range marks {
		if mark > 0 {
			seqs = append(seqs, uint64(seq))
		}
	}
	slices.Sort(seqs)
	return slices.Compact(seqs)
}
