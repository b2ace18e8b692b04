package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/tui/find"
	"a2atap/tui/load"
	"a2atap/tui/panel"
	"a2atap/tui/roster"
	"a2atap/tui/text"
)

// A hunt is the search in the list: which exchanges have a match somewhere. It goes from the exchange where the cursor
// was to the newest, on from the oldest to where it began, and then along with the recording.
type hunt struct {
	pattern *find.Pattern
	ctx     context.Context
	end     context.CancelFunc
	ticket  uint64        // of the exchanges that are being searched; 0 if none are
	again   uint64        // the same of those that have changed
	due     []uint64      // those
	took    time.Duration // how long those took the last time
	began   uint64        // the exchange where it began
	up      uint64        // the exchanges from there to before this one were searched
	low     uint64        // and those from the first to before this one
	matches []uint64      // in order
	changed map[uint64]bool
	kept    []uint64 // those that the filter lets through
	chosen  chosen   // what kept was made of
	tallied tallied  // what number and total are of, in a list that is sorted
	number  int
	total   int
	step    int  // which match to go to as soon as it is known: 1 the next, -1 the previous, 0 none
	here    bool // the selected exchange counts as the next
	stopped bool // by the user
	err     error
}

func newHunt(s *panel.Shared, p *find.Pattern, from uint64) *hunt {
	from = max(from, 1)
	h := &hunt{pattern: p, began: from, up: from, low: 1, changed: make(map[uint64]bool), stopped: true}
	h.resume(s)
	return h
}

// stop ends what is under way. Exchanges that were being searched again are still to be.
func (h *hunt) stop() {
	h.end()
	for _, seq := range h.due {
		h.changed[seq] = true
	}
	h.due = nil
	h.stopped, h.ticket, h.again, h.step = true, 0, 0, 0
}

// resume lets a hunt that was stopped go on.
func (h *hunt) resume(s *panel.Shared) {
	if h.stopped {
		h.ctx, h.end = context.WithCancel(s.Load.Context)
		h.stopped = false
	}
}

// searched reports whether all exchanges from one to before another were searched.
func (h *hunt) searched(from, below uint64) bool {
	if from >= h.began || h.low >= h.began {
		return below <= h.up
	}
	return below <= h.low
}

// left returns how many exchanges are not searched yet.
func (h *hunt) left(exchanges uint64) uint64 {
	return exchanges + 1 - min(h.up, exchanges+1) + max(h.began, h.low) - h.low
}

// running reports whether the hunt is still under way.
func (h *hunt) running(exchanges uint64) bool {
	return !h.stopped && h.err == nil && h.left(exchanges) > 0
}

// has reports whether an exchange has a match.
func (h *hunt) has(seq uint64) bool {
	_, there := slices.BinarySearch(h.matches, seq)
	return there
}

// next returns the command that hunts on, or nil if there is nothing to do or it is being done.
func (h *hunt) next(s *panel.Shared) tea.Cmd {
	exchanges := s.Info.Exchanges
	if h.ticket != 0 || !h.running(exchanges) {
		return nil
	}
	h.ticket = s.Ticket()
	if h.up <= exchanges {
		return searchExchanges(s.Load, h.ctx, h.ticket, h.pattern, h.up, exchanges+1)
	}
	return searchExchanges(s.Load, h.ctx, h.ticket, h.pattern, h.low, h.began)
}

// grow notes exchanges that have changed, and returns the command that searches them again.
func (h *hunt) grow(s *panel.Shared, seqs []uint64) tea.Cmd {
	for _, seq := range seqs {
		if !h.has(seq) { // what was recorded stays
			h.changed[seq] = true
		}
	}
	if h.again != 0 || h.stopped || h.err != nil {
		return nil
	}
	h.due = nil
	for _, seq := range slices.Sorted(maps.Keys(h.changed)) {
		if len(h.due) == load.ScanPage {
			break
		}
		if h.searched(seq, seq+1) { // the others are yet to come
			h.due = append(h.due, seq)
			delete(h.changed, seq)
		}
	}
	if len(h.due) == 0 {
		return nil
	}
	h.again = s.Ticket()
	return searchAgain(s.Load, h.ctx, h.again, h.pattern, h.due, min(10*h.took, 20*time.Second))
}

// take takes what was searched, and reports whether it was asked for.
func (h *hunt) take(msg hunted) bool {
	switch {
	case msg.again && msg.ticket == h.again:
		h.again, h.due, h.took = 0, nil, msg.took
	case !msg.again && msg.ticket == h.ticket:
		h.ticket = 0
		if msg.from >= h.began {
			h.up = msg.next
		} else {
			h.low = msg.next
		}
	default:
		return false
	}
	h.err = msg.err
	if len(msg.matches) > 0 && !msg.again { // they follow each other
		i, _ := slices.BinarySearch(h.matches, msg.matches[0])
		h.matches = slices.Insert(h.matches, i, msg.matches...)
		return true
	}
	for _, seq := range msg.matches {
		if i, there := slices.BinarySearch(h.matches, seq); !there {
			h.matches = slices.Insert(h.matches, i, seq)
		}
	}
	return true
}

// among returns the matches that are in the list: all of them, or those that the filter lets through.
func (h *hunt) among(s *search) []uint64 {
	if s == nil {
		return h.matches
	}
	if of := (chosen{s, s.version, len(h.matches)}); h.chosen != of {
		h.chosen, h.kept = of, h.kept[:0]
		for _, seq := range h.matches {
			if _, in := slices.BinarySearch(s.matches, seq); in {
				h.kept = append(h.kept, seq)
			}
		}
	}
	return h.kept
}

// chosen tells when the filter and the matches were compared.
type chosen struct {
	filter  *search
	version int // of what it lets through
	matches int
}

// LookFor searches all exchanges for a pattern, and goes to the first that has a match, from the selected one on; nil
// ends the search. The list stays whole.
func (l *list) LookFor(p *find.Pattern) tea.Cmd {
	l.endHunt()
	if p == nil {
		return nil
	}
	l.hunt = newHunt(l.shared, p, l.selected())
	l.hunt.step, l.hunt.here = 1, true
	return l.hunt.next(l.shared)
}

// found returns the exchanges with a match that are in the list, as far as they are known.
func (l *list) found() []uint64 {
	if l.hunt == nil {
		return nil
	}
	return l.hunt.among(l.search)
}

// isSearching reports whether something is searched for.
func (l *list) isSearching() bool { return l.hunt != nil }

// stopSearch stops a search that is under way, and reports whether one was. What was found stays.
func (l *list) stopSearch() bool {
	if l.hunt == nil || !l.hunt.running(l.shared.Info.Exchanges) {
		return false
	}
	l.hunt.stop()
	return true
}

// endHunt ends the search.
func (l *list) endHunt() {
	if l.hunt != nil {
		l.hunt.end()
		l.hunt = nil
	}
}

// goOn goes to the next exchange with a match or to the previous one, as soon as it is known.
func (l *list) goOn(step int) tea.Cmd {
	if l.hunt == nil || l.hunt.pattern != l.shared.Pattern { // it was typed elsewhere
		cmd := l.LookFor(l.shared.Pattern)
		l.hunt.step, l.hunt.here = step, false
		return cmd
	}
	l.hunt.step, l.hunt.here = step, false
	l.hunt.resume(l.shared)
	return tea.Batch(l.hunt.next(l.shared), l.advance())
}

// hunted takes what was searched.
func (l *list) hunted(msg hunted) tea.Cmd {
	h := l.hunt
	if h == nil || !h.take(msg) {
		return nil
	}
	return tea.Batch(h.next(l.shared), h.grow(l.shared, nil), l.advance())
}

// advance goes to the match that was asked for, if it is known by now.
func (l *list) advance() tea.Cmd {
	h := l.hunt
	if h == nil || h.step == 0 {
		return nil
	}
	seq, wrapped, sure := l.nextMatch()
	if !sure && h.running(l.shared.Info.Exchanges) {
		return nil
	}
	step := h.step
	h.step = 0
	if seq == 0 {
		return panel.Say("no match for " + h.pattern.String())
	}
	l.reveal(seq)
	l.follow, l.anchor, l.sorting.key = false, seq, roster.Key{}
	switch {
	case wrapped && step > 0:
		l.shared.Message = "no match further down; the search goes on at the top"
	case wrapped:
		l.shared.Message = "no match further up; the search goes on at the end"
	}
	return l.reposition()
}

// nextMatch returns the exchange with a match that is next in the list, 0 if there is none, whether that is behind the
// end of the list, and whether it is sure although not all was searched yet.
func (l *list) nextMatch() (seq uint64, wrapped, sure bool) {
	if l.sorting.now != nil {
		seq, wrapped = l.nextSorted()
		return seq, wrapped, false
	}
	h, at := l.hunt, l.selected()
	matches := h.among(l.search)
	if len(matches) == 0 {
		return 0, false, false
	}
	i, exact := slices.BinarySearch(matches, at)
	if h.step < 0 {
		if i == 0 {
			return matches[len(matches)-1], true, false
		}
		return matches[i-1], false, h.searched(matches[i-1], at)
	}
	if exact && !h.here {
		i++
	}
	if i == len(matches) {
		return matches[0], true, false
	}
	return matches[i], false, h.searched(at, matches[i])
}

// nextSorted is nextMatch in a list that is grouped or sorted.
func (l *list) nextSorted() (seq uint64, wrapped bool) {
	h, now := l.hunt, l.sorting.now
	from := now.Place(l.selected())
	if _, row, is := l.headingAt(l.window.Cursor); is {
		from = now.PlaceOf(row)
		if h.step > 0 {
			from-- // what is under a heading is behind it
		}
	} else if h.here {
		from--
	}
	next, last := -1, -1 // places: behind the cursor, and behind the end of the list
	for _, match := range h.matches {
		at := now.Place(match)
		if at < 0 {
			continue
		}
		if (at-from)*h.step > 0 && (next < 0 || (next-at)*h.step > 0) {
			next = at
		}
		if last < 0 || (last-at)*h.step > 0 {
			last = at
		}
	}
	switch {
	case next >= 0:
		return now.At(next), false
	case last >= 0:
		return now.At(last), true
	}
	return 0, false
}

// tally returns how many matches there are in the list, and the number of the selected exchange among them; 0 if that
// has none.
func (l *list) tally() (number, matches int) {
	h, now, selected := l.hunt, l.sorting.now, l.selected()
	if now == nil {
		kept := h.among(l.search)
		if i, exact := slices.BinarySearch(kept, selected); exact {
			number = i + 1
		}
		return number, len(kept)
	}
	if of := (tallied{now, len(h.matches), selected}); h.tallied != of {
		h.tallied, h.number, h.total = of, 0, 0
		place := now.Place(selected)
		for _, match := range h.matches {
			at := now.Place(match)
			if at >= 0 {
				h.total++
			}
			if at >= 0 && at <= place {
				h.number++
			}
		}
		if !h.has(selected) {
			h.number = 0
		}
	}
	return h.number, h.total
}

// tallied tells when the matches of a sorted list were counted.
type tallied struct {
	now      *roster.Arrangement
	matches  int
	selected uint64
}

// words describes the state of the search.
func (h *hunt) words(l *list) string {
	at, matches := l.tally()
	words := text.Number(matches) + " match"
	if at > 0 {
		words = fmt.Sprintf("match %s of %s", text.Number(at), text.Number(matches))
	} else if matches != 1 {
		words += "es"
	}
	exchanges := l.shared.Info.Exchanges
	switch left := h.left(exchanges); {
	case h.err != nil:
		words += ", ! " + h.err.Error()
	case h.stopped && left > 0:
		words += " in " + text.Plural(exchanges-left, "exchange")
	case left > 0:
		words += fmt.Sprintf(", searching %d %%", 100*(exchanges-left)/exchanges)
	}
	return words
}
