package intake

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine/internal/dispatch"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// An observer observes whole requests, answers and events, and their contents.
type observer struct {
	bodies
	dispatcher *dispatch.Dispatcher
	hooks      *Hooks
	endpoints  endpoints
	shown      shownCards
	ids        sharedTexts
	givenUp    givenUp
	sessions   sessions
	walker     a2a.Walker
	whole      analysis.Observation // of the current message
	inner      analysis.Observation // of the task or card in it
	part       analysis.Observation // of the object in it
	partOf     *openExchange        // the exchange that the object belongs to
	visits     int                  // objects of the same text so far
	read       a2a.Answer           // the last decoded one
}

// Hooks are callbacks that receive results or provide facts. Each may be nil.
type Hooks struct {
	Ended []func(summary.Summary)                 // of each exchange that has ended, or is open at the end
	Event func(summary.Event)                     // of each event with A2A content
	Late  func(seq uint64, f capture.Fact)        // of each fact about an exchange that has ended
	Card  func(*analysis.Observation)             // for each card that an agent has shown, once it is known
	Known func(agentURL, target string) a2a.Known // about a request URL, instead of what was seen here
	Kept  func() analysis.Kept                    // by other programs, in the whole capture

	// OutOfTime reports whether there is no time left for long texts: what exceeds budget.End is not judged then. It may be nil.
	OutOfTime func() bool
}

func (h *Hooks) ended(s summary.Summary) {
	for _, f := range h.Ended {
		f(s)
	}
}

func (ob *observer) observe(in *openExchange, o *analysis.Observation) {
	ob.dispatcher.Observe(&in.Case, o)
}

// message begins the observation of a whole request, answer, event or notification. Only one is in progress at a time.
func (ob *observer) message(x *analysis.Exchange, kind analysis.Kinds, s capture.Step) *analysis.Observation {
	ob.whole = analysis.Observation{Kind: kind, Exchange: x, Dialects: x.Dialects, Arrival: s.Arrival, At: at(x, s)}
	return &ob.whole
}

// within begins the observation of a task or a card in a message. Only one is in progress at a time.
func (ob *observer) within(o *analysis.Observation, kind analysis.Kinds, at analysis.Place) *analysis.Observation {
	ob.inner = *o
	ob.inner.Kind, ob.inner.Place = kind, at
	return &ob.inner
}

// known returns the known facts about the URL of a request, which help to recognize the request.
func (ob *observer) known(in *openExchange) a2a.Known {
	if ob.hooks.Known != nil {
		return ob.hooks.Known(in.gathered.AgentURL, in.gathered.Target)
	}
	return ob.endpoints.knownAt(in.X)
}

// tellEvent reports an event to the hook.
func (ob *observer) tellEvent(x *analysis.Exchange, o *analysis.Observation, in *openExchange) {
	if ob.hooks.Event == nil || o.Answer == nil {
		return
	}
	p := summary.Event{Seq: x.Seq, Link: x.Link, K: o.Event.K, At: o.At, Kind: o.Answer.Payload.Kind}
	switch v := o.Answer.Payload.Value; p.Kind {
	case a2a.TaskPayload:
		t := a2a.Task{Value: v}
		p.Task, p.State = t.ID(), t.State()
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: v}
		p.Task, p.State = u.TaskID(), u.State()
	case a2a.ArtifactPayload:
		u := a2a.ArtifactUpdate{Value: v}
		p.Task = u.TaskID()
	}
	if p.Task == "" {
		p.Task = in.task
	}
	if o.Answer.Err != nil {
		p.Err = o.Answer.Err.String()
	}
	ob.hooks.Event(p)
}
