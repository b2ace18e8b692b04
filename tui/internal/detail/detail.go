// Package detail is the panel of one exchange: its request, its response, the events of its stream, and the findings at
// their places. Package document lays it out, in a command. Rows of events are read when they become visible, since
// there may be a great many. A search covers everything, including folded and invisible parts.
//
// A Panel is made of its content, which has the layout and the cursor, and of parts that read the content and move in
// it: the rows of events, the folds, and the search.
package detail

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/document"
	"a2atap/tui/internal/find"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// A Panel is the panel of one exchange: its request, its response, the events of its stream.
type Panel struct {
	content
	rows        eventRows
	folds       folds
	search      search
	leave       context.CancelFunc
	loading     uint64        // ticket of the exchange being loaded
	reloadAgain bool          // the exchange has changed since it was loaded
	took        time.Duration // duration of the last load
	pendingKeys []keys.Action // keys pressed before the document was ready; the inspector performs them then
}

// loaded is the message of readOn.
type loaded struct {
	load.Excerpt
	found  []analysis.Finding // from the reading
	ticket uint64
	took   time.Duration
	err    error
}

// New returns the detail of an exchange, with the cursor at a place of it. Begin reads the exchange.
func New(s *panel.Shared, goal analysis.Place) *Panel {
	d := &Panel{content: content{
		shared: s, Seq: goal.Exchange, goal: goal, limit: document.FirstShown, pattern: s.Pattern, opened: -1,
	}}
	d.rows = eventRows{in: &d.content, known: make(map[int]eventRow)}
	d.folds.in = &d.content
	d.search = search{in: &d.content, rows: &d.rows, quiet: true}
	if s.Pattern != nil {
		d.limit = document.MaxShown
	}
	if s.Pattern != nil && goal.Part == "" && !goal.Response { // the caller wants no specific place
		d.search.step = 1
	}
	d.ctx, d.leave = context.WithCancel(s.Load.Context)
	return d
}

func (d *Panel) Scope() keys.Scope { return keys.InDetail }

// ShowAs copies the display settings of another detail.
func (d *Panel) ShowAs(other *Panel) { d.mode, d.folding.All = other.mode, other.folding.All }

// SetMode changes how bodies and events are shown.
func (d *Panel) SetMode(v document.View) tea.Cmd {
	d.mode = v
	return d.build()
}

// TakeKeys returns the keys pressed before the document was ready, once it is.
func (d *Panel) TakeKeys() (pressed []keys.Action) {
	if d.Ready {
		pressed, d.pendingKeys = d.pendingKeys, nil
	}
	return pressed
}

// Leave cancels running work. Call it when the panel closes.
func (d *Panel) Leave() { d.leave() }

// Begin returns the command that loads the exchange.
func (d *Panel) Begin() tea.Cmd {
	d.loading = d.shared.Ticket()
	d.reloadAgain = false
	return d.readOn(0)
}

// readOn returns the command that continues reading, after a pause.
func (d *Panel) readOn(pause time.Duration) tea.Cmd {
	ctx, load, ticket, seq, sofar := d.ctx, d.shared.Load, d.loading, d.Seq, d.Excerpt
	return func() tea.Msg {
		load.Pause(pause)
		begin := time.Now()
		var found []analysis.Finding
		if r := load.Reading.Now(); r != nil {
			if err := load.KeptCards(r.Head().Cards); err != nil {
				return loaded{ticket: ticket, Excerpt: sofar, took: time.Since(begin), err: err}
			}
			found = load.Reading.FindingsOf(ctx, seq)
		}
		after, err := sofar.Read(ctx, load.Source, seq, nil)
		return loaded{ticket: ticket, Excerpt: after, found: found, took: time.Since(begin), err: err}
	}
}

func (d *Panel) Target() analysis.Place {
	at := analysis.Place{Exchange: d.Seq}
	if i := d.EventAtCursor(); i >= 0 {
		return load.EventAt(d.Excerpt.Exchange, d.Excerpt.Events.Number(i))
	}
	return at
}

func (d *Panel) Resize(width, height int) tea.Cmd {
	d.Window.Height = max(height, 0)
	d.Window.Reveal()
	if d.width == width {
		return d.rows.read()
	}
	d.width = width
	return d.build()
}

func (d *Panel) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case keys.Action:
		return d.act(msg)
	case loaded:
		return d.load(msg)
	case document.Built:
		return d.setDocument(msg)
	case rowsRead:
		return d.rows.take(msg)
	case eventsSearched:
		return d.search.searched(msg)
	case panel.ExchangesChanged:
		if _, mine := slices.BinarySearch(msg.Seqs, d.Seq); mine {
			return d.reload()
		}
	case panel.FindingsChanged:
		if _, mine := slices.BinarySearch(msg.Seqs, d.Seq); mine {
			return d.build()
		}
	case panel.CardsLearned:
		return d.build()
	case panel.NotesChanged:
		if msg.Seqs == nil || slices.Contains(msg.Seqs, d.Seq) {
			return d.build()
		}
	}
	return nil
}

// reload continues to read a growing exchange, less often if reading is slow.
func (d *Panel) reload() tea.Cmd {
	if d.loading != 0 {
		d.reloadAgain = true
		return nil
	}
	d.loading = d.shared.Ticket()
	d.reloadAgain = false
	return d.readOn(min(10*d.took, 5*time.Second))
}

func (d *Panel) load(msg loaded) tea.Cmd {
	if msg.ticket != d.loading {
		return nil
	}
	d.loading, d.took, d.Err = 0, msg.took, msg.err
	if msg.err != nil {
		return nil
	}
	first := d.Exchange == nil
	at := d.spot()
	d.Excerpt, d.kept = msg.Excerpt, msg.found
	var cmds []tea.Cmd
	if first || !d.More {
		cmds = append(cmds, d.build())
	}
	if d.Ready {
		d.grow(at)
		cmds = append(cmds, d.rows.read(), d.search.searchOn(), d.search.advance())
	}
	switch {
	case d.More:
		d.loading = d.shared.Ticket()
		cmds = append(cmds, d.readOn(0))
	case d.reloadAgain:
		cmds = append(cmds, d.reload())
	}
	return tea.Batch(cmds...)
}

// setDocument shows a new document.
func (d *Panel) setDocument(msg document.Built) tea.Cmd {
	if msg.Ticket != d.building {
		return nil
	}
	d.building = 0
	d.set(msg.Doc)
	d.folds.seekNear()
	return tea.Batch(d.seekGoal(), d.search.searchOn(), d.search.toMatch(), d.search.advance(), d.rows.read())
}

// AtRest reports whether everything read is shown, and nothing is being loaded except the exchange itself.
func (d *Panel) AtRest() bool { return d.Ready && d.rows.ticket == 0 && d.building == 0 }

// seekGoal moves to the goal, once its content has been read.
func (d *Panel) seekGoal() tea.Cmd {
	if _, inEvent := d.goal.EventNumber(); d.sought || d.More && inEvent {
		return nil
	}
	d.sought = true
	return d.seek(d.goal)
}

// TurnTo moves to a place of the exchange. A place that names the whole exchange does not move the cursor.
func (d *Panel) TurnTo(at analysis.Place) tea.Cmd {
	if at.Part == "" && !at.Response {
		return nil
	}
	d.goal, d.sought = at, false
	if !d.Ready {
		return nil
	}
	return tea.Batch(d.seekGoal(), d.rows.read())
}

func (d *Panel) act(a keys.Action) tea.Cmd {
	if !d.Ready {
		d.pendingKeys = append(d.pendingKeys, a)
		return nil
	}
	d.sought, d.toEnd = true, a == keys.Bottom && d.More
	d.search.stay()
	switch a {
	case keys.Open:
		return d.toggle()
	case keys.FoldNode:
		return d.folds.fold()
	case keys.UnfoldNode:
		return d.folds.toggleNode()
	case keys.FoldAll:
		return d.folds.foldAll()
	case keys.NextMatch:
		return d.search.goOn(1)
	case keys.PreviousMatch:
		return d.search.goOn(-1)
	case keys.ChangeView:
		d.mode = (d.mode + 1) % document.Views
		d.search.restart()
		return d.build()
	case keys.LoadMore:
		d.limit = min(4*d.limit, document.MaxShown)
		return d.build()
	case keys.NextPane:
		d.nextSection()
	default:
		d.Window.Act(a)
	}
	return d.rows.read()
}

func (d *Panel) Click(y int) tea.Cmd {
	d.sought = d.Window.Click(y) || d.sought
	return nil
}

func (d *Panel) Why(a keys.Action) string {
	switch a {
	case keys.FoldNode, keys.UnfoldNode, keys.FoldAll:
		return d.folds.whyNot(a)
	case keys.Open:
		return panel.Unless(!d.Ready || d.EventAtCursor() >= 0 || d.folds.underCursor() != document.NoNode,
			"the selected line is neither an event nor an object or array")
	case keys.LoadMore:
		switch {
		case !d.doc.Cut:
			return "the whole exchange is shown"
		case d.limit >= document.MaxShown:
			return "the limit is reached; a2atap show prints all of it"
		}
	}
	return ""
}

// LookFor searches the exchange for a pattern, and moves to the first match at or after the cursor. A nil pattern ends
// the search.
func (d *Panel) LookFor(p *find.Pattern) tea.Cmd { return d.search.lookFor(p) }

// Light is LookFor for a search that began in another panel.
func (d *Panel) Light(p *find.Pattern) tea.Cmd {
	cmd := d.LookFor(p)
	d.search.quiet = true
	return cmd
}

// CancelSearch stops a running search, and reports whether one was running.
func (d *Panel) CancelSearch() bool { return d.search.cancel() }

// toggle folds or unfolds the object or array, or opens or closes the event, under the cursor.
func (d *Panel) toggle() tea.Cmd {
	if d.folds.underCursor() != document.NoNode {
		return d.folds.toggleNode()
	}
	return d.toggleEvent()
}

// Jump moves to the next finding in a direction, and reports whether there is one. It unfolds a folded one.
func (d *Panel) Jump(step int) (tea.Cmd, bool) {
	d.sought, d.toEnd = true, false
	n := d.Window.Cursor
	if l := d.CursorLine(); step < 0 || l == nil || len(l.Hidden) == 0 { // folded findings belong to the line
		n += step
	}
	for n >= 0 && n < d.Window.Length {
		s := d.spotAt(n)
		switch l := d.lineAt(s); {
		case l == nil:
		case len(l.Hidden) > 0 && step > 0:
			return d.folds.reveal(l.Hidden[0]), true
		case len(l.Hidden) > 0:
			return d.folds.reveal(l.Hidden[len(l.Hidden)-1]), true
		case l.Finding:
			d.show(n)
			return d.rows.read(), true
		}
		n = d.skip(n, step, s)
	}
	return nil, false
}

// seek moves to a place: to its finding if it has one, else to the place itself. It unfolds everything around the
// place.
func (d *Panel) seek(at analysis.Place) tea.Cmd {
	d.Window.Move(0)
	if at.Part == "" && !at.Response {
		return nil
	}
	exact, near, hidden := -1, -1, false
	consider := func(n int, l *document.Line) {
		hidden = hidden || slices.Contains(l.Hidden, at)
		switch {
		case l.Finding && l.Place == at && exact < 0:
			exact = n
		case l.Place.Response == at.Response && l.Place.Part == at.Part && near < 0:
			near = n
		}
	}
	for i := range d.doc.Before {
		consider(i, &d.doc.Before[i])
	}
	if i := d.Excerpt.Events.IndexOf(at.Part); i >= 0 {
		near = d.lineOf(spot{zoneEvents, i, -1})
		for sub := range d.below(i) {
			consider(near+1+sub, &d.below(i)[sub])
		}
	}
	if exact >= 0 {
		near = exact
	}
	if near >= 0 {
		d.show(near)
	}
	if hidden && exact < 0 {
		return d.folds.reveal(at)
	}
	return nil
}

func (d *Panel) Title() string { return strconv.FormatUint(d.Seq, 10) }

func (d *Panel) Status() string {
	if d.Exchange == nil {
		return ""
	}
	found := d.search.words()
	if found != "" && d.width < 100 { // not everything fits
		return found
	}
	words := d.Exchange.Client.Name + " → " + d.Exchange.Agent.Name + ", "
	if res := d.Exchange.Response; res != nil && res.Stream {
		words += text.Plural(d.Excerpt.Events.Count(), load.EventWord(d.Excerpt.Exchange)) + ", "
		if d.More {
			words += fmt.Sprintf("loading %d %%, ", d.percent())
		}
	}
	words += d.mode.String()
	if found != "" {
		words += ", " + found
	}
	return words
}

func (d *Panel) View() []style.Line {
	switch {
	case d.Err != nil:
		return panel.Failure(d.Err, d.width)
	case !d.Ready:
		return []style.Line{style.Text(style.Dim, "  loading …")}
	}
	var lines []style.Line
	for n := d.Window.Top; n < d.Window.Bottom(); n++ {
		s := d.spotAt(n)
		row := style.Text(style.Normal, " ")
		if n == d.Window.Cursor {
			row = style.Text(style.Strong, ">")
		}
		if l := d.lineAt(s); l != nil {
			if s.zone == zoneEvents {
				row = row.Add(style.Dim, text.Pad("│", document.EventIndent))
			}
			row = row.Join(l.Highlighted(d.search.numberIn(s)))
		} else if s.zone == zoneEvents && s.index < d.Events.Length() {
			row = row.Join(d.rows.draw(s.index))
		}
		row.Selected = n == d.Window.Cursor
		lines = append(lines, row)
	}
	return lines
}

// percent returns how much of the capture after the start of the exchange has been read.
func (d *Panel) percent() uint64 {
	return min(100*d.Excerpt.Events.Next/max(d.shared.Info.Arrivals, 1), 99)
}

// An Other is the detail of an exchange of another capture. It has no marks, findings or other data of the inspected
// capture.
type Other struct {
	*Panel
	file string
}

// NewOther returns the detail of an exchange of another capture, which is in a file. The shared state belongs to that
// capture.
func NewOther(s *panel.Shared, seq uint64, file string) *Other {
	return &Other{New(s, analysis.Place{Exchange: seq}), file}
}

func (e *Other) Scope() keys.Scope { return keys.InElsewhere }

func (e *Other) Title() string { return fmt.Sprintf("%d in %s", e.Seq, e.file) }

func (e *Other) Target() analysis.Place { return analysis.Place{} }

// Update drops messages about the inspected capture.
func (e *Other) Update(msg tea.Msg) tea.Cmd {
	switch msg.(type) {
	case panel.ExchangesChanged, panel.FindingsChanged, panel.NotesChanged:
		return nil
	}
	return e.Panel.Update(msg)
}
