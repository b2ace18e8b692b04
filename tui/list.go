package tui

import (
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
)

// maxCached bounds the entries that the list keeps.
const maxCached = 4096

// A list is the panel of all exchanges, or of those that a filter chooses. It knows of each only its number, and reads
// what can be seen, and a page around it.
type list struct {
	scene  *scene
	window window // over positions; its height is that of the exchanges
	height int    // of the panel
	cache  map[uint64]entry
	stale  map[uint64]bool // of cache: those that got something new
	asked  uint64          // ticket of the entries under way; 0 if none are
	fresh  uint64          // the same for stale entries
	took   time.Duration   // what reading stale entries took the last time
	search *search         // nil without a filter
	bar    *bar            // not nil while a filter is typed
	anchor uint64          // the exchange that the user selected last: the cursor stays at it, or as near as can be
	follow bool
	hints  []string // to be shown while there is nothing else
	err    error
}

func newList(s *scene, hints []string) *list {
	return &list{scene: s, hints: hints, cache: make(map[uint64]entry), stale: make(map[uint64]bool)}
}

func (l *list) place() place  { return inList }
func (l *list) title() string { return "exchanges" }

// length returns how many exchanges there are to be shown.
func (l *list) length() int {
	if l.search != nil {
		return len(l.search.matches)
	}
	return int(l.scene.info.Exchanges)
}

// at returns the exchange at a position.
func (l *list) at(i int) uint64 {
	if l.search != nil {
		return l.search.matches[i]
	}
	return uint64(i) + 1
}

// position returns where an exchange stands, or where it would.
func (l *list) position(seq uint64) int {
	if l.search != nil {
		i, _ := slices.BinarySearch(l.search.matches, seq)
		return i
	}
	return int(seq) - 1
}

// selected returns the exchange under the cursor, or 0.
func (l *list) selected() uint64 {
	if l.window.cursor >= l.length() {
		return 0
	}
	return l.at(l.window.cursor)
}

func (l *list) target() analyzer.Place { return analyzer.Place{Exchange: l.selected()} }

func (l *list) resize(width, height int) tea.Cmd {
	l.window.width, l.height = width, height
	return l.settle()
}

// settle puts the cursor where it belongs, whatever came or went around it, and asks for what is then seen.
func (l *list) settle() tea.Cmd {
	l.window.length = l.length()
	l.window.height = max(l.height-1-len(l.filterLines()), 0)
	switch {
	case l.follow:
		l.window.move(l.window.length - 1)
		l.anchor = l.selected()
	case l.anchor > 0:
		l.window.move(l.position(l.anchor))
	default:
		l.window.move(l.window.cursor)
	}
	return l.ask()
}

// newest puts the cursor on the newest exchange.
func (l *list) newest() {
	l.anchor = l.scene.info.Exchanges
}

// ask returns the command for the entries that are missing in and around the window.
func (l *list) ask() tea.Cmd {
	if l.asked != 0 {
		return nil
	}
	var missing []uint64
	margin := max(l.window.height, 1)
	for i := max(l.window.top-margin, 0); i < min(l.window.bottom()+margin, l.length()); i++ {
		if _, there := l.cache[l.at(i)]; !there {
			missing = append(missing, l.at(i))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	// What can be seen comes first; there is time for the margin when the user has something to look at.
	if seen := slices.DeleteFunc(slices.Clone(missing), func(seq uint64) bool {
		i := l.position(seq)
		return i < l.window.top || i >= l.window.bottom()
	}); len(seen) > 0 {
		missing = seen
	}
	l.asked = l.scene.ticket()
	return l.scene.load.entries(l.asked, missing)
}

// refresh returns the command for the stale entries that can be seen. What is slow to read is read less often.
func (l *list) refresh() tea.Cmd {
	if l.fresh != 0 {
		return nil
	}
	var seen []uint64
	for i := l.window.top; i < min(l.window.bottom(), l.length()); i++ {
		if l.stale[l.at(i)] {
			seen = append(seen, l.at(i))
		}
	}
	if len(seen) == 0 {
		return nil
	}
	for _, seq := range seen {
		delete(l.stale, seq)
	}
	l.fresh = l.scene.ticket()
	load, pause := l.scene.load, min(10*l.took, 2*time.Second)
	read := load.entries(l.fresh, seen)
	return func() tea.Msg {
		load.pause(pause)
		return read()
	}
}

func (l *list) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case action:
		return l.act(msg)
	case changed:
		return l.grow(msg.seqs)
	case learned:
		if l.search != nil && l.search.judging() {
			return l.search.again(l.scene.load, &l.scene.found, msg.seqs)
		}
	case entries:
		return l.put(msg)
	case typed:
		return l.paused(msg)
	case narrowed, scanned, retested:
		return l.searched(msg)
	}
	return nil
}

func (l *list) act(a action) tea.Cmd {
	before := l.window.cursor
	switch {
	case a == toggleFollow:
		l.follow = !l.follow
		return l.settle()
	case a == nextFinding:
		return l.jump(1)
	case a == previousFinding:
		return l.jump(-1)
	case a == editFilter:
		return l.edit()
	case a == goBack && l.search != nil:
		return l.apply("")
	case !l.window.act(a):
		return nil
	}
	if l.window.cursor < before {
		l.follow = false
	}
	l.anchor = l.selected()
	return tea.Batch(l.ask(), l.refresh())
}

// jump goes to the next exchange with a finding, in a direction.
func (l *list) jump(step int) tea.Cmd {
	var seq uint64
	if l.search != nil {
		seq = l.scene.found.nextOf(l.search.matches, l.selected(), step)
	} else {
		seq = l.scene.found.next(l.selected(), step)
	}
	if seq == 0 {
		return say("no further finding in this direction")
	}
	l.follow, l.anchor = false, seq
	return l.settle()
}

// grow takes notice of exchanges that changed, or came.
func (l *list) grow(seqs []uint64) tea.Cmd {
	for _, seq := range seqs {
		if _, there := l.cache[seq]; there {
			l.stale[seq] = true
		}
	}
	var test tea.Cmd
	if l.search != nil {
		test = l.search.again(l.scene.load, &l.scene.found, seqs)
	}
	return tea.Batch(l.settle(), l.refresh(), test)
}

// put keeps entries that were read, and asks for those that are still missing.
func (l *list) put(msg entries) tea.Cmd {
	switch msg.ticket {
	case l.asked:
		l.asked = 0
	case l.fresh:
		l.fresh = 0
		l.took = msg.took
		for _, seq := range msg.left {
			l.stale[seq] = true
		}
	default:
		return nil
	}
	if l.err = msg.err; msg.err != nil {
		return say(msg.err.Error())
	}
	for _, e := range msg.list {
		l.cache[e.seq] = e
	}
	l.forget()
	return tea.Batch(l.ask(), l.refresh())
}

// forget lets entries go that are far from the window, when there are too many.
func (l *list) forget() {
	if len(l.cache) <= maxCached {
		return
	}
	for seq := range l.cache {
		if i := l.position(seq); i < l.window.top-2*l.window.height || i > l.window.bottom()+2*l.window.height {
			delete(l.cache, seq)
			delete(l.stale, seq)
		}
	}
}

func (l *list) status() string {
	count := plural(l.scene.info.Exchanges, "exchange")
	if l.search != nil {
		count = number(len(l.search.matches)) + " of " + count
	}
	switch below := l.window.below(); {
	case l.follow:
		count += ", following"
	case below > 0 && l.scene.info.Live:
		count += fmt.Sprintf(", %s newer below", number(below))
	}
	return count
}
