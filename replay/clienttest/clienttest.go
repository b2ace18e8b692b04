// Package clienttest is the acceptance of clients: we play the agent, with chosen behaviours and faults, and say of each
// thing that a client should do whether it did.
//
// A [World] is an agent as a client meets it, and what is expected of the client there. The caller (package prober of
// the command) puts each world behind a tap, starts the client, or has it started, and gives what passed to
// [World.Judge]. Nothing is asked of a client but to send a text to an address: what can only be told by its exit
// status is inconclusive where it was started by hand.
package clienttest

import (
	"errors"
	"net/http"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/probe"
	"a2atap/replay/refagent"
)

// A World is an agent that a client is pointed at.
type World struct {
	Name    string // in lower case with hyphens; also that of the agent in the record
	Title   string
	Agent   string           // the reference agent that is played
	Options refagent.Options // of it
	Fault   string           // that is made on the way, as record --fault has it; empty for none
	// Around changes what the agent answers; nil changes nothing.
	Around func(http.Handler) http.Handler
	Text   string // that the client is to send
	Stream bool   // it should ask for a stream
	// Excused are the rules that a client breaks there for want of something that it was not given.
	Excused []string
	// Expectations are what is looked at, in reading order.
	Expectations []*Expectation
}

// An Expectation is one thing that a client should do.
type Expectation struct {
	ID       string // names it for good
	Title    string
	Category analysis.Category
	Level    analysis.Level
	Sections []string
	Fix      string
	// look says how it came out, as the scenarios of package probe do.
	look func(*Seen) error
}

// Seen is what passed between a client and the agent of a world.
type Seen struct {
	Exchanges []*capture.Exchange // in order of arrival
	Started   bool                // by us, so that Status counts
	Status    int                 // with which the client ended
	Late      bool                // it did not end in time
	Before    *Seen               // what passed in the first world, where all is as usual; nil in that
}

// An Outcome is how an expectation came out.
type Outcome struct {
	*Expectation
	World   *World
	Status  probe.Status
	Message string // why it is not a pass
	Failure *probe.Failure
	Numbers []uint64 // of the exchanges
}

// Judge returns how each expectation of a world came out.
func (w *World) Judge(s *Seen) []Outcome {
	var out []Outcome
	for _, e := range w.Expectations {
		o := Outcome{Expectation: e, World: w, Status: probe.Pass}
		for _, x := range s.Exchanges {
			o.Numbers = append(o.Numbers, x.Seq)
		}
		err := error(&probe.Skip{Why: "no client came"})
		if len(s.Exchanges) > 0 {
			err = e.look(s)
		}
		var skip *probe.Skip
		var unclear *probe.Inconclusive
		switch {
		case err == nil:
		case errors.As(err, &skip):
			o.Status, o.Message = probe.Skipped, skip.Why
		case errors.As(err, &unclear):
			o.Status, o.Message = probe.Unproved, unclear.Why
		default:
			o.Status, o.Message = probe.Failed, err.Error()
			errors.As(err, &o.Failure)
		}
		out = append(out, o)
	}
	return out
}

// A call is an exchange as it was read, unless it fetches a card.
type call struct {
	*capture.Exchange
	*reading.Reading
}

// calls returns the calls that the client made.
func (s *Seen) calls() []call {
	var list []call
	for _, x := range s.Exchanges {
		if r := reading.Read(x); r.Call.Operation != a2a.GetCard && !isCard(x) {
			list = append(list, call{x, r})
		}
	}
	return list
}

// isCard reports whether a request is for a card, wherever clients look for one.
func isCard(x *capture.Exchange) bool {
	return capture.ParseRequestHead(x.Request.Head).Method == http.MethodGet && reading.Read(x).Call.Operation == a2a.NoOperation
}

// sends reports whether a call sends a message.
func (c call) sends() bool {
	return c.Call.Operation == a2a.SendMessage || c.Call.Operation == a2a.SendStreamingMessage
}

// status returns the HTTP status of the answer; 0 if none came.
func (c call) status() int {
	if c.Response == nil {
		return 0
	}
	return capture.ParseResponseHead(c.Response.Head).Status
}

// streamed reports whether the answer is a stream.
func (c call) streamed() bool {
	return c.Response != nil && len(c.Response.Events) > 0
}

// until returns when a call was over, or when it began if that is not known.
func (c call) until() time.Time {
	if c.Ended > 0 {
		return c.Started.Add(c.Ended)
	}
	return c.Started
}
