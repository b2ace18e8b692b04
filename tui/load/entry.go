package load

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// An Entry is a row of the list: one exchange.
type Entry struct {
	Seq           uint64
	ID            uuid.UUID
	Started       time.Time
	Client, Agent string
	Request       string
	Status        string
	Took          time.Duration  // capture.NotKnown if it has not ended
	Outcome       []summary.Word // the outcome
	State         a2a.State      // the last state that the exchange shows
	Message       string         // the first text, in one line
	Size          int64          // of the response's body, in bytes; capture.NotKnown if unknown
	Trace         string
	Worst         uint8  // from the reading: 0, or 1 plus the severity of the worst finding
	Failed        bool   // the call failed: by a fault, an error of the protocol or of HTTP, or otherwise
	Absent        bool   // the capture has no such exchange
	Comment       string // a user's comment; set only while the row is drawn
}

// These constants bound the data read for one entry: the beginning and the end of an exchange are enough.
const (
	EntryEvents = 64      // from each end of a stream
	entryBody   = 1 << 20 // bytes
)

// NewEntry returns the row of an exchange.
func NewEntry(s *summary.Summary) Entry {
	e := Entry{
		Seq: s.Seq, ID: s.ID, Started: s.Started, Client: s.Link.Client, Agent: s.Link.Agent,
		Request: s.Method + " " + s.Target, Status: "–", Took: s.Took, Outcome: s.Words(), State: s.State,
		Message: s.Text, Size: s.ResponseSize, Trace: s.TraceID(), Failed: s.Failed(),
	}
	if s.Operation != a2a.NoOperation {
		e.Request = s.Operation.String()
	} else if s.Neighbor != nil {
		e.Request = s.Asked
	}
	if s.Status > 0 {
		e.Status = fmt.Sprint(s.Status)
	}
	return e
}

// RowEntry returns an Entry from a row of a reading.
func RowEntry(row *snapshot.Row) Entry {
	e := NewEntry(&row.Summary)
	if worst, found := row.Worst(); found {
		e.Worst = uint8(worst) + 1
	}
	return e
}

// Summarize returns the summary of an exchange that has been read. The exchange may have only its ends.
func (l *Loader) Summarize(x *capture.Exchange) summary.Summary {
	s := engine.Summarize(Brief(x), engine.Knowing(l.Reader.Known))
	if res := x.Response; res != nil && len(res.Events) >= 2*EntryEvents { // the middle events are missing here
		s.Gap = capture.NotKnown
		if res.Body.Size < 0 {
			s.ResponseSize = capture.NotKnown
		}
	}
	return s
}

// Brief returns an exchange shortened to what an entry needs.
func Brief(x *capture.Exchange) *capture.Exchange { return Shorten(x, EntryEvents) }

// Shorten returns an exchange without large bodies, and with at most the first ends and last ends events of a stream.
func Shorten(x *capture.Exchange, ends int) *capture.Exchange {
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

// CountEvents returns the number of events of a stream, without blocks of comments.
func CountEvents(events []capture.Event) int {
	for i := len(events) - 1; i >= 0; i-- {
		if k := events[i].K; k > 0 {
			return k
		}
	}
	return 0
}

// EntryOf returns the row of an exchange that has been read.
func (l *Loader) EntryOf(x *capture.Exchange) Entry {
	s := l.Summarize(x)
	return NewEntry(&s)
}

// ShownSummary returns the summary of an exchange, from the reading if there is one.
func (l *Loader) ShownSummary(x *capture.Exchange) *summary.Summary {
	if row := l.Reading.Row(l.Context, x.Seq); row != nil {
		return &row.Summary
	}
	s := l.Summarize(x)
	return &s
}

// FirstEvent returns the number of the first numbered event; 0 if there are only comments.
func FirstEvent(events []capture.Event) int {
	for i := range events {
		if k := events[i].K; k > 0 {
			return k
		}
	}
	return 0
}

// SortedKeys returns the exchanges of a set, in order.
func SortedKeys(set map[uint64]bool) []uint64 { return slices.Sorted(maps.Keys(set)) }
