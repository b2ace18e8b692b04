package tui

import (
	"context"
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

// A detail is the panel of one exchange: its request, its response, the events of its stream.
type detail struct {
	shared *panel.Shared
	seq    uint64
	width  int
	window panel.Window
	mode   document.View
	limit  int            // bytes of a body that are shown
	goal   analyzer.Place // where to move when the document is ready
	load.Excerpt
	ctx         context.Context // ends when the view is left
	leave       context.CancelFunc
	doc         document.Document
	ready       bool             // doc is there
	loading     uint64           // ticket of the exchange under way
	building    uint64           // ticket of the document under way
	reading     uint64           // ticket of the rows under way
	reloadAgain bool             // the exchange has changed since it was loaded
	took        time.Duration    // how long loading took the last time
	extra       []int            // indices of the events that have lines below their rows, in order
	rows        map[int]eventRow // by index of the event
	toEnd       bool             // the end was asked for before it was there
	sought      bool             // the cursor is at the goal, or the user has moved it
	folds       document.Folding
	near        spot           // where the cursor was when all was folded
	nearTo      analyzer.Place // what it was at; none otherwise
	finder      finder
	pendingKeys []keys.Action      // keys that were pressed before the document was there; the inspector performs them then
	kept        []analyzer.Finding // as a reading says
	err         error
}

// loaded is the message of loader.exchange.
type loaded struct {
	load.Excerpt
	found  []analyzer.Finding // as a reading says
	ticket uint64
	took   time.Duration
	err    error
}

func newDetail(s *panel.Shared, goal analyzer.Place) *detail {
	d := &detail{
		shared: s, seq: goal.Exchange, goal: goal, limit: document.FirstShown, rows: make(map[int]eventRow),
		finder: finder{pattern: s.Pattern, opened: -1},
	}
	d.finder.quiet = true
	if s.Pattern != nil {
		d.limit = document.MaxShown
	}
	if s.Pattern != nil && goal.Part == "" && !goal.Response { // nothing else is asked for
		d.finder.step = 1
	}
	d.ctx, d.leave = context.WithCancel(s.Load.Context)
	return d
}

func (d *detail) Scope() keys.Scope { return keys.InDetail }

// showAs takes over how another detail shows its exchange.
func (d *detail) showAs(other *detail) { d.mode, d.folds.All = other.mode, other.folds.All }

// setMode changes how bodies and events are shown.
func (d *detail) setMode(v document.View) tea.Cmd {
	d.mode = v
	return d.build()
}

// takeKeys returns the keys that were pressed before there was something to show, once there is.
func (d *detail) takeKeys() (pressed []keys.Action) {
	if d.ready {
		pressed, d.pendingKeys = d.pendingKeys, nil
	}
	return pressed
}

// Leave ends what is under way, since the panel goes.
func (d *detail) Leave() { d.leave() }

// begin returns the command that loads the exchange.
func (d *detail) begin() tea.Cmd {
	d.loading = d.shared.Ticket()
	d.reloadAgain = false
	return d.readOn(0)
}

// readOn returns the command that reads on, after a pause.
func (d *detail) readOn(pause time.Duration) tea.Cmd {
	ctx, load, ticket, seq, sofar := d.ctx, d.shared.Load, d.loading, d.seq, d.Excerpt
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

func (d *detail) Target() analyzer.Place {
	at := analyzer.Place{Exchange: d.seq}
	if i := d.eventAtCursor(); i >= 0 {
		at.Response = true
		return at.Event(d.Excerpt.Events.Number(i))
	}
	return at
}

func (d *detail) Resize(width, height int) tea.Cmd {
	d.window.Height = max(height, 0)
	d.window.Reveal()
	if d.width == width {
		return d.summarise()
	}
	d.width = width
	return d.build()
}

// build returns the command that lays the exchange out again.
func (d *detail) build() tea.Cmd {
	if d.Exchange == nil {
		return nil
	}
	d.building = d.shared.Ticket()
	open := slices.Sorted(maps.Keys(d.doc.Open))
	if n := d.finder.opened; n >= 0 && len(open) > maxOpen {
		open = append(slices.DeleteFunc(open, func(i int) bool { return i == n })[:maxOpen-1], n)
	}
	source := d.source()
	source.Open = open[:min(len(open), maxOpen)]
	return document.Build(d.shared.Load, d.building, source)
}

// source returns what the exchange is laid out from.
func (d *detail) source() document.Source {
	return document.Source{
		Context: d.ctx, Excerpt: d.Excerpt, Findings: d.findings(), View: d.mode, Width: max(d.width, 8),
		Limit: d.limit, Folds: d.folds, Note: d.shared.Notes.Of(d.seq, d.Exchange.ID), Pattern: d.finder.pattern,
	}
}

// findings returns the findings of the exchange, which a reading may have told before they were listed.
func (d *detail) findings() []analyzer.Finding {
	if found := d.shared.Found.Of(d.seq); found != nil {
		return found
	}
	return d.kept
}

func (d *detail) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case keys.Action:
		return d.act(msg)
	case loaded:
		return d.load(msg)
	case document.Built:
		return d.setDocument(msg)
	case rowsRead:
		return d.setRows(msg)
	case eventsSearched:
		return d.searched(msg)
	case panel.ExchangesChanged:
		if _, mine := slices.BinarySearch(msg.Seqs, d.seq); mine {
			return d.reload()
		}
	case panel.FindingsChanged:
		if _, mine := slices.BinarySearch(msg.Seqs, d.seq); mine {
			return d.build()
		}
	case panel.CardsLearned:
		return d.build()
	case panel.NotesChanged:
		if msg.Seqs == nil || slices.Contains(msg.Seqs, d.seq) {
			return d.build()
		}
	}
	return nil
}

// reload reads on in an exchange that goes on. What takes long is done less often.
func (d *detail) reload() tea.Cmd {
	if d.loading != 0 {
		d.reloadAgain = true
		return nil
	}
	d.loading = d.shared.Ticket()
	d.reloadAgain = false
	return d.readOn(min(10*d.took, 5*time.Second))
}

func (d *detail) load(msg loaded) tea.Cmd {
	if msg.ticket != d.loading {
		return nil
	}
	d.loading, d.took, d.err = 0, msg.took, msg.err
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
	if d.ready {
		d.grow(at)
		cmds = append(cmds, d.summarise(), d.searchOn(), d.advance())
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
func (d *detail) grow(at spot) {
	d.window.Length = d.length()
	if d.toEnd {
		d.window.Move(d.window.Length - 1)
		d.toEnd = d.More
		return
	}
	d.window.Move(d.lineOf(at))
}

// setRows takes rows that were read.
func (d *detail) setRows(msg rowsRead) tea.Cmd {
	if msg.ticket != d.reading {
		return nil
	}
	d.reading = 0
	for i, row := range msg.rows {
		d.rows[msg.first+i] = row
	}
	if msg.err != nil {
		d.err = msg.err
		return nil
	}
	return d.summarise()
}

// setDocument replaces the document, and keeps the cursor at the same content.
func (d *detail) setDocument(msg document.Built) tea.Cmd {
	if msg.Ticket != d.building {
		return nil
	}
	at := d.spot()
	d.building, d.doc = 0, msg.Doc
	d.index()
	if d.ready {
		d.grow(at)
	} else {
		d.window.Length = d.length()
		d.ready = true
		d.window.Move(0)
	}
	d.seekNear()
	return tea.Batch(d.seekGoal(), d.searchOn(), d.toMatch(), d.advance(), d.summarise())
}

// index notes which events have lines below their rows.
func (d *detail) index() {
	keys := make(map[int]bool)
	for i := range d.doc.Marks {
		keys[i] = true
	}
	for i := range d.doc.Open {
		keys[i] = true
	}
	d.extra = slices.Sorted(maps.Keys(keys))
}

// isAtRest reports whether all is shown that was read, and nothing is being read but the exchange itself.
func (d *detail) isAtRest() bool { return d.ready && d.reading == 0 && d.building == 0 }

// seekGoal moves to the goal, once what it names was read.
func (d *detail) seekGoal() tea.Cmd {
	if d.sought || d.More && strings.HasPrefix(d.goal.Part, "event[") {
		return nil
	}
	d.sought = true
	return d.seek(d.goal)
}

// call returns the decoded request.
func (d *detail) call() *a2a.Call {
	if d.doc.Reading == nil {
		return &a2a.Call{}
	}
	return &d.doc.Reading.Call
}

// summarise returns the command that reads the visible rows of events.
func (d *detail) summarise() tea.Cmd {
	if d.reading != 0 || !d.ready || d.events() == 0 {
		return nil
	}
	first, last := -1, -1
	for n := d.window.Top; n < d.window.Bottom(); n++ {
		s := d.spotAt(n)
		if s.zone != zoneEvents {
			continue
		}
		if _, there := d.rows[s.index]; there || s.index >= d.events() {
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
	if len(d.rows) > maxRows {
		clear(d.rows)
	}
	d.reading = d.shared.Ticket()
	return readRows(d.shared.Load, d.ctx, d.reading, d.seq, d.Excerpt.Events, *d.call(), first, last)
}

// turnTo moves to a place of the exchange. One that names the whole exchange leaves the cursor where it is.
func (d *detail) turnTo(at analyzer.Place) tea.Cmd {
	if at.Part == "" && !at.Response {
		return nil
	}
	d.goal, d.sought = at, false
	if !d.ready {
		return nil
	}
	return tea.Batch(d.seekGoal(), d.summarise())
}

func (d *detail) act(a keys.Action) tea.Cmd {
	if !d.ready {
		d.pendingKeys = append(d.pendingKeys, a)
		return nil
	}
	d.sought, d.toEnd = true, a == keys.Bottom && d.More
	d.finder.stay()
	switch a {
	case keys.Open:
		return d.toggle()
	case keys.FoldNode:
		return d.fold()
	case keys.UnfoldNode:
		return d.toggleNode()
	case keys.FoldAll:
		return d.foldAll()
	case keys.NextMatch:
		return d.goOn(1)
	case keys.PreviousMatch:
		return d.goOn(-1)
	case keys.ChangeView:
		d.mode = (d.mode + 1) % document.Views
		d.finder.restart()
		return d.build()
	case keys.LoadMore:
		d.limit = min(4*d.limit, document.MaxShown)
		return d.build()
	case keys.NextPane:
		d.nextSection()
	default:
		d.window.Act(a)
	}
	return d.summarise()
}
