package list

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
	"a2atap/tui/document"
	"a2atap/tui/internal/find"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/sorting"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// A search finds the exchanges of the list with a match. It goes from the exchange under the cursor to the newest, then
// from the oldest to its start. After that, it follows the recording.
type search struct {
	pattern *find.Pattern
	ctx     context.Context
	end     context.CancelFunc
	ticket  uint64        // of the exchanges being searched; 0 if none
	again   uint64        // the same for changed exchanges that are searched again
	due     []uint64      // changed exchanges to search again
	took    time.Duration // duration of their last search
	began   uint64        // the exchange where the search began
	up      uint64        // exchanges from began up to, but not including, this one were searched
	low     uint64        // and so were those from the first up to, but not including, this one
	matches []uint64      // in order
	changed map[uint64]bool
	kept    []uint64 // matches that pass the filter
	chosen  chosen   // the inputs of kept
	tallied tallied  // the inputs of number and total, in a sorted list
	number  int
	total   int
	step    int  // which match to move to once it is known: 1 the next, -1 the previous, 0 none
	here    bool // the selected exchange counts as the next
	stopped bool // by the user
	err     error
}

func newSearch(s *panel.Shared, p *find.Pattern, from uint64) *search {
	from = max(from, 1)
	h := &search{pattern: p, began: from, up: from, low: 1, changed: make(map[uint64]bool), stopped: true}
	h.resume(s)
	return h
}

// stop stops running commands. Exchanges that were being searched again remain due.
func (h *search) stop() {
	h.end()
	for _, seq := range h.due {
		h.changed[seq] = true
	}
	h.due = nil
	h.stopped, h.ticket, h.again, h.step = true, 0, 0, 0
}

// resume resumes a stopped search.
func (h *search) resume(s *panel.Shared) {
	if h.stopped {
		h.ctx, h.end = context.WithCancel(s.Load.Context)
		h.stopped = false
	}
}

// searchedAll reports whether all exchanges from one up to, but not including, another were searched.
func (h *search) searchedAll(from, below uint64) bool {
	if from >= h.began || h.low >= h.began {
		return below <= h.up
	}
	return below <= h.low
}

// left returns how many exchanges are not searched yet.
func (h *search) left(exchanges uint64) uint64 {
	return exchanges + 1 - min(h.up, exchanges+1) + max(h.began, h.low) - h.low
}

// running reports whether the search is still under way.
func (h *search) running(exchanges uint64) bool {
	return !h.stopped && h.err == nil && h.left(exchanges) > 0
}

// has reports whether an exchange has a match.
func (h *search) has(seq uint64) bool {
	_, there := slices.BinarySearch(h.matches, seq)
	return there
}

// next returns the command that continues the search, or nil if nothing is left or a command is running.
func (h *search) next(s *panel.Shared) tea.Cmd {
	exchanges := s.Info.Exchanges
	if h.ticket != 0 || !h.running(exchanges) {
		return nil
	}
	h.ticket = s.Ticket()
	if h.up <= exchanges {
		return searchExchanges(h.ctx, s.Load, h.ticket, h.pattern, h.up, exchanges+1)
	}
	return searchExchanges(h.ctx, s.Load, h.ticket, h.pattern, h.low, h.began)
}

// grow records changed exchanges, and returns the command that searches them again.
func (h *search) grow(s *panel.Shared, seqs []uint64) tea.Cmd {
	for _, seq := range seqs {
		if !h.has(seq) { // recorded matches do not go away
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
		if h.searchedAll(seq, seq+1) { // the search has yet to reach the others
			h.due = append(h.due, seq)
			delete(h.changed, seq)
		}
	}
	if len(h.due) == 0 {
		return nil
	}
	h.again = s.Ticket()
	return searchAgain(h.ctx, s.Load, h.again, h.pattern, h.due, min(10*h.took, 20*time.Second))
}

// take stores the results of a command, and reports whether they were requested.
func (h *search) take(msg exchangesSearched) bool {
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
	if len(msg.matches) > 0 && !msg.again { // the results are contiguous
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

// among returns the matches in the list: all of them, or those that pass the filter.
func (h *search) among(s *filtering) []uint64 {
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

// A chosen identifies the inputs of a comparison of filter and matches.
type chosen struct {
	filter  *filtering
	version int // of the filter's matches
	matches int
}

// update stores the results of a command.
func (h *search) update(l *Lines, msg exchangesSearched) tea.Cmd {
	if h == nil || !h.take(msg) {
		return nil
	}
	return tea.Batch(h.next(l.shared), h.grow(l.shared, nil), h.advance(l))
}

// advance moves to the requested match, if it is known by now.
func (h *search) advance(l *Lines) tea.Cmd {
	if h.step == 0 {
		return nil
	}
	seq, wrapped, sure := h.nextMatch(l)
	if !sure && h.running(l.shared.Info.Exchanges) {
		return nil
	}
	step := h.step
	h.step = 0
	if seq == 0 {
		return panel.Say("no match for " + h.pattern.String())
	}
	switch {
	case wrapped && step > 0:
		l.shared.Message = "no match further down; the search continues at the top"
	case wrapped:
		l.shared.Message = "no match further up; the search continues at the end"
	}
	return l.goTo(seq)
}

// nextMatch returns the next exchange in the list with a match, or 0. wrapped reports whether it is past the end of the
// list, and sure whether it is certain although the search is incomplete.
func (h *search) nextMatch(l *Lines) (seq uint64, wrapped, sure bool) {
	if l.now != nil {
		seq, wrapped = h.nextSorted(l)
		return seq, wrapped, false
	}
	at := l.Selected()
	matches := h.among(l.filtering)
	if len(matches) == 0 {
		return 0, false, false
	}
	i, exact := slices.BinarySearch(matches, at)
	if h.step < 0 {
		if i == 0 {
			return matches[len(matches)-1], true, false
		}
		return matches[i-1], false, h.searchedAll(matches[i-1], at)
	}
	if exact && !h.here {
		i++
	}
	if i == len(matches) {
		return matches[0], true, false
	}
	return matches[i], false, h.searchedAll(at, matches[i])
}

// nextSorted is nextMatch for a list that is grouped or sorted.
func (h *search) nextSorted(l *Lines) (seq uint64, wrapped bool) {
	now := l.now
	from := now.Place(l.Selected())
	if _, row, is := l.rows().headingAt(l.window.Cursor); is {
		from = now.PlaceOf(row)
		if h.step > 0 {
			from-- // the contents of a heading come after it
		}
	} else if h.here {
		from--
	}
	next, last := -1, -1 // places: after the cursor, and after the end of the list
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

// tally returns the number of matches in the list, and the number of the selected exchange among them, or 0 if it does
// not match.
func (h *search) tally(l *Lines) (number, matches int) {
	now, selected := l.now, l.Selected()
	if now == nil {
		kept := h.among(l.filtering)
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

// A tallied identifies the inputs of a tally of a sorted list.
type tallied struct {
	now      *sorting.Arrangement
	matches  int
	selected uint64
}

// words describes the state of the search.
func (h *search) words(l *Lines) string {
	at, matches := h.tally(l)
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

// exchangesSearched is the message of searchExchanges and searchAgain.
type exchangesSearched struct {
	ticket  uint64
	from    uint64 // the exchanges from this one
	next    uint64 // to before this one were searched
	matches []uint64
	again   bool // they were searched before
	took    time.Duration
	err     error
}

// searchPage is the maximum number of exchanges that one command searches. It makes results appear early on fast
// machines, too.
const searchPage = 1024

// searchExchanges searches exchanges from from up to, but not including, below, for a limited time.
func searchExchanges(ctx context.Context, l *load.Loader, ticket uint64, p *find.Pattern, from, below uint64) tea.Cmd {
	return func() tea.Msg {
		answer := exchangesSearched{ticket: ticket, from: from, next: from}
		if answer.err = l.NeedCards(); answer.err != nil {
			return answer
		}
		end := time.Now().Add(load.BatchTime)
		for x, err := range l.Source.Ends(ctx, from, load.EntryEvents) {
			if err == nil && x.Seq < below {
				err = answer.test(ctx, l, p, x)
			}
			if answer.err = err; err != nil {
				return answer
			}
			if x.Seq >= below-1 {
				break
			}
			if answer.next = x.Seq + 1; answer.next-from >= searchPage || time.Now().After(end) {
				return answer
			}
		}
		answer.next = below
		return answer
	}
}

// searchAgain searches exchanges that have changed, after a pause.
func searchAgain(
	ctx context.Context, l *load.Loader, ticket uint64, p *find.Pattern, seqs []uint64, pause time.Duration,
) tea.Cmd {
	return func() tea.Msg {
		l.Pause(pause)
		begin := time.Now()
		answer := exchangesSearched{ticket: ticket, again: true}
		for _, seq := range seqs {
			x, err := l.Ends(seq, load.EntryEvents)
			if err == nil {
				err = answer.test(ctx, l, p, x)
			}
			if answer.err = err; err != nil {
				return answer
			}
		}
		answer.took = time.Since(begin)
		return answer
	}
}

// test records an exchange if the pattern occurs in it.
func (h *exchangesSearched) test(ctx context.Context, l *load.Loader, p *find.Pattern, x *capture.Exchange) error {
	s := document.Source{Context: ctx, Excerpt: load.Excerpt{Exchange: x}, Load: l, Width: document.Unwrapped, Limit: document.MaxShown, Pattern: p}
	yes, err := s.Occurs()
	if yes {
		h.matches = append(h.matches, x.Seq)
	}
	return err
}
