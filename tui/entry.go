package tui

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/uuid"

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
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
	took          time.Duration // capture.NotKnown if it has not ended
	outcome       string
	state         string // the last one that the exchange shows
	problem       string // what the error says
	message       string // the first text, in one line
	size          int64  // of the answer's body, in bytes; capture.NotKnown if it is not known
	trace         string
	failed        bool   // there was a fault, a protocol error or an HTTP error
	absent        bool   // the capture has no such exchange
	comment       string // of a person; only while the row is drawn
}

// Bounds of what is read for one entry: the beginning and the end of an exchange are enough.
const (
	entryEvents = 64      // from each end of a stream
	entryBody   = 1 << 20 // bytes
)

// newEntry reads an exchange for the list.
func newEntry(x *capture.Exchange, r *reading.Reading) entry {
	head := capture.ParseRequestHead(x.Request.Head)
	e := entry{
		seq: x.Seq, id: x.ID, started: x.Started, client: x.Client.Name, agent: x.Agent.Name,
		request: head.Method + " " + head.Target,
		status:  "–", took: x.Ended, failed: failedExchange(x, r), state: r.State(), message: said(x, r),
		size: answerSize(x.Response), trace: traceOf(head.Fields),
	}
	if len(r.Errors) > 0 {
		e.problem = oneLine(r.Errors[0].Message)
	} else if x.Fault != nil {
		e.problem = oneLine(x.Fault.Detail)
	}
	if r.Call.Operation != a2a.NoOperation {
		e.request = r.Call.Operation.String()
	}
	if x.Response != nil && len(x.Response.Head) > 0 {
		head := capture.ParseResponseHead(x.Response.Head)
		e.status = fmt.Sprint(head.Status)
	}
	e.outcome = outcome(x, r)
	return e
}

// failedExchange reports whether there was a fault, a protocol error or an HTTP error.
func failedExchange(x *capture.Exchange, r *reading.Reading) bool {
	if x.Fault != nil || len(r.Errors) > 0 {
		return true
	}
	return x.Response != nil && len(x.Response.Head) > 0 && capture.ParseResponseHead(x.Response.Head).Status >= 400
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

// outcome describes the result of an exchange in a few words, the most important first.
func outcome(x *capture.Exchange, r *reading.Reading) string {
	var words []string
	add := func(word string) {
		if word != "" {
			words = append(words, word)
		}
	}
	if x.Fault != nil {
		add((&analyzer.Summary{Fault: x.Fault}).Faulted())
	}
	if len(r.Errors) > 0 {
		add(r.Errors[0].String())
	}
	add(r.State())
	if x.State != capture.StateClosed {
		add(x.State.String())
	}
	if res := x.Response; res != nil && res.Stream {
		add(plural(countEvents(res.Events), "event"))
	}
	if len(r.Tasks) == 1 {
		add("task " + short(r.Tasks[0]))
	}
	for _, note := range x.Notes {
		switch {
		case strings.HasPrefix(note, capture.SeenAlso): // as it should be
		case strings.HasPrefix(note, capture.FaultMadeHere), strings.HasPrefix(note, capture.SeenOtherwise):
			add(note)
		default:
			add("note: " + note)
		}
	}
	return strings.Join(words, ", ")
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

// entries is the message of loader.entries.
type entries struct {
	ticket uint64
	list   []entry
	left   []uint64 // not read, since the time was up
	took   time.Duration
	err    error
}

// entries reads the exchanges of a sorted list for the list panel.
func (l *loader) entries(ticket uint64, seqs []uint64) tea.Cmd {
	return func() tea.Msg {
		answer := entries{ticket: ticket}
		begin := time.Now()
		answer.left, answer.err = l.each(seqs, entryEvents, begin.Add(batchTime), func(seq uint64, x *capture.Exchange) {
			if x == nil {
				answer.list = append(answer.list, entry{seq: seq, absent: true})
				return
			}
			answer.list = append(answer.list, newEntry(x, l.reader.Read(brief(x))))
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
