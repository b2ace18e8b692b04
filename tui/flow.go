package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
)

// A flow is the panel of a ladder: the exchanges of a task and its context, as arrows between the ends.
type flow struct {
	scene   *scene
	seq     uint64 // the exchange from which it was asked for
	window  window // over rows
	height  int
	woven   woven
	rows    []flowRow
	chart   *ladder
	ready   bool
	weaving uint64 // ticket
	again   bool
	took    time.Duration
	early   []action // keys that were struck before there was something to move in
	err     error
}

// A flowRow is an arrow, or something that is wrong with it.
type flowRow struct {
	arrow   int
	finding int // index into the arrow's findings; -1 for the arrow itself
}

func newFlow(s *scene, seq uint64) *flow { return &flow{scene: s, seq: seq} }

func (f *flow) place() place  { return inLadder }
func (f *flow) title() string { return "ladder of " + fmt.Sprint(f.seq) }

func (f *flow) begin() tea.Cmd {
	f.weaving = f.scene.ticket()
	f.again = false
	found := f.scene.found.within(1, f.scene.info.Exchanges)
	return f.scene.load.weave(f.weaving, f.seq, found, min(10*f.took, 5*time.Second))
}

func (f *flow) resize(width, height int) tea.Cmd {
	f.window.width, f.height = width, height
	f.chart = newLadder(f.woven.arrows, width-1)
	f.window.height = max(height-1-f.previewHeight(), 0)
	f.window.reveal()
	return nil
}

// previewHeight is how many lines at the bottom tell about the selected arrow.
func (f *flow) previewHeight() int {
	if f.height < 14 {
		return 0
	}
	return 4
}

func (f *flow) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case action:
		return f.act(msg)
	case woven:
		return f.take(msg)
	case changed:
		return f.touched(msg.seqs)
	case learned:
		return f.touched(msg.seqs)
	}
	return nil
}

func (f *flow) act(a action) tea.Cmd {
	switch {
	case !f.ready:
		f.early = append(f.early, a)
	case a == nextFinding:
		return f.jump(1)
	case a == previousFinding:
		return f.jump(-1)
	default:
		f.window.act(a)
	}
	return nil
}

// touched draws the ladder again if what changed may belong to it.
func (f *flow) touched(seqs []uint64) tea.Cmd {
	last := uint64(0)
	if n := len(f.woven.seqs); n > 0 {
		last = f.woven.seqs[n-1]
	}
	if !slices.ContainsFunc(seqs, func(seq uint64) bool {
		_, mine := slices.BinarySearch(f.woven.seqs, seq)
		return mine || seq > last
	}) {
		return nil
	}
	if f.weaving != 0 {
		f.again = true
		return nil
	}
	return f.begin()
}

func (f *flow) take(msg woven) tea.Cmd {
	if msg.ticket != f.weaving {
		return nil
	}
	selected, was := f.selected()
	f.weaving, f.err, f.took = 0, msg.err, msg.took
	if msg.err != nil {
		return nil
	}
	f.woven = msg
	f.chart = newLadder(msg.arrows, f.window.width-1)
	f.rows = f.rows[:0]
	for i := range msg.arrows {
		f.rows = append(f.rows, flowRow{i, -1})
		for k := range msg.arrows[i].Findings {
			f.rows = append(f.rows, flowRow{i, k})
		}
	}
	f.window.length = len(f.rows)
	f.window.move(f.find(selected, was))
	f.ready = true
	var cmds []tea.Cmd
	for _, a := range f.early {
		cmds = append(cmds, f.act(a))
	}
	f.early = nil
	if f.again {
		cmds = append(cmds, f.begin())
	}
	return tea.Batch(cmds...)
}

// find returns the row of an arrow that was selected before, or the first one of the exchange that the user came from.
func (f *flow) find(selected Arrow, was bool) int {
	for i, r := range f.rows {
		a := &f.woven.arrows[r.arrow]
		if was && a.Exchange == selected.Exchange && a.Event == selected.Event && a.Response == selected.Response ||
			!was && a.Exchange == f.seq {
			return i
		}
	}
	return f.window.cursor
}

// selected returns the arrow under the cursor, if there is one.
func (f *flow) selected() (Arrow, bool) {
	if f.window.cursor >= len(f.rows) {
		return Arrow{}, false
	}
	return f.woven.arrows[f.rows[f.window.cursor].arrow], true
}

func (f *flow) target() analyzer.Place {
	a, ok := f.selected()
	if !ok {
		return analyzer.Place{Exchange: f.seq}
	}
	at := analyzer.Place{Exchange: a.Exchange, Response: a.Response}
	if a.Event > 0 {
		at = at.Event(a.Event)
	}
	return at
}

// jump moves to the next finding in a direction.
func (f *flow) jump(step int) tea.Cmd {
	for i := f.window.cursor + step; i >= 0 && i < len(f.rows); i += step {
		if f.rows[i].finding >= 0 {
			f.window.move(i)
			return nil
		}
	}
	return say("no further finding in this ladder")
}

func (f *flow) status() string {
	if !f.ready {
		return ""
	}
	words := plural(len(f.woven.seqs), "exchange")
	if f.woven.alone {
		return words + " around it: it has no task or context"
	}
	if f.woven.more > 0 {
		words += " of " + number(len(f.woven.seqs)+f.woven.more)
	}
	for _, id := range f.woven.tasks[:min(len(f.woven.tasks), 1)] {
		words += ", task " + short(id)
	}
	return words
}

func (f *flow) view() []line {
	switch {
	case f.err != nil:
		return []line{text(styleError, "! "+f.err.Error())}
	case !f.ready:
		return []line{text(styleDim, "  looking for exchanges of the same task and context …")}
	}
	lines := []line{text(styleStrong, " "+f.chart.header())}
	for i := f.window.top; i < f.window.bottom(); i++ {
		lines = append(lines, f.line(i))
	}
	if f.previewHeight() == 0 {
		return lines
	}
	for len(lines) < f.height-f.previewHeight() {
		lines = append(lines, line{})
	}
	return append(lines, f.preview()...)
}

func (f *flow) line(i int) line {
	r := f.rows[i]
	a := f.woven.arrows[r.arrow]
	cursor := " "
	if i == f.window.cursor {
		cursor = ">"
	}
	row := line{selected: i == f.window.cursor}.add(styleStrong, cursor)
	if r.finding >= 0 {
		mark, look := a.mark(r.finding)
		return row.add(look, blanks(timeWidth+numberWidth-1)+mark+" "+a.Findings[r.finding])
	}
	from := f.woven.arrows[0].At
	if f.scene.deltas && r.arrow > 0 {
		from = f.woven.arrows[r.arrow-1].At
	}
	look := styleText
	switch {
	case a.Broken:
		look = styleError
	case a.Exchange == f.seq:
		look = styleStrong
	}
	return row.add(look, f.chart.arrow(a, a.At.Sub(from)))
}

// preview tells more about the selected arrow than fits between two lines.
func (f *flow) preview() []line {
	a, ok := f.selected()
	if !ok {
		return nil
	}
	lines := []line{
		text(styleDim, strings.Repeat("─", f.window.width)),
		text(styleStrong, " "+clean(a.From)+" → "+clean(a.To)).add(styleText, "  "+a.Label).add(styleDim, "  exchange "+fmt.Sprint(a.Exchange)+", "+clock(a.At)),
	}
	at := f.target()
	for _, finding := range f.scene.found.of(a.Exchange) {
		if finding.Place.Response == at.Response && (a.Event == 0 || finding.Place.Part == at.Part) && slices.Contains(a.Findings, finding.Rule.ID) {
			for _, l := range findingLines(&finding, f.window.width-2) {
				lines = append(lines, text(styleText, " ").join(l.line))
			}
		}
	}
	return lines[:min(len(lines), f.previewHeight())]
}
