package tui

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/uuid"

	"a2atap/analyzer"
	"a2atap/analyzer/kept"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// An entry is a row of the list: one exchange.
type entry struct {
	seq           uint64
	id            uuid.UUID
	started       time.Time
	client, agent string
	request       string
	status        string
	took          time.Duration   // capture.NotKnown if it has not ended
	outcome       []analyzer.Word // what came of it
	state         a2a.State       // the last one that the exchange shows
	message       string          // the first text, in one line
	size          int64           // of the answer's body, in bytes; capture.NotKnown if it is not known
	trace         string
	worst         uint8  // as a reading says: 0, or 1 and the severity of the worst finding
	failed        bool   // there was a fault, an error of the protocol or of HTTP, or the call failed otherwise
	absent        bool   // the capture has no such exchange
	comment       string // of a person; only while the row is drawn
}

// Bounds of what is read for one entry: the beginning and the end of an exchange are enough.
const (
	entryEvents = 64      // from each end of a stream
	entryBody   = 1 << 20 // bytes
)

// newEntry returns the row of an exchange.
func newEntry(s *analyzer.Summary) entry {
	e := entry{
		seq: s.Seq, id: s.ID, started: s.Started, client: s.Link.Client, agent: s.Link.Agent,
		request: s.Method + " " + s.Target, status: "–", took: s.Took, outcome: s.Words(), state: s.State,
		message: s.Text, size: s.ResponseSize, trace: s.TraceID(), failed: s.Failed(),
	}
	if s.Operation != a2a.NoOperation {
		e.request = s.Operation.String()
	}
	if s.Status > 0 {
		e.status = fmt.Sprint(s.Status)
	}
	return e
}

// rowEntry returns the row of an exchange as a reading has it.
func rowEntry(row *kept.Row) entry {
	e := newEntry(&row.Summary)
	if worst, found := row.Worst(); found {
		e.worst = uint8(worst) + 1
	}
	return e
}

// summarise sums up an exchange that was read, of which only the ends may be there.
func (l *loader) summarise(x *capture.Exchange) analyzer.Summary {
	s := analyzer.Summarise(brief(x), analyzer.Knowing(l.reader.Known))
	if res := x.Response; res != nil && len(res.Events) >= 2*entryEvents { // those in the middle are not here
		s.Gap = capture.NotKnown
		if res.Body.Size < 0 {
			s.ResponseSize = capture.NotKnown
		}
	}
	return s
}

// brief returns an exchange shortened to what an entry needs.
func brief(x *capture.Exchange) *capture.Exchange { return shorten(x, entryEvents) }

// shorten returns an exchange without large bodies, and with only the first and last events of a long stream, at most
// ends of each.
func shorten(x *capture.Exchange, ends int) *capture.Exchange {
	res := x.Response
	if res == nil || len(res.Events) <= 2*ends && len(res.Body.Data) <= entryBody {
		return x
	}
	short, answer := *x, *res
	if n := len(res.Events); n > 2*ends {
		answer.Events = append(res.Events[:ends:ends], res.Events[n-ends:]...)
	}
	if len(res.Body.Data) > entryBody {
		answer.Body.Data = nil
	}
	short.Response = &answer
	return &short
}

// countEvents returns how many events a stream has; blocks of comments are none.
func countEvents(events []capture.Event) int {
	for i := len(events) - 1; i >= 0; i-- {
		if k := events[i].K; k > 0 {
			return k
		}
	}
	return 0
}

// entryOf returns the row of an exchange that was read.
func (l *loader) entryOf(x *capture.Exchange) entry {
	s := l.summarise(x)
	return newEntry(&s)
}

// shownSummary returns what an exchange of the capture that was read says of itself: as the reading has it, if there is
// one.
func (l *loader) shownSummary(x *capture.Exchange) *analyzer.Summary {
	if row := l.kept.row(l.ctx, x.Seq); row != nil {
		return &row.Summary
	}
	s := l.summarise(x)
	return &s
}

// entries is the message of loader.entries.
type entries struct {
	ticket uint64
	list   []entry
	left   []uint64 // not read, since the time was up
	took   time.Duration
	err    error
}

// entries makes the rows of a sorted list of exchanges for the list panel, and reads those that no reading tells of.
func (l *loader) entries(ticket uint64, seqs []uint64) tea.Cmd {
	return func() tea.Msg {
		answer := entries{ticket: ticket}
		begin := time.Now()
		var unread []uint64
		for _, seq := range seqs {
			if row := l.kept.row(l.ctx, seq); row != nil {
				answer.list = append(answer.list, rowEntry(row))
			} else {
				unread = append(unread, seq)
			}
		}
		answer.left, answer.err = l.each(unread, entryEvents, begin.Add(batchTime), func(seq uint64, x *capture.Exchange) {
			if x == nil {
				answer.list = append(answer.list, entry{seq: seq, absent: true})
				return
			}
			answer.list = append(answer.list, l.entryOf(x))
		})
		answer.took = time.Since(begin)
		return answer
	}
}

// each reads at least one of the exchanges of a sorted list, in order, until the time end. It calls f for each, with
// nil if the capture has no such exchange, and returns those that are left.
// Of a stream only the first and last ends events are needed; 0 if all are.
func (l *loader) each(
	seqs []uint64, ends int, end time.Time, f func(uint64, *capture.Exchange),
) (left []uint64, err error) {
	for len(seqs) > 0 {
		n := neighbours(seqs)
		if seqs, err = l.span(seqs[:n], seqs[n:], ends, end, f); err != nil || l.ctx.Err() != nil {
			return nil, errors.Join(err, l.ctx.Err())
		}
		if time.Now().After(end) {
			return seqs, nil
		}
	}
	return nil, nil
}

// neighbours returns how many of the first numbers follow each other, so that one iteration reads them.
func neighbours(seqs []uint64) int {
	n := 1
	for n < len(seqs) && seqs[n] == seqs[n-1]+1 {
		n++
	}
	return n
}

// span reads exchanges that follow each other, and returns those that are left.
func (l *loader) span(
	seqs, rest []uint64, ends int, end time.Time, f func(uint64, *capture.Exchange),
) ([]uint64, error) {
	if len(seqs) == 1 && ends == 0 {
		x, err := l.src.Exchange(l.ctx, seqs[0])
		if err != nil && !errors.Is(err, capture.ErrNotFound) {
			return nil, err
		}
		f(seqs[0], x)
		return rest, nil
	}
	all := append(seqs[:len(seqs):len(seqs)], rest...)
	last, done := seqs[len(seqs)-1], 0
	exchanges := l.src.Exchanges
	if ends > 0 {
		exchanges = func(ctx context.Context, from uint64) iter.Seq2[*capture.Exchange, error] {
			return l.src.Ends(ctx, from, ends)
		}
	}
	for x, err := range exchanges(l.ctx, seqs[0]) {
		if err != nil {
			return nil, err
		}
		for done < len(seqs) && seqs[done] < x.Seq {
			f(seqs[done], nil)
			done++
		}
		if done < len(seqs) && seqs[done] == x.Seq {
			f(x.Seq, x)
			done++
		}
		if x.Seq >= last {
			return rest, nil
		}
		if time.Now().After(end) {
			return all[done:], nil
		}
	}
	for ; done < len(seqs); done++ {
		f(seqs[done], nil)
	}
	return rest, nil
}
