// Package textview is the panel that shows an exchange's contents as text: artifacts assembled from their chunks, and
// the messages between them, next to their events.
package textview

import (
	"context"
	"slices"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/internal/assembly"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/panel"
	"a2atap/tui/load"
)

// A Panel shows an exchange's contents as text: artifacts assembled from their chunks, and the messages between them,
// next to their events.
type Panel struct {
	shared      *panel.Shared
	seq         uint64
	goal        analysis.Place // initial event of the cursor
	width       int
	height      int
	rows        panel.Window // over the events
	text        panel.Window // over the lines of text, which has no cursor
	inText      bool         // keys move in the text
	follow      bool         // the cursor stays on the newest event
	shown       *shown
	source      source                    // data read, while no command uses it
	marks       map[int]analysis.Severity // by number of the event: the worst finding
	loading     uint64                    // ticket; 0 without a running command
	reloadAgain bool
	took        time.Duration
	pendingKeys []keys.Action // keys pressed before the text was ready
	ctx         context.Context
	leave       context.CancelFunc
	err         error
}

// New returns the text of an exchange, with the cursor at an event. Begin reads the exchange.
func New(s *panel.Shared, goal analysis.Place) *Panel {
	p := &Panel{shared: s, seq: goal.Exchange, goal: goal}
	p.ctx, p.leave = context.WithCancel(s.Load.Context)
	p.mark()
	return p
}

func (p *Panel) Scope() keys.Scope { return keys.InText }

func (p *Panel) Title() string { return "text of " + strconv.FormatUint(p.seq, 10) }

// Leave cancels running work. Call it when the panel closes.
func (p *Panel) Leave() { p.leave() }

// Begin returns the command that reads the exchange.
func (p *Panel) Begin() tea.Cmd { return p.readOn(0) }

func (p *Panel) readOn(pause time.Duration) tea.Cmd {
	p.loading, p.reloadAgain = p.shared.Ticket(), false
	return readText(p.ctx, p.shared.Load, p.loading, p.seq, p.source, p.textColumns(), pause)
}

// Target returns the selected event, or the exchange.
func (p *Panel) Target() analysis.Place {
	at := analysis.Place{Exchange: p.seq}
	if p.shown == nil || p.rows.Cursor >= len(p.shown.events) {
		return at
	}
	at.Response = true
	return at.Event(p.shown.events[p.rows.Cursor].Number)
}

// beside reports whether events and text are side by side.
func (p *Panel) beside() bool { return p.width >= 100 }

// rowColumns returns the width of the events next to the text.
func (p *Panel) rowColumns() int { return min(max(p.width*2/5, 50), 64) }

// textColumns returns the width of the text.
func (p *Panel) textColumns() int {
	if p.beside() && (p.shown == nil || p.shown.stream) {
		return p.width - p.rowColumns() - 4
	}
	return max(p.width-2, 2)
}

func (p *Panel) Resize(width, height int) tea.Cmd {
	p.width, p.height = width, max(height, 0)
	p.fit()
	return p.layAgain()
}

// layAgain returns the command that lays out the text again if the width has changed.
func (p *Panel) layAgain() tea.Cmd {
	if p.shown == nil || p.loading != 0 || p.shown.width == p.textColumns() {
		return nil
	}
	p.loading = p.shared.Ticket()
	return layText(p.shared.Load, p.loading, p.source, p.textColumns())
}

// fit divides the height between events and text.
func (p *Panel) fit() {
	p.rows.Length, p.text.Length = 0, 0
	p.rows.Height, p.text.Height = 0, p.height
	if p.shown == nil {
		return
	}
	p.text.Length = len(p.shown.lines)
	if !p.shown.stream {
		p.inText = true
		p.text.Scroll(keys.None)
		return
	}
	p.rows.Length = len(p.shown.events)
	switch {
	case p.beside():
		p.rows.Height = max(p.height-1, 0)
		p.text.Height = p.rows.Height
	case p.height >= 8:
		p.rows.Height = min(max(p.rows.Length, 1), (p.height-2)*2/5)
		p.text.Height = p.height - 2 - p.rows.Height
	}
	p.rows.Reveal()
	p.text.Scroll(keys.None)
}

func (p *Panel) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case keys.Action:
		return p.act(msg)
	case read:
		return p.setText(msg)
	case panel.ExchangesChanged:
		if _, mine := slices.BinarySearch(msg.Seqs, p.seq); mine {
			return p.reload()
		}
	case panel.FindingsChanged:
		if _, mine := slices.BinarySearch(msg.Seqs, p.seq); mine {
			p.mark()
		}
	}
	return nil
}

// reload continues to read a growing exchange, less often if that takes long.
func (p *Panel) reload() tea.Cmd {
	if p.loading != 0 {
		p.reloadAgain = true
		return nil
	}
	return p.readOn(min(10*p.took, 5*time.Second))
}

// mark finds the events with findings.
func (p *Panel) mark() {
	p.marks = make(map[int]analysis.Severity)
	for _, f := range p.shared.Found.Of(p.seq) {
		if k, is := load.EventNumber(f.Place); is {
			p.marks[k] = max(p.marks[k], f.Severity)
		}
	}
}

func (p *Panel) setText(msg read) tea.Cmd {
	if msg.ticket != p.loading {
		return nil
	}
	p.loading, p.err, p.source = 0, msg.err, msg.source
	if msg.took > 0 {
		p.took = msg.took
	}
	if msg.err != nil {
		return nil
	}
	var cmds []tea.Cmd
	if msg.shown != nil {
		cmds = append(cmds, p.show(msg.shown))
	}
	switch {
	case p.loading != 0: // laid out again
	case msg.source.More:
		cmds = append(cmds, p.readOn(0))
	case p.reloadAgain:
		cmds = append(cmds, p.reload())
	}
	return tea.Batch(cmds...)
}

// show shows a text. The cursor stays on its event, and on the newest one if it follows.
func (p *Panel) show(shown *shown) tea.Cmd {
	first := p.shown == nil
	p.shown = shown
	p.fit()
	if p.goal.Part != "" {
		p.seek()
	}
	if p.follow {
		p.rows.Move(p.rows.Length - 1)
		p.text.Scroll(keys.Bottom)
	}
	var cmds []tea.Cmd
	if first {
		keys := p.pendingKeys
		p.pendingKeys = nil
		for _, a := range keys {
			cmds = append(cmds, p.act(a))
		}
	}
	return tea.Batch(append(cmds, p.layAgain())...)
}

// seek moves to the initial event of the cursor, once it has been read.
func (p *Panel) seek() {
	k, is := load.EventNumber(p.goal)
	if !is {
		p.goal = analysis.Place{}
		return
	}
	i, there := slices.BinarySearchFunc(p.shown.events, k, func(e assembly.Event, k int) int { return e.Number - k })
	if there {
		p.goal = analysis.Place{}
		p.rows.Move(i)
		p.reveal()
	}
}

func (p *Panel) act(a keys.Action) tea.Cmd {
	if p.shown == nil {
		p.pendingKeys = append(p.pendingKeys, a)
		return nil
	}
	p.goal = analysis.Place{}
	switch {
	case a == keys.NextPane:
		p.inText = !p.inText || !p.shown.stream
	case a == keys.NextFinding, a == keys.PreviousFinding:
		return p.jump(a)
	case p.inText:
		p.text.Scroll(a)
		p.follow = a == keys.Bottom || p.follow && a != keys.Up && a != keys.PageUp && a != keys.Top
	case p.rows.Act(a):
		p.follow = a == keys.Bottom
		p.reveal()
	}
	return nil
}

// reveal scrolls to the text that the selected event delivered.
func (p *Panel) reveal() {
	if p.rows.Cursor >= len(p.shown.first) {
		return
	}
	n := p.shown.first[p.rows.Cursor]
	if n < 0 || n >= p.text.Top && n < p.text.Bottom() {
		return
	}
	p.text.Top = n - p.text.Height/3
	p.text.Scroll(keys.None)
}

// jump moves to the next event with a finding, wrapping around at the end.
func (p *Panel) jump(a keys.Action) tea.Cmd {
	step := 1
	if a == keys.PreviousFinding {
		step = -1
	}
	for i, beyond := range panel.Around(p.rows.Cursor, len(p.shown.events), step) {
		if _, found := p.marks[p.shown.events[i].Number]; found {
			p.shared.SayIf(beyond, panel.OnFrom("finding", step))
			p.follow = false
			p.rows.Move(i)
			p.reveal()
			return nil
		}
	}
	return panel.Say("no further finding in the events of this exchange")
}

func (p *Panel) Click(y int) tea.Cmd {
	switch {
	case p.shown == nil || !p.shown.stream:
	case y <= p.rows.Height && p.rows.Click(y-1): // below the heading
		p.inText, p.follow, p.goal = false, false, analysis.Place{}
		p.reveal()
	case !p.beside() && y > p.rows.Height:
		p.inText = true
	}
	return nil
}

func (p *Panel) Why(a keys.Action) string {
	return panel.Unless(a != keys.NextPane || p.shown == nil || p.shown.stream,
		"the answer is not a stream: it has no events")
}
