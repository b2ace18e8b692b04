// Package clienttest has acceptance tests for clients: it plays the agent, with chosen behaviors and faults, and
// reports for each requirement whether the client met it.
//
// A [World] is an agent for a client under test, with the expectations about the client. The caller (package prober
// of the command) puts each world behind a tap, starts the client, or has it started, and passes the traffic to
// [World.Judge]. A client only needs to send a text to an address: expectations about its exit status are
// inconclusive if it was started by hand.
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

// A World is an agent for a client under test.
type World struct {
	Name    string // in lower case with hyphens; also the agent's name in the record
	Title   string
	Agent   string           // the reference agent to run
	Options refagent.Options // of it
	Fault   string           // made by the tap, in the form of record --fault; empty for none
	// Around changes the agent's answers; nil changes nothing.
	Around func(http.Handler) http.Handler
	Text   string // that the client is to send
	Stream bool   // it should ask for a stream
	// Excused are the rules that a client necessarily breaks there, because it was not given something.
	Excused []string
	// Expectations are the things to check, in reading order.
	Expectations []*Expectation
}

// An Expectation is one thing that a client should do.
type Expectation struct {
	ID       string // its permanent name
	Title    string
	Category analysis.Category
	Level    analysis.Level
	Sections []string
	Fix      string
	// look returns the outcome, like the scenarios of package probe.
	look func(*Seen) error
}

// Seen is the traffic between a client and the agent of a world.
type Seen struct {
	Exchanges []*capture.Exchange // in order of arrival
	Started   bool                // by a2atap, so that Status counts
	Status    int                 // the client's exit status
	Late      bool                // the client did not end in time
	Before    *Seen               // the traffic in the first world, without anomalies; nil in the first world
}

// An Outcome is the result of an expectation.
type Outcome struct {
	*Expectation
	World   *World
	Status  probe.Status
	Message string // why it did not pass
	Failure *probe.Failure
	Numbers []uint64 // of the exchanges
}

// Judge returns the outcome of each expectation of a world.
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

// A call is an exchange that was read and does not fetch a card.
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

// isCard reports whether a request is for a card, at any of the paths that clients try.
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

// until returns the end of a call, or its beginning if the end is unknown.
func (c call) until() time.Time {
	if c.Ended > 0 {
		return c.Started.Add(c.Ended)
	}
	return c.Started
}
