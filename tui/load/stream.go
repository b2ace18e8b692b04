package load

import (
	"context"
	"slices"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
)

// These constants bound how much of a stream is read at a time.
const (
	pageEvents = 256                   // events between two marks in a stream
	pageBytes  = 256 << 10             // or this many bytes, whichever is less
	PieceTime  = 50 * time.Millisecond // how long a command reads a long exchange before it reports its results
)

// A Stream locates the events of an exchange in the capture. It keeps four bytes per event, and reads visible rows on
// demand.
type Stream struct {
	Next  uint64        // first arrival number that has not been read
	Last  []int32       // by index: the number of the last event up to there, since a block of comments has none
	pages []streamPage  // marks, in order
	size  int           // bytes since the last mark
	At    time.Duration // offset of the last event
	as    *grpc.Codec   // decodes its messages, if it is gRPC
}

// A streamPage is a mark where reading can begin.
type streamPage struct {
	index   int
	Arrival uint64
	Before  time.Duration // offset of the event before it, or NotKnown
}

func (s *Stream) Length() int { return len(s.Last) }

// Count returns the number of events, without blocks of comments.
func (s *Stream) Count() int {
	if len(s.Last) == 0 {
		return 0
	}
	return int(s.Last[len(s.Last)-1])
}

// Number returns the number of an event; 0 for a block of comments.
func (s *Stream) Number(i int) int {
	if i > 0 && s.Last[i] == s.Last[i-1] {
		return 0
	}
	return int(s.Last[i])
}

// IndexOf returns the index of the event that the part of a place names, or -1.
func (s *Stream) IndexOf(part string) int {
	k, is := analysis.Place{Part: part}.EventNumber()
	if !is {
		return -1
	}
	if i, there := slices.BinarySearch(s.Last, int32(k)); there {
		return i
	}
	return -1
}

// Page returns the last mark at or before an event.
func (s *Stream) Page(i int) streamPage {
	n, exact := slices.BinarySearchFunc(s.pages, i, func(p streamPage, i int) int { return p.index - i })
	if !exact {
		n--
	}
	return s.pages[n]
}

// add records an event.
func (s *Stream) add(e *capture.Event, step *capture.Step) {
	n := len(s.pages)
	if n == 0 || len(s.Last)-s.pages[n-1].index >= pageEvents || s.size >= pageBytes {
		before := time.Duration(capture.NotKnown)
		if n > 0 {
			before = s.At
		}
		s.pages = append(s.pages, streamPage{len(s.Last), step.Arrival, before})
		s.size = 0
	}
	s.size += len(e.Raw)
	s.At = step.Offset
	s.Last = append(s.Last, max(int32(e.K), int32(s.Count())))
}

// read decodes an event as a gRPC message, if the stream is gRPC.
func (s *Stream) read(e *capture.Event) {
	if s.as != nil && e.IsMessage() {
		e.As = s.as
	}
}

// An Excerpt is an exchange as read so far, with only the first events of its stream. These are enough to detect the
// dialect.
type Excerpt struct {
	Exchange *capture.Exchange
	Events   Stream
	More     bool // there is more to read now
}

// Read continues to read, for a limited time. It does not change what was read before, which may be on the screen. It
// calls f, which may be nil, with each event and its offset. The bytes of the event are valid only during the call.
func (r Excerpt) Read(
	ctx context.Context, src capture.Source, seq uint64, f func(*capture.Exchange, capture.Event, time.Duration),
) (Excerpt, error) {
	end := time.Now().Add(PieceTime)
	if r.Exchange != nil {
		x := *r.Exchange
		if x.Response != nil {
			res := *x.Response
			x.Response = &res
		}
		r.Exchange = &x
	}
	r.More = false
	for step, err := range src.StepsOf(ctx, seq, r.Events.Next) {
		if err != nil {
			return r, err
		}
		if step.Arrival == 0 && r.Exchange != nil && r.Exchange.State != capture.StateOpen {
			continue
		}
		r.take(step)
		if e, event := step.What.(capture.ResponseEvent); event && f != nil {
			r.Events.read(&e.Event)
			f(r.Exchange, e.Event, step.Offset)
		}
		if step.Arrival%64 == 0 && time.Now().After(end) {
			r.More = true
			break
		}
	}
	return r, nil
}

func (r *Excerpt) take(step capture.Step) {
	r.Events.Next = max(r.Events.Next, step.Arrival+1)
	what, event := step.What.(capture.ResponseEvent)
	if event {
		if r.Events.as == nil && r.Exchange != nil {
			r.Exchange.ReadEvent(&what.Event)
			r.Events.as = what.Event.As
		}
		r.Events.read(&what.Event)
		r.Events.add(&what.Event, &step)
		if r.Exchange != nil && r.Exchange.Response != nil && len(r.Exchange.Response.Events) >= EntryEvents {
			r.pass(&what.Event, step.Offset)
			return
		}
		what.Event.Raw = slices.Clone(what.Event.Raw[:min(len(what.Event.Raw), pageBytes)])
		step.What = what
	}
	r.Exchange = capture.Assemble(r.Exchange, step)
}

// pass accounts for an event that is not kept.
func (r *Excerpt) pass(e *capture.Event, at time.Duration) {
	body := &r.Exchange.Response.Body
	body.Dropped += e.Dropped
	body.At = at
}

// EventAt returns the place of an event of an exchange, as findings name it.
func EventAt(x *capture.Exchange, k int) analysis.Place {
	at := analysis.Place{Exchange: x.Seq, Response: true}
	if _, is := x.InMessages(); is {
		return at.Message(k)
	}
	return at.Event(k)
}

// EventWord returns the word for the events of an exchange's response: "event", or "message" over gRPC.
func EventWord(x *capture.Exchange) string {
	if _, is := x.InMessages(); is {
		return "message"
	}
	return "event"
}

// EventNumber returns the number of the event that contains a place, and whether an event does.
func EventNumber(at analysis.Place) (int, bool) {
	k, is := at.EventNumber()
	return k, is && at.Response
}
