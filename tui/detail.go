package tui

import (
	"maps"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// maxOpen bounds the events whose content is shown at once, and maxSummaries those that were read for their rows.
const (
	maxOpen      = 100
	maxSummaries = 10_000
)

// A detail is the panel of one exchange: its request, its response, the events of its stream.
type detail struct {
	shared      *shared
	seq         uint64
	width       int
	window      window
	mode        view
	limit       int            // bytes of a body that are shown
	goal        analyzer.Place // where to move when the document is ready
	x           *capture.Exchange
	doc         document
	ready       bool           // doc is there
	loading     uint64         // ticket of the exchange under way
	building    uint64         // ticket of the document under way
	reading     uint64         // ticket of the summaries under way
	reloadAgain bool           // the exchange has changed since it was loaded
	took        time.Duration  // how long loading took the last time
	extra       []int          // indices of the events that have lines below their rows, in order
	summaries   map[int]string // by index of the event
	pendingKeys []action       // keys that were pressed before the document was there
	err         error
}

// loaded is the message of loader.exchange.
type loaded struct {
	ticket uint64
	x      *capture.Exchange
	took   time.Duration
	err    error
}

// summarised holds one-line summaries of consecutive events, from the index first on.
type summarised struct {
	ticket uint64
	first  int
	words  []string
}

func newDetail(s *shared, goal analyzer.Place) *detail {
	return &detail{shared: s, seq: goal.Exchange, goal: goal, limit: firstShown, summaries: make(map[int]string)}
}

func (d *detail) place() place { return inDetail }

// begin returns the command that loads the exchange.
func (d *detail) begin() tea.Cmd {
	d.loading = d.shared.ticket()
	d.reloadAgain = false
	return d.shared.load.exchange(d.loading, d.seq, 0)
}

// exchange loads one exchange, after a pause.
func (l *loader) exchange(ticket, seq uint64, pause time.Duration) tea.Cmd {
	return func() tea.Msg {
		l.pause(pause)
		begin := time.Now()
		x, err := l.src.Exchange(l.ctx, seq)
		return loaded{ticket: ticket, x: x, took: time.Since(begin), err: err}
	}
}

func (d *detail) target() analyzer.Place {
	at := analyzer.Place{Exchange: d.seq}
	if i := d.eventAtCursor(); i >= 0 {
		at.Response = true
		return at.Event(d.x.Response.Events[i].K)
	}
	return at
}

func (d *detail) resize(width, height int) tea.Cmd {
	d.window.height = max(height, 0)
	d.window.reveal()
	if d.width == width {
		return d.summarise()
	}
	d.width = width
	return d.build()
}

// build returns the command that lays the exchange out again.
func (d *detail) build() tea.Cmd {
	if d.x == nil {
		return nil
	}
	d.building = d.shared.ticket()
	open := slices.Sorted(maps.Keys(d.doc.open))
	return d.shared.load.build(d.building, docSource{
		x: d.x, findings: d.shared.found.of(d.seq), view: d.mode, width: max(d.width, 8), limit: d.limit,
		open: open[:min(len(open), maxOpen)],
	})
}

func (d *detail) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case action:
		return d.act(msg)
	case loaded:
		return d.load(msg)
	case built:
		return d.setDocument(msg)
	case summarised:
		if msg.ticket == d.reading {
			d.reading = 0
			for i, words := range msg.words {
				d.summaries[msg.first+i] = words
			}
			return d.summarise()
		}
	case exchangesChanged:
		if _, mine := slices.BinarySearch(msg.seqs, d.seq); mine {
			return d.reload()
		}
	case findingsChanged:
		if _, mine := slices.BinarySearch(msg.seqs, d.seq); mine {
			return d.build()
		}
	}
	return nil
}

// reload loads an exchange again that goes on. One that takes long is loaded less often.
func (d *detail) reload() tea.Cmd {
	if d.loading != 0 {
		d.reloadAgain = true
		return nil
	}
	d.loading = d.shared.ticket()
	d.reloadAgain = false
	return d.shared.load.exchange(d.loading, d.seq, min(10*d.took, 5*time.Second))
}

func (d *detail) load(msg loaded) tea.Cmd {
	if msg.ticket != d.loading {
		return nil
	}
	d.loading, d.took, d.err = 0, msg.took, msg.err
	if msg.err != nil {
		return nil
	}
	d.x = msg.x
	cmd := d.build()
	if d.reloadAgain {
		return tea.Batch(cmd, d.reload())
	}
	return cmd
}

// setDocument replaces the document, and keeps the cursor at the same content.
func (d *detail) setDocument(msg built) tea.Cmd {
	if msg.ticket != d.building {
		return nil
	}
	at := d.spot()
	d.building, d.doc = 0, msg.doc
	keys := make(map[int]bool)
	for i := range d.doc.marks {
		keys[i] = true
	}
	for i := range d.doc.open {
		keys[i] = true
	}
	d.extra = slices.Sorted(maps.Keys(keys))
	d.window.length = d.length()
	if d.ready {
		d.window.move(d.lineOf(at))
		return d.summarise()
	}
	d.ready = true
	d.seek(d.goal)
	cmds := []tea.Cmd{d.summarise()}
	for _, a := range d.pendingKeys {
		cmds = append(cmds, d.act(a))
	}
	d.pendingKeys = nil
	return tea.Batch(cmds...)
}

// call returns the decoded request.
func (d *detail) call() *a2a.Call {
	if d.doc.reading == nil {
		return &a2a.Call{}
	}
	return &d.doc.reading.Call
}

// summarise returns the command that reads the events in visible rows.
func (d *detail) summarise() tea.Cmd {
	if d.reading != 0 || !d.ready || d.events() == 0 {
		return nil
	}
	first, last := -1, -1
	for n := d.window.top; n < d.window.bottom(); n++ {
		s := d.spotAt(n)
		if s.zone != zoneEvents {
			continue
		}
		if _, there := d.summaries[s.index]; there {
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
	if len(d.summaries) > maxSummaries {
		clear(d.summaries)
	}
	d.reading = d.shared.ticket()
	ticket, call, events := d.reading, *d.call(), d.x.Response.Events[first:last+1]
	return func() tea.Msg {
		answer := summarised{ticket: ticket, first: first}
		for i := range events {
			answer.words = append(answer.words, clip(summary(&call, &events[i]), 400))
		}
		return answer
	}
}

func (d *detail) act(a action) tea.Cmd {
	if !d.ready {
		d.pendingKeys = append(d.pendingKeys, a)
		return nil
	}
	switch a {
	case nextFinding:
		d.jump(1)
	case previousFinding:
		d.jump(-1)
	case openIt:
		return d.toggle()
	case changeView:
		d.mode = (d.mode + 1) % viewCount
		return d.build()
	case loadMore:
		d.limit = min(4*d.limit, maxShown)
		return d.build()
	case nextPane:
		d.nextSection()
	default:
		d.window.act(a)
	}
	return d.summarise()
}
