package stream

import (
	"cmp"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// A Stream is the part of an event stream that was seen before the current observation.
type Stream struct {
	*analysis.Stream
	First    a2a.PayloadKind // the kind of the first event
	Begun    int             // its number; 0 if none came
	Newest   int             // number of the last event; 0 if none came
	NewestAt time.Time       // when that came; zero if not known
	Message  int             // number of the first event that held a Message; 0 if none did
	Failed   int             // number of the first event that held an error; 0 if none did
	Final    int             // number of the first event with final:true; 0 if none came
	Closing  int             // number of the first event with final:true and a terminal state; 0 if none came
	Terminal int             // number of the event that made the task terminal; 0 if none did
	Unclear  bool            // an update was marked final, and it is unknown whether that is true
	Updated  bool            // Terminal was an update of the status, not a Task
	Repeated int             // number of the first event after it that only repeated the task in that state; 0 if none
	Snapshot int             // number of the last Task that was not the first event; 0 if none came
	State    a2a.State       // the last one in an event; zero if none did, or if the last one is unknown
	Ended    a2a.State       // the state that Terminal brought
	TaskID   string          // the task that the events name
	Clock    Clock           // that the events' times come from
	Stamp    *Stamp          // the latest timestamp of a status of TaskID; nil if none could be read

	NamedTask    *analysis.TaskObservation // the first that named a task, or nil
	NamedContext *analysis.TaskObservation // the first that named a context, or nil

	run *run // its updates, where streams of one task are compared
}

// A Stamp is the agent's timestamp of a status.
type Stamp struct {
	At   time.Time
	Unit time.Duration // its precision
	Text string        // as written
	K    int           // number of the event
}

// add remembers one event, which the engine has counted already.
func (s *Stream) add(o *analysis.Observation) {
	k, a := o.Event.K, o.Answer
	if s.Events == 1 {
		s.First, s.Begun = a.Payload.Kind, k
	}
	s.Newest, s.NewestAt = k, o.At
	if a.Err != nil {
		s.Failed = cmp.Or(s.Failed, k)
	}
	switch p := a.Payload; p.Kind {
	case a2a.MessagePayload:
		s.Message = cmp.Or(s.Message, k)
	case a2a.TaskPayload:
		t := a2a.Task{Value: p.Value}
		if s.Events > 1 {
			s.Snapshot = k
		}
		if t.StateText() != "" {
			s.see(k, t.ID(), t.State(), true)
		}
		s.stamp(k, t.ID(), t.Status())
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: p.Value}
		s.Unclear = s.Unclear || u.FinalUnclear()
		if u.Final() {
			s.Final = cmp.Or(s.Final, k)
			if u.State().Terminal() {
				s.Closing = cmp.Or(s.Closing, k)
			}
		}
		s.see(k, u.TaskID(), u.State(), false)
		s.stamp(k, u.TaskID(), u.Status())
	}
}

func (s *Stream) see(k int, task string, state a2a.State, snapshot bool) {
	if s.TaskID == "" {
		s.TaskID = task
	}
	s.State = state
	switch {
	case s.Terminal == 0 && state.Terminal():
		s.Terminal, s.Ended, s.Updated = k, state, !snapshot
	case s.Terminal > 0 && s.Repeated == 0 && snapshot && state == s.Ended:
		s.Repeated = k
	}
}

func (s *Stream) stamp(k int, task string, status a2a.Status) {
	text := status.Get("timestamp").Text()
	at, unit, ok := ReadTimestamp(text)
	if !ok || task != s.TaskID {
		return
	}
	if s.Stamp == nil {
		s.Stamp = &Stamp{}
	}
	if at.After(s.Stamp.At) {
		*s.Stamp = Stamp{At: at, Unit: unit, Text: text, K: k}
	}
}

// Earlier reports whether a timestamp is earlier than the stamp even at the coarser precision of the two.
func (s *Stamp) Earlier(at time.Time, unit time.Duration) bool {
	unit = max(unit, s.Unit)
	return at.Truncate(unit).Before(s.At.Truncate(unit))
}

// ReadTimestamp returns the instant of a timestamp with a zone, and the precision with which it is written.
func ReadTimestamp(text string) (at time.Time, unit time.Duration, ok bool) {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, 0, false
	}
	unit = time.Second
	if len(text) > 19 && (text[19] == '.' || text[19] == ',') {
		for i := 20; i < len(text) && '0' <= text[i] && text[i] <= '9' && unit > 1; i++ {
			unit /= 10
		}
	}
	return at, unit, true
}

// name remembers the ids in an event, unless an earlier event had them.
func (s *Stream) name(seen *analysis.TaskObservation) {
	if s.NamedTask == nil {
		s.NamedTask = seen
	}
	if s.NamedContext == nil && seen.ContextID != "" {
		s.NamedContext = seen
	}
}

// OpenAfter returns for how long the body stayed open after its newest event, and whether that is known.
func (s *Stream) OpenAfter(end *analysis.StreamEnd) (time.Duration, bool) {
	if end.At.IsZero() || s.NewestAt.IsZero() {
		return 0, false
	}
	return end.At.Sub(s.NewestAt), true
}

// A Clock has what 1.0 timestamps show about the clock behind them.
type Clock struct {
	whole [3][len(wholeSecond)]byte // different times on a whole second
	count int                       // of them
	fine  bool                      // a time with a fractional second was seen
}

const wholeSecond = "2026-03-01T10:00:00Z"

// See reads the text of a time in UTC.
func (c *Clock) See(text []byte) {
	switch {
	case len(text) != len(wholeSecond):
		c.fine = true
		return
	case c.count == len(c.whole):
		return
	}
	for i := range c.count {
		if string(c.whole[i][:]) == string(text) {
			return
		}
	}
	copy(c.whole[c.count][:], text)
	c.count++
}

// WholeSeconds reports whether at least three different times were all on a whole second, which is no coincidence.
func (c *Clock) WholeSeconds() bool { return !c.fine && c.count == len(c.whole) }

// time lets the stream remember the time of a status.
func (s *Stream) time(status *a2a.Entity) {
	if v := status.Member("timestamp"); v.Kind() == a2a.String {
		raw := v.Raw()
		s.Clock.See(raw[1 : len(raw)-1])
	}
}
