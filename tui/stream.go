package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/tui/text"
)

// Sizes of what is read of a stream at a time.
const (
	pageEvents = 256                   // events between two marks in a stream
	pageBytes  = 256 << 10             // or so many bytes, whatever comes first
	pieceTime  = 50 * time.Millisecond // how long a command reads a long exchange before it reports what it has
)

// A stream says where the events of an exchange are in the capture. The events stay there: four bytes of each are kept
// here, and the rows that are visible are read when they are.
type stream struct {
	next  uint64        // first arrival number that was not read yet
	last  []int32       // by index: the number of the last event up to there, as a block of comments has none
	pages []streamPage  // marks, in order
	size  int           // bytes since the last mark
	at    time.Duration // offset of the last event
}

// A streamPage is a place where reading can begin.
type streamPage struct {
	index   int
	arrival uint64
	before  time.Duration // offset of the event before it, or NotKnown
}

func (s *stream) length() int { return len(s.last) }

// count returns how many events there are, without blocks of comments.
func (s *stream) count() int {
	if len(s.last) == 0 {
		return 0
	}
	return int(s.last[len(s.last)-1])
}

// number returns the number of an event; 0 for a block of comments.
func (s *stream) number(i int) int {
	if i > 0 && s.last[i] == s.last[i-1] {
		return 0
	}
	return int(s.last[i])
}

// indexOf returns the index of the event that the part of a place names, or -1.
func (s *stream) indexOf(part string) int {
	var k int32
	if !strings.HasPrefix(part, "event[") {
		return -1
	}
	if _, err := fmt.Sscanf(part, "event[%d]", &k); err != nil || k < 1 {
		return -1
	}
	if i, there := slices.BinarySearch(s.last, k); there {
		return i
	}
	return -1
}

// page returns the last mark at or before an event.
func (s *stream) page(i int) streamPage {
	n, exact := slices.BinarySearchFunc(s.pages, i, func(p streamPage, i int) int { return p.index - i })
	if !exact {
		n--
	}
	return s.pages[n]
}

// add notes an event.
func (s *stream) add(e *capture.Event, step *capture.Step) {
	n := len(s.pages)
	if n == 0 || len(s.last)-s.pages[n-1].index >= pageEvents || s.size >= pageBytes {
		before := time.Duration(capture.NotKnown)
		if n > 0 {
			before = s.at
		}
		s.pages = append(s.pages, streamPage{len(s.last), step.Arrival, before})
		s.size = 0
	}
	s.size += len(e.Raw)
	s.at = step.Offset
	s.last = append(s.last, max(int32(e.K), int32(s.count())))
}

// An excerpt is an exchange as far as it was read, without the events of its stream but for the first ones, which are
// enough to tell what is spoken.
type excerpt struct {
	x      *capture.Exchange
	events stream
	more   bool // there is more to read now
}

// read reads on for a while. What was read before is not changed: it may be on the screen. It calls f, which may be
// nil, with each event and its offset; the bytes of the event are valid during the call.
func (r excerpt) read(
	ctx context.Context, src capture.Source, seq uint64, f func(*capture.Exchange, capture.Event, time.Duration),
) (excerpt, error) {
	end := time.Now().Add(pieceTime)
	if r.x != nil {
		x := *r.x
		if x.Response != nil {
			res := *x.Response
			x.Response = &res
		}
		r.x = &x
	}
	r.more = false
	for step, err := range src.StepsOf(ctx, seq, r.events.next) {
		if err != nil {
			return r, err
		}
		if step.Arrival == 0 && r.x != nil && r.x.State != capture.StateOpen {
			continue
		}
		r.take(step)
		if e, event := step.What.(capture.ResponseEvent); event && f != nil {
			f(r.x, e.Event, step.Offset)
		}
		if step.Arrival%64 == 0 && time.Now().After(end) {
			r.more = true
			break
		}
	}
	return r, nil
}

func (r *excerpt) take(step capture.Step) {
	r.events.next = max(r.events.next, step.Arrival+1)
	what, event := step.What.(capture.ResponseEvent)
	if event {
		r.events.add(&what.Event, &step)
		if r.x != nil && r.x.Response != nil && len(r.x.Response.Events) >= entryEvents {
			r.pass(&what.Event, step.Offset)
			return
		}
		what.Event.Raw = slices.Clone(what.Event.Raw[:min(len(what.Event.Raw), pageBytes)])
		step.What = what
	}
	r.x = capture.Assemble(r.x, step)
}

// pass takes an event into account that is not kept.
func (r *excerpt) pass(e *capture.Event, at time.Duration) {
	body := &r.x.Response.Body
	body.Dropped += e.Dropped
	body.At = at
}

// An eventRow is what the row of an event shows.
type eventRow struct {
	at, before   time.Duration
	size         int64
	unterminated bool
	dropped      bool
	words        string
}

// rowsRead is the message of loader.rows: the rows of consecutive events, from the index first on.
type rowsRead struct {
	ticket uint64
	first  int
	rows   []eventRow
	err    error
}

// rows reads the rows of the events first..last.
func (l *loader) rows(ctx context.Context, ticket, seq uint64, s stream, call a2a.Call, first, last int) tea.Cmd {
	return func() tea.Msg {
		answer := rowsRead{ticket: ticket, first: first}
		before := s.page(first).before
		answer.err = l.events(ctx, seq, s, first, last, func(i int, e *capture.Event) {
			if i >= first {
				answer.rows = append(answer.rows, eventRow{
					at: e.At, before: before, size: int64(len(e.Raw)) + e.Dropped, unterminated: e.Unterminated,
					dropped: e.Dropped > 0, words: text.Clip(summary(&call, e), 400),
				})
			}
			before = e.At
		})
		return answer
	}
}

// events calls f with the events of a stream from the mark before first to last.
func (l *loader) events(
	ctx context.Context, seq uint64, s stream, first, last int, f func(int, *capture.Event),
) error {
	page := s.page(first)
	i := page.index
	for step, err := range l.src.StepsOf(ctx, seq, page.arrival) {
		if err != nil {
			return err
		}
		what, event := step.What.(capture.ResponseEvent)
		if !event {
			continue
		}
		what.Event.At = step.Offset
		f(i, &what.Event)
		if i++; i > last {
			return nil
		}
	}
	return fmt.Errorf("event %d of exchange %d is not in the capture any more", s.number(i), seq)
}

// ends returns an exchange without most of what is in the middle of a long stream.
func (l *loader) ends(seq uint64, n int) (*capture.Exchange, error) {
	for x, err := range l.src.Ends(l.ctx, seq, n) {
		if err != nil {
			return nil, err
		}
		if x.Seq == seq {
			return x, nil
		}
		break
	}
	return nil, fmt.Errorf("exchange %d: %w", seq, capture.ErrNotFound)
}

// eventAt returns the place of an event.
func eventAt(seq uint64, k int) analyzer.Place {
	return analyzer.Place{Exchange: seq, Response: true}.Event(k)
}
