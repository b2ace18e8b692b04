// Package detail is the panel of one exchange: its request, its response, the events of its stream, and the findings
// where they stand. Package document lays it out, in a command; the rows of events are read when they are seen, since
// there may be a great many. A text is searched in all of it, also where it is folded or not on the screen.
package detail

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/tui/document"
	"a2atap/tui/keys"
	"a2atap/tui/load"
	"a2atap/tui/panel"
)

// maxOpen bounds the events whose content is shown at once, and maxRows the rows that are kept.
const (
	maxOpen = 100
	maxRows = 10_000
)

// A Panel is the panel of one exchange: its request, its response, the events of its stream.
type Panel struct {
	shared *panel.Shared
	Seq    uint64
	width  int
	Window panel.Window
	mode   document.View
	limit  int            // bytes of a body that are shown
	goal   analyzer.Place // where to move when the document is ready
	load.Excerpt
	ctx         context.Context // ends when the view is left
	leave       context.CancelFunc
	doc         document.Document
	Ready       bool          // doc is there
	loading     uint64        // ticket of the exchange under way
	building    uint64        // ticket of the document under way
	reloadAgain bool          // the exchange has changed since it was loaded
	took        time.Duration // how long loading took the last time
	extra       []int         // indices of the events that have lines below their rows, in order
	rows        eventRows
	toEnd       bool // the end was asked for before it was there
	sought      bool // the cursor is at the goal, or the user has moved it
	folds       folds
	search      search
	pendingKeys []keys.Action      // keys that were pressed before the document was there; the inspector performs them then
	kept        []analyzer.Finding // as a reading says
	Err         error
}

// loaded is the message of readOn.
type loaded struct {
	load.Excerpt
	found  []analyzer.Finding // as a reading says
	ticket uint64
	took   time.Duration
	err    error
}

// New returns the detail of an exchange, at a place of it. Begin reads it.
func New(s *panel.Shared, goal analyzer.Place) *Panel {
	d := &Panel{
		shared: s, Seq: goal.Exchange, goal: goal, limit: document.FirstShown,
		search: search{pattern: s.Pattern, opened: -1},
	}
	d.rows = eventRows{panel: d, known: make(map[int]eventRow)}
	d.folds.panel = d
	d.search.quiet = true
	if s.Pattern != nil {
		d.limit = document.MaxShown
	}
	if s.Pattern != nil && goal.Part == "" && !goal.Response { // nothing else is asked for
		d.search.step = 1
	}
	d.ctx, d.leave = context.WithCancel(s.Load.Context)
	return d
}

func (d *Panel) Scope() keys.Scope { return keys.InDetail }

// ShowAs takes over how another detail shows its exchange.
func (d *Panel) ShowAs(other *Panel) { d.mode, d.folds.All = other.mode, other.folds.All }

// SetMode changes how bodies and events are shown.
func (d *Panel) SetMode(v document.View) tea.Cmd {
	d.mode = v
	return d.build()
}

// TakeKeys returns the keys that were pressed before there was something to show, once there is.
func (d *Panel) TakeKeys() (pressed []keys.Action) {
	if d.Ready {
		pressed, d.pendingKeys = d.pendingKeys, nil
	}
	return pressed
}

// Leave ends what is under way, since the panel goes.
func (d *Panel) Leave() { d.leave() }

// Begin returns the command that loads the exchange.
func (d *Panel) Begin() tea.Cmd {
	d.loading = d.shared.Ticket()
	d.reloadAgain = false
	return d.readOn(0)
}

// readOn returns the command that reads on, after a pause.
func (d *Panel) readOn(pause time.Duration) tea.Cmd {
	ctx, load, ticket, seq, sofar := d.ctx, d.shared.Load, d.loading, d.Seq, d.Excerpt
	return func() tea.Msg {
		load.Pause(pause)
		begin := time.Now()
		var found []analyzer.Finding
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

func (d *Panel) Target() analyzer.Place {
	at := analyzer.Place{Exchange: d.Seq}
	if i := d.EventAtCursor(); i >= 0 {
		at.Response = true
		return at.Event(d.Excerpt.Events.Number(i))
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

// build returns the command that lays the exchange out again.
func (d *Panel) build() tea.Cmd {
	if d.Exchange == nil {
		return nil
	}
	d.building = d.shared.Ticket()
	open := slices.Sorted(maps.Keys(d.doc.Open))
	if n := d.search.opened; n >= 0 && len(open) > maxOpen {
		open = append(slices.DeleteFunc(open, func(i int) bool { return i == n })[:maxOpen-1], n)
	}
	source := d.source()
	source.Open = open[:min(len(open), maxOpen)]
	return document.Build(d.shared.Load, d.building, source)
}

// source returns what the exchange is laid out from.
func (d *Panel) source() document.Source {
	return document.Source{
		Context: d.ctx, Excerpt: d.Excerpt, Findings: d.findings(), View: d.mode, Width: max(d.width, 8),
		Limit: d.limit, Folds: d.folds.Folding, Note: d.shared.Notes.Of(d.Seq, d.Exchange.ID), Pattern: d.search.pattern,
	}
}

// findings returns the findings of the exchange, which a reading may have told before they were listed.
func (d *Panel) findings() []analyzer.Finding {
	if found := d.shared.Found.Of(d.Seq); found != nil {
		return found
	}
	return d.kept
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
		return d.search.searched(d, msg)
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

// reload reads on in an exchange that goes on. What takes long is done less often.
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
		cmds = append(cmds, d.rows.read(), d.search.searchOn(d), d.search.advance(d))
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

// grow takes events into account that were read, and keeps the cursor at the same content, or at the end if that was
// asked for.
func (d *Panel) grow(at spot) {
	d.Window.Length = d.Length()
	if d.toEnd {
		d.Window.Move(d.Window.Length - 1)
		d.toEnd = d.More
		return
	}
	d.Window.Move(d.layout().lineOf(at))
}

// take takes rows that were read.
func (r *eventRows) take(msg rowsRead) tea.Cmd {
	d := r.panel
	if msg.ticket != r.ticket {
		return nil
	}
	r.ticket = 0
	for i, row := range msg.rows {
		r.known[msg.first+i] = row
	}
	if msg.err != nil {
		d.Err = msg.err
		return nil
	}
	return r.read()
}

// setDocument replaces the document, and keeps the cursor at the same content.
func (d *Panel) setDocument(msg document.Built) tea.Cmd {
	if msg.Ticket != d.building {
		return nil
	}
	at := d.spot()
	d.building, d.doc = 0, msg.Doc
	d.index()
	if d.Ready {
		d.grow(at)
	} else {
		d.Window.Length = d.Length()
		d.Ready = true
		d.Window.Move(0)
	}
	d.folds.seekNear()
	return tea.Batch(d.seekGoal(), d.search.searchOn(d), d.search.toMatch(d), d.search.advance(d), d.rows.read())
}

// index notes which events have lines below their rows.
func (d *Panel) index() {
	keys := make(map[int]bool)
	for i := range d.doc.Marks {
		keys[i] = true
	}
	for i := range d.doc.Open {
		keys[i] = true
	}
	d.extra = slices.Sorted(maps.Keys(keys))
}

// AtRest reports whether all is shown that was read, and nothing is being read but the exchange itself.
func (d *Panel) AtRest() bool { return d.Ready && d.rows.ticket == 0 && d.building == 0 }

// seekGoal moves to the goal, once what it names was read.
func (d *Panel) seekGoal() tea.Cmd {
	if d.sought || d.More && strings.HasPrefix(d.goal.Part, "event[") {
		return nil
	}
	d.sought = true
	return d.seek(d.goal)
}

// call returns the decoded request.
func (d *Panel) call() *a2a.Call {
	if d.doc.Reading == nil {
		return &a2a.Call{}
	}
	return &d.doc.Reading.Call
}

// read returns the command that reads the visible rows of events.
func (r *eventRows) read() tea.Cmd {
	d := r.panel
	if r.ticket != 0 || !d.Ready || d.Events.Length() == 0 {
		return nil
	}
	first, last := -1, -1
	for n := d.Window.Top; n < d.Window.Bottom(); n++ {
		s := d.layout().spotAt(n)
		if s.zone != zoneEvents {
			continue
		}
		if _, there := r.known[s.index]; there || s.index >= d.Events.Length() {
			continue
		}
		if first < 0 {
			first = s.index
		}
		last = s.index
	}
	if first < 0 {
		return nil
	}
	if len(r.known) > maxRows {
		clear(r.known)
	}
	r.ticket = d.shared.Ticket()
	return readRows(d.ctx, d.shared.Load, r.ticket, d.Seq, d.Excerpt.Events, *d.call(), first, last)
}

// TurnTo moves to a place of the exchange. One that names the whole exchange leaves the cursor where it is.
func (d *Panel) TurnTo(at analyzer.Place) tea.Cmd {
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
		return d.search.goOn(d, 1)
	case keys.PreviousMatch:
		return d.search.goOn(d, -1)
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
			return "all of the exchange is shown"
		case d.limit >= document.MaxShown:
			return "no more is shown here; a2atap show prints all of it"
		}
	}
	return ""
}

func (f *folds) whyNot(a keys.Action) string {
	d := f.panel
	switch {
	case d.mode != document.JSON:
		return "only JSON can be folded; v changes the view"
	case a == keys.FoldNode && d.Ready && !f.can():
		return "the selected line is in no object or array"
	case a == keys.UnfoldNode && d.Ready && f.underCursor() != document.NodeFolded:
		return "the selected line is not folded"
	}
	return ""
}

// An Other is the detail of an exchange of another capture. What concerns the capture that is looked at, such as its
// marks and its findings, has no place here.
type Other struct {
	*Panel
	file string
}

// NewOther returns the detail of an exchange of a capture that the shared state belongs to, and that is in a file.
func NewOther(s *panel.Shared, seq uint64, file string) *Other {
	return &Other{New(s, analyzer.Place{Exchange: seq}), file}
}

func (e *Other) Scope() keys.Scope { return keys.InElsewhere }

func (e *Other) Title() string { return fmt.Sprintf("%d in %s", e.Seq, e.file) }

func (e *Other) Target() analyzer.Place { return analyzer.Place{} }

// Update keeps away what is said of the capture that is looked at.
func (e *Other) Update(msg tea.Msg) tea.Cmd {
	switch msg.(type) {
	case panel.ExchangesChanged, panel.FindingsChanged, panel.NotesChanged:
		return nil
	}
	return e.Panel.Update(msg)
}
