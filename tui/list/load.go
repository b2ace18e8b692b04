package list

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
	"a2atap/tui/load"
	"a2atap/tui/panel"
)

// entries is the message of loader.entries.
type entries struct {
	ticket uint64
	list   []load.Entry
	left   []uint64 // not read, since the time was up
	took   time.Duration
	err    error
}

// readEntries makes the rows of a sorted list of exchanges for the list panel, and reads those that no reading tells of.
func readEntries(l *load.Loader, ticket uint64, seqs []uint64) tea.Cmd {
	return func() tea.Msg {
		answer := entries{ticket: ticket}
		begin := time.Now()
		var unread []uint64
		for _, seq := range seqs {
			if row := l.Reading.Row(l.Context, seq); row != nil {
				answer.list = append(answer.list, load.RowEntry(row))
			} else {
				unread = append(unread, seq)
			}
		}
		answer.left, answer.err = l.Each(unread, load.EntryEvents, begin.Add(load.BatchTime), func(seq uint64, x *capture.Exchange) {
			if x == nil {
				answer.list = append(answer.list, load.Entry{Seq: seq, Absent: true})
				return
			}
			answer.list = append(answer.list, l.EntryOf(x))
		})
		answer.took = time.Since(begin)
		return answer
	}
}

// maxCached bounds the entries that the list keeps.
const maxCached = 4096

// A cache holds rows that were read, those on the screen and some around them.
type cache struct {
	list       *Panel
	entries    map[uint64]load.Entry
	stale      map[uint64]bool // those that are out of date
	loading    uint64          // ticket of the entries under way; 0 if none are
	refreshing uint64          // the same for stale entries
	took       time.Duration   // how long reading stale entries took the last time
}

// loadMissing returns the command that loads missing entries in and around the window.
func (c *cache) loadMissing() tea.Cmd {
	l := c.list
	if c.loading != 0 {
		return nil
	}
	var missing, seen []uint64
	margin := max(l.window.Height, 1)
	for i := max(l.window.Top-margin, 0); i < min(l.window.Bottom()+margin, l.Length()); i++ {
		seq := l.rows().described(i)
		if _, there := c.entries[seq]; seq == 0 || there {
			continue
		}
		missing = append(missing, seq)
		if i >= l.window.Top && i < l.window.Bottom() {
			seen = append(seen, seq)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if len(seen) > 0 { // these come first, what is around them later
		missing = seen
	}
	slices.Sort(missing)
	c.loading = l.shared.Ticket()
	return readEntries(l.shared.Load, c.loading, missing)
}

// refresh returns the command that loads visible stale entries again. What is slow to read is read less often.
func (c *cache) refresh() tea.Cmd {
	l := c.list
	if c.refreshing != 0 {
		return nil
	}
	var seen []uint64
	for i := l.window.Top; i < min(l.window.Bottom(), l.Length()); i++ {
		if seq := l.rows().described(i); c.stale[seq] {
			seen = append(seen, seq)
		}
	}
	if len(seen) == 0 {
		return nil
	}
	slices.Sort(seen)
	for _, seq := range seen {
		delete(c.stale, seq)
	}
	c.refreshing = l.shared.Ticket()
	load, pause := l.shared.Load, min(10*c.took, 2*time.Second)
	read := readEntries(load, c.refreshing, seen)
	return func() tea.Msg {
		load.Pause(pause)
		return read()
	}
}

// store keeps entries that were read, and loads those that are still missing.
func (c *cache) store(msg entries) tea.Cmd {
	l := c.list
	switch msg.ticket {
	case c.loading:
		c.loading = 0
	case c.refreshing:
		c.refreshing = 0
		c.took = msg.took
		for _, seq := range msg.left {
			c.stale[seq] = true
		}
	default:
		return nil
	}
	if l.Err = msg.err; msg.err != nil {
		return panel.Say(msg.err.Error())
	}
	for _, e := range msg.list {
		c.entries[e.Seq] = e
	}
	c.evict()
	return tea.Batch(c.loadMissing(), c.refresh())
}

// evict drops entries that are far from the window, if there are too many.
func (c *cache) evict() {
	l := c.list
	if len(c.entries) <= maxCached {
		return
	}
	for seq := range c.entries {
		if i := l.rows().position(seq, l.window.Cursor); i < l.window.Top-2*l.window.Height || i > l.window.Bottom()+2*l.window.Height {
			delete(c.entries, seq)
			delete(c.stale, seq)
		}
	}
}
