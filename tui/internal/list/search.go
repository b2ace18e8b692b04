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

// A search is the search in the list: which exchanges have a match somewhere. It goes from the exchange where the cursor
// was to the newest, on from the oldest to where it began, and then along with the recording.
type search struct {
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

func newSearch(s *panel.Shared, p *find.Pattern, from uint64) *search {
	from = max(from, 1)
	h := &search{pattern: p, began: from, up: from, low: 1, changed: make(map[uint64]bool), stopped: true}
	h.resume(s)
	return h
}

// stop ends what is under way. Exchanges that were being searched again are still to be.
func (h *search) stop() {
	h.end()
	for _, seq := range h.due {
		h.changed[seq] = true
	}
	h.due = nil
	h.stopped, h.ticket, h.again, h.step = true, 0, 0, 0
}

// resume lets a search that was stopped go on.
func (h *search) resume(s *panel.Shared) {
	if h.stopped {
		h.ctx, h.end = context.WithCancel(s.Load.Context)
		h.stopped = false
	}
}

// searchedAll reports whether all exchanges from one to before another were searched.
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

// next returns the command that searches on, or nil if there is nothing to do or it is being done.
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

// grow notes exchanges that have changed, and returns the command that searches them again.
func (h *search) grow(s *panel.Shared, seqs []uint64) tea.Cmd {
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
		if h.searchedAll(seq, seq+1) { // the others are yet to come
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

// take takes what was searched, and reports whether it was asked for.
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

// chosen tells when the filter and the matches were compared.
type chosen struct {
	filter  *filtering
	version int // of what it lets through
	matches int
}

// update takes what was searched.
func (h *search) update(l *Lines, msg exchangesSearched) tea.Cmd {
	if h == nil || !h.take(msg) {
		return nil
	}
	return tea.Batch(h.next(l.shared), h.grow(l.shared, nil), h.advance(l))
}

// advance goes to the match that was asked for, if it is known by now.
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
		l.shared.Message = "no match further down; the search goes on at the top"
	case wrapped:
		l.shared.Message = "no match further up; the search goes on at the end"
	}
	return l.goTo(seq)
}

// nextMatch returns the exchange with a match that is next in the list, 0 if there is none, whether that is behind the
// end of the list, and whether it is sure although not all was searched yet.
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

// nextSorted is nextMatch in a list that is grouped or sorted.
func (h *search) nextSorted(l *Lines) (seq uint64, wrapped bool) {
	now := l.now
	from := now.Place(l.Selected())
	if _, row, is := l.rows().headingAt(l.window.Cursor); is {
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

// tallied tells when the matches of a sorted list were counted.
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

// searchPage is how many exchanges one command searches at most, so that what was found is told on fast machines, too.
const searchPage = 1024

// searchExchanges searches the exchanges from one on to before another for a while.
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

// test notes an exchange in which the pattern occurs.
func (h *exchangesSearched) test(ctx context.Context, l *load.Loader, p *find.Pattern, x *capture.Exchange) error {
	s := document.Source{Context: ctx, Excerpt: load.Excerpt{Exchange: x}, Load: l, Width: document.Unwrapped, Limit: document.MaxShown, Pattern: p}
	yes, err := s.Occurs()
	if yes {
		h.matches = append(h.matches, x.Seq)
	}
	return err
}
