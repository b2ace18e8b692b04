// Package ladder is the panel of related exchanges. It shows them as arrows between client and agent, or as a
// waterfall, in which each exchange is a bar on a common time axis. Panel shows the exchanges of a task and its
// context. Workflow shows the exchanges that one request of a user has caused, through all agents involved, and also as
// a tree of causes and effects.
package ladder

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/sequence"
	"a2atap/tui/document"
	"a2atap/tui/internal/chart"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// A Panel shows the exchanges of a task and its context: as arrows between client and agent, or as a waterfall.
type Panel struct {
	shared      *panel.Shared
	seq         uint64       // the exchange from which it was opened
	window      panel.Window // over rows
	height      int
	content     content
	rows        []arrowRow
	message     arrowMessage // of the selected arrow
	load        *load.Loader // ends when the panel closes
	leave       context.CancelFunc
	chart       *chart.Ladder
	fall        waterfall
	falls       bool // the waterfall is shown
	ready       bool
	loading     uint64 // ticket
	reloadAgain bool
	took        time.Duration
	pendingKeys []keys.Action // keys that were pressed before the content was loaded
	err         error

	// fetch returns the command that loads the content, after a pause.
	fetch func(found load.Snapshot, pause time.Duration) tea.Cmd
}

// An arrowRow is an arrow, or one of its findings.
type arrowRow struct {
	arrow   int
	finding int // index into the arrow's findings; -1 for the arrow itself
}

// New returns the ladder of the task and the context of an exchange. Begin reads the exchanges.
func New(s *panel.Shared, seq uint64) *Panel {
	f := &Panel{shared: s, seq: seq, fall: waterfall{shared: s}}
	ctx, leave := context.WithCancel(s.Load.Context)
	f.load, f.leave = s.Load.Until(ctx), leave
	f.fetch = func(found load.Snapshot, pause time.Duration) tea.Cmd {
		return readLadder(f.load, f.loading, f.seq, found, pause)
	}
	return f
}

func (f *Panel) Scope() keys.Scope { return keys.InLadder }

func (f *Panel) Title() string {
	if f.falls {
		return "waterfall of " + fmt.Sprint(f.seq)
	}
	return "ladder of " + fmt.Sprint(f.seq)
}

// Leave cancels running work. Call it when the panel closes.
func (f *Panel) Leave() { f.leave() }

func (f *Panel) Begin() tea.Cmd {
	f.loading = f.shared.Ticket()
	f.reloadAgain = false
	return f.fetch(f.shared.Found.Snapshot(), min(10*f.took, 5*time.Second))
}

func (f *Panel) Resize(width, height int) tea.Cmd {
	f.window.Width, f.height = width, height
	f.chart = chart.NewLadder(f.content.arrows, width-1)
	f.window.Height = max(height-1-f.previewHeight(), 0)
	f.window.Reveal()
	f.fall.Resize(width, height)
	return f.ShowMessage(false)
}

func (f *Panel) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case keys.Action:
		return f.act(msg)
	case content:
		return f.setContent(msg)
	case arrowRead:
		f.setMessage(msg)
	case panel.ExchangesChanged:
		return f.reloadIfRelated(msg.Seqs)
	case panel.FindingsChanged:
		return f.reloadIfRelated(msg.Seqs)
	}
	return nil
}

func (f *Panel) act(a keys.Action) tea.Cmd {
	switch {
	case !f.ready:
		f.pendingKeys = append(f.pendingKeys, a)
	case a == keys.NextPane:
		f.turn(!f.falls)
	case f.falls:
		if !f.fall.act(a) {
			return panel.Say("no further finding in this waterfall")
		}
	case a == keys.NextFinding:
		return f.jump(1)
	case a == keys.PreviousFinding:
		return f.jump(-1)
	default:
		f.window.Act(a)
	}
	return f.ShowMessage(false)
}

// turn switches to the waterfall, or to the arrows. The same exchange stays selected.
func (f *Panel) turn(falls bool) {
	seq := f.Target().Exchange
	f.falls = falls
	if falls {
		f.fall.choose(seq)
	} else if f.Target().Exchange != seq {
		f.window.Move(f.first(seq))
	}
}

// reloadIfRelated loads the ladder again if one of the changed exchanges may belong to it.
func (f *Panel) reloadIfRelated(seqs []uint64) tea.Cmd {
	last := uint64(0)
	if n := len(f.content.seqs); n > 0 {
		last = f.content.seqs[n-1]
	}
	if !slices.ContainsFunc(seqs, func(seq uint64) bool {
		_, mine := slices.BinarySearch(f.content.seqs, seq)
		return mine || seq > last
	}) {
		return nil
	}
	if f.loading != 0 {
		f.reloadAgain = true
		return nil
	}
	return f.Begin()
}

func (f *Panel) setContent(msg content) tea.Cmd {
	if msg.ticket != f.loading {
		return nil
	}
	selected, was := f.selected()
	f.loading, f.err, f.took = 0, msg.err, msg.took
	if msg.err != nil {
		return nil
	}
	f.content = msg
	f.chart = chart.NewLadder(msg.arrows, f.window.Width-1)
	f.rows = f.rows[:0]
	for i := range msg.arrows {
		f.rows = append(f.rows, arrowRow{i, -1})
		for k := range msg.arrows[i].Findings {
			f.rows = append(f.rows, arrowRow{i, k})
		}
	}
	f.window.Length = len(f.rows)
	f.window.Move(f.find(selected, was))
	f.fall.set(msg.lanes)
	f.ready = true
	cmds := []tea.Cmd{f.ShowMessage(true)}
	for _, a := range f.pendingKeys {
		cmds = append(cmds, f.act(a))
	}
	f.pendingKeys = nil
	if f.reloadAgain {
		cmds = append(cmds, f.Begin())
	}
	return tea.Batch(cmds...)
}

// TurnTo moves to another exchange if the ladder contains it, and reports whether it does.
func (f *Panel) TurnTo(seq uint64) bool {
	if f.seq == seq {
		return f.err == nil
	}
	_, there := slices.BinarySearch(f.content.seqs, seq)
	if !there || !f.ready || f.err != nil || f.content.alone || f.content.more > 0 {
		return false
	}
	f.seq = seq
	f.window.Move(f.first(seq))
	f.fall.choose(seq)
	return true
}

// find returns the row of a previously selected arrow, or else the first row of the exchange from which the panel was
// opened.
func (f *Panel) find(selected sequence.Arrow, was bool) int {
	for i, r := range f.rows {
		a := &f.content.arrows[r.arrow]
		if was && a.Exchange == selected.Exchange && a.Event == selected.Event && a.Response == selected.Response ||
			!was && a.Exchange == f.seq {
			return i
		}
	}
	return f.window.Cursor
}

// first returns the first row of an exchange, or the cursor's row if it has none.
func (f *Panel) first(seq uint64) int {
	for i, r := range f.rows {
		if f.content.arrows[r.arrow].Exchange == seq {
			return i
		}
	}
	return f.window.Cursor
}

// selected returns the arrow under the cursor, if there is one.
func (f *Panel) selected() (sequence.Arrow, bool) {
	if f.window.Cursor >= len(f.rows) {
		return sequence.Arrow{}, false
	}
	return f.content.arrows[f.rows[f.window.Cursor].arrow], true
}

func (f *Panel) Target() analysis.Place {
	if f.falls && f.fall.selected() > 0 {
		return f.fall.Target()
	}
	a, ok := f.selected()
	if !ok {
		return analysis.Place{Exchange: f.seq}
	}
	at := analysis.Place{Exchange: a.Exchange, Response: a.Response}
	if a.Event > 0 {
		at = at.Event(a.Event)
	}
	return at
}

// jump moves to the next finding in a direction, wrapping around at the end.
func (f *Panel) jump(step int) tea.Cmd {
	for i, beyond := range panel.Around(f.window.Cursor, len(f.rows), step) {
		if f.rows[i].finding >= 0 {
			f.window.Move(i)
			f.shared.SayIf(beyond, panel.OnFrom("finding", step))
			return f.ShowMessage(false)
		}
	}
	return panel.Say("no further finding in this ladder")
}

func (f *Panel) Status() string {
	if !f.ready {
		return ""
	}
	words := text.Plural(len(f.content.seqs), "exchange")
	if f.content.alone {
		return words + " nearby: no task or context"
	}
	if f.content.more > 0 {
		words += " of " + text.Number(len(f.content.seqs)+f.content.more)
	}
	for _, id := range f.content.tasks[:min(len(f.content.tasks), 1)] {
		words += ", task " + panel.ShortID(id)
	}
	return words
}

func (f *Panel) View() []style.Line {
	switch {
	case f.err != nil:
		return panel.Failure(f.err, f.window.Width)
	case !f.ready:
		return []style.Line{style.Text(style.Dim, "  searching for exchanges of the same task and context …")}
	case f.falls:
		return f.fall.View()
	}
	lines := []style.Line{style.Text(style.Strong, " "+f.chart.Header())}
	for i := f.window.Top; i < f.window.Bottom(); i++ {
		lines = append(lines, f.line(i))
	}
	if f.previewHeight() == 0 {
		return lines
	}
	for len(lines) < f.height-f.previewHeight() {
		lines = append(lines, style.Line{})
	}
	return append(lines, f.preview()...)
}

func (f *Panel) line(i int) style.Line {
	r := f.rows[i]
	a := f.content.arrows[r.arrow]
	row := f.window.Row(i)
	if r.finding >= 0 {
		mark, look := chart.MarkOf(&a, r.finding)
		return row.Add(look, text.Blanks(chart.Margin-1)+mark+" "+a.Findings[r.finding])
	}
	from := f.content.arrows[0].At
	if f.shared.Deltas && r.arrow > 0 {
		from = f.content.arrows[r.arrow-1].At
	}
	look := style.Normal
	switch {
	case a.Broken:
		look = style.Error
	case a.Exchange == f.seq:
		look = style.Strong
	}
	return row.Add(look, f.chart.Arrow(a, a.At.Sub(from)))
}

func (f *Panel) Click(y int) tea.Cmd {
	if f.falls {
		f.fall.window.Click(y - 1) // below the heading
		return nil
	}
	f.window.Click(y - 1) // below the names
	return f.ShowMessage(false)
}

// previewHeight is the number of lines at the bottom that describe the selected arrow.
func (f *Panel) previewHeight() int {
	if f.height < 14 {
		return 0
	}
	return max(4, f.height*2/5)
}

// ShowMessage returns the command that reads the message of the selected arrow, unless it is loaded. It cancels a load
// for another arrow. With again, it reads the message in any case, since the message may have grown.
func (f *Panel) ShowMessage(again bool) tea.Cmd {
	a, ok := f.selected()
	p := &f.message
	if ok && !again && sameMessage(&a, &p.of) && p.width == f.window.Width {
		return nil
	}
	if p.stop != nil {
		p.stop()
		p.stop, p.ticket = nil, 0
	}
	if !ok || f.previewHeight() == 0 {
		p.of, p.lines = sequence.Arrow{}, nil
		return nil
	}
	if !sameMessage(&a, &p.of) {
		p.lines, p.err = nil, nil
	}
	p.of, p.width = a, f.window.Width
	p.ticket = f.shared.Ticket()
	ctx, stop := context.WithCancel(f.load.Context)
	p.stop = stop
	return readArrow(f.load.Until(ctx), p.ticket, a, max(f.content.ends, 1), max(p.width-1, 8))
}

// setMessage stores a loaded message.
func (f *Panel) setMessage(msg arrowRead) {
	p := &f.message
	if msg.ticket != p.ticket {
		return
	}
	p.stop()
	p.stop, p.ticket = nil, 0
	p.lines, p.err = msg.lines, msg.err
}

// preview describes the selected arrow: its place, its findings, and its message.
func (f *Panel) preview() []style.Line {
	a, ok := f.selected()
	if !ok {
		return nil
	}
	lines := []style.Line{
		style.Text(style.Dim, strings.Repeat("─", f.window.Width)),
		style.Text(style.Strong, " "+text.Clean(a.From)+" → "+text.Clean(a.To)).Add(style.Normal, "  "+a.Label).
			Add(style.Dim, "  exchange "+fmt.Sprint(a.Exchange)+", "+f.shared.Clock(a.At)),
	}
	at := f.Target()
	for _, finding := range f.shared.Found.Of(a.Exchange) {
		here := finding.Place.Response == at.Response && (a.Event == 0 || finding.Place.Part == at.Part)
		if here && slices.Contains(a.Findings, finding.Rule.ID) {
			for _, l := range document.FindingLines(&finding, f.window.Width-2) {
				lines = append(lines, style.Text(style.Normal, " ").Join(l.Line))
			}
		}
	}
	switch p := &f.message; {
	case p.err != nil:
		lines = append(lines, style.Text(style.Error, " ! "+p.err.Error()))
	case p.ticket != 0 && len(p.lines) == 0:
		lines = append(lines, style.Text(style.Dim, " …"))
	default:
		for _, l := range p.lines {
			lines = append(lines, style.Text(style.Normal, " ").Join(l.Line))
		}
	}
	if room := f.previewHeight(); len(lines) > room {
		left := len(lines) - room + 1
		lines = append(lines[:room-1], style.Text(style.Title, fmt.Sprintf(" … %s; enter opens it", text.Plural(left, "more line"))))
	}
	return lines
}
