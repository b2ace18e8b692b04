package delegation

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/a2a"
)

// A Call is a send that an agent made for one of its tasks, and its outcome.
type Call struct {
	Exchange uint64            // the send, by its number in the capture
	Link     analysis.Link     // the caller and the callee
	By       workflow.Evidence // the evidence for the task that it was made for
	For      *analysis.Brief   // the exchange that showed the end of the task that it was made for, without bodies; or nil
	Ended    analysis.Place    // the place of the end in For
	Broken   bool              // the outcome that the kind of the observation warns about has happened
	Failure  string            // CalleeFailed: the name of its failure
	Left     *analysis.TaskObservation
}

// Of returns the call that a CalleeAwaited, CalleeFailed or CalleeLeft is about.
func Of(p *analysis.Pass) *Call { return p.Detail.(*Call) }

// A work is a task as seen by its agent, or the request of a send before its task exists.
type work struct {
	maker     *send // that asked for it first
	agent     string
	task      string
	state     a2a.State                 // in which it was seen last
	shown     *analysis.TaskObservation // the same; nil if it was never seen
	active    bool                      // it was seen at work
	push      bool                      // there is a push config, or was
	over      *ending                   // nil while it continues, as far as known; otherwise ending
	ending    ending
	completed *ending    // how it was completed; or nil
	calls     []*send    // made for it, surely
	crowded   bool       // there were more than are kept
	contents  []content  // contents from its agent
	first     [1]content // room for the first of that
	obscure   bool       // it has sent more, or may have
}

// An ending is the end of a task, or a Message instead of a task.
type ending struct {
	analysis.Moment
	x       *analysis.Brief           // that showed it; nil if nothing is known to have been asked for the task
	seen    *analysis.TaskObservation // of the end of a task
	message analysis.Place            // of the Message, otherwise
}

// place returns the place of the end.
func (e *ending) place() analysis.Place {
	if e.seen != nil {
		return e.seen.StatePlace()
	}
	return e.message
}

// end records the end.
func (w *work) end(p *analysis.Pass, e ending) {
	if len(w.calls) > 0 {
		e.x = p.Exchange.Keep()
	}
	w.ending = e
	w.over = &w.ending
}

// A send is a message that was sent to an agent.
type send struct {
	n         uint64
	link      analysis.Link
	began     uint64
	asks      *work // that it asks for
	causes    *work // that it was made for, surely; or nil
	by        workflow.Evidence
	waits     bool          // its client did not request an immediate answer
	content   digest.Digest // of the message
	open      *analysis.Exchange
	x         *analysis.Brief  // without its large parts, once it is over; nil if no agent can have caused it
	settled   *analysis.Moment // when its client knew the answer, or that it has to wait for someone else: at; or nil
	at        analysis.Moment
	overtaken *ending // of the work that it was made for, which did not wait for it; or nil
	outcome   analysis.Outcome
	whole     bool // the answer is complete
}

// newSend returns a send that requests already known work, or else new work.
func newSend(x *analysis.Exchange, arrival uint64, known *work) *send {
	var s *send
	if known != nil {
		s = &send{asks: known}
	} else {
		both := &struct {
			send send
			work work
		}{}
		s = &both.send
		s.asks = &both.work
		*s.asks = work{maker: s, agent: x.Link.Agent, push: x.Call.PushConfig.URL() != ""}
	}
	s.n, s.link, s.began, s.open, s.waits = x.Seq, x.Link, arrival, x, waits(x)
	s.content = contentOf(a2a.Message{Value: x.Call.Message})
	return s
}

// waits reports whether the client lets the agent decide when to answer, or asks it to wait for a result.
func waits(x *analysis.Exchange) bool {
	if x.Call.PushConfig.URL() != "" {
		return false
	}
	configuration := x.Call.Params.Get("configuration")
	for _, name := range [...]string{"returnImmediately", "return_immediately"} {
		if v := configuration.Get(name); v.Exists() && !v.IsNull() {
			if atOnce, ok := v.Bool(); atOnce || !ok {
				return false
			}
		}
	}
	if v := configuration.Get("blocking"); v.Exists() && !v.IsNull() {
		wait, ok := v.Bool()
		return wait && ok
	}
	return true
}

func (s *send) settle(when analysis.Moment) {
	if s.settled == nil {
		s.at = when
		s.settled = &s.at
	}
}

// failed reports whether the request failed: the task has failed or was rejected, or there was an error instead of a
// task.
func (s *send) failed() bool { return s.failure() != "" }

// failure returns the name of a send's failure; empty if it did not fail, or the outcome is unknown.
func (s *send) failure() string {
	switch {
	case s.asks.maker == s && (s.asks.state == a2a.Failed || s.asks.state == a2a.Rejected):
		return analysis.QuoteText(s.asks.shown.Spelling)
	case s.vague():
		return ""
	}
	return s.outcome.Failure
}

// vague reports whether the outcome of a send is unknown, or not caused by the agent.
func (s *send) vague() bool {
	switch s.outcome.Failure {
	case analysis.ClientLeft, analysis.NotPassedOn, analysis.UnknownReason:
		return true
	}
	return s.open != nil || !s.outcome.Known()
}

// about returns the Call of a send for an observation.
func (s *send) about(w *ending, broken bool) *Call {
	return &Call{Exchange: s.n, Link: s.link, By: s.by, For: w.x, Ended: w.place(), Broken: broken}
}

// before reports whether a moment was certainly before another one.
func before(a, b analysis.Moment) bool {
	return a.Arrival < b.Arrival && (a.At.IsZero() || b.At.IsZero() || a.At.Before(b.At))
}

// A content is a digest of something that an agent sent, and the arrival number of its first occurrence.
type content struct {
	digest  digest.Digest
	arrival uint64
}
