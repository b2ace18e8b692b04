package filter

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
)

// An Outline is what is known of an exchange by those who have not read it: all that the keys of the language ask for,
// but for headers, JSON, ids of messages, and words that are searched in bodies.
type Outline struct {
	Seq          uint64
	ID           uuid.UUID
	Started      time.Time
	Took         time.Duration // capture.NotKnown while it is open
	Gap          time.Duration // the longest silence; capture.NotKnown if nothing was timed
	State        capture.State
	Client       string // names
	Agent        string
	AgentURL     string
	Method       string
	Target       string
	Host         string
	Status       int      // 0 if no answer came
	RequestSize  int64    // bytes of bodies on the wire
	ResponseSize int64    // capture.NotKnown if no answer came
	Types        []string // event fields of a stream
	Traces       []string // values of headers of tracing systems, and ids
	Partial      bool     // there are more ids, types and errors than the outline and its facts have
	Stream       bool
	Cut          bool
	Rewritten    bool
	Replayed     bool
	Broken       bool // a fault ended it
	FaultMade    bool // by the recorder, because it was told to
}

// Decide holds the filter against an exchange of which only an outline is known. It returns whether the exchange
// matches, and whether that is certain: if not, the exchange has to be read and held against Match.
func (f *Filter) Decide(o *Outline, facts Facts) (match, certain bool) {
	if f == nil || f.root == nil {
		return true, true
	}
	s := o.subject(facts)
	can := s.outlook(f.root)
	return can.match, can.match != can.fail
}

// Certain reports whether Decide always is, for outlines that are not partial: nothing is asked for that they lack.
func (f *Filter) Certain() bool { return f == nil || f.root == nil || decidable(f.root) }

func decidable(n node) bool {
	all := func(list []node) bool {
		return !slices.ContainsFunc(list, func(child node) bool { return !decidable(child) })
	}
	switch n := n.(type) {
	case anyOf:
		return all(n)
	case allOf:
		return all(n)
	case negate:
		return decidable(n.node)
	case keyTerm:
		_, header := n.test.(headerTest)
		_, json := n.test.(jsonTest)
		return !header && !json && n.key.Name != "message"
	}
	return false
}

// subject returns an exchange that has what the outline knows.
func (o *Outline) subject(facts Facts) *subject {
	x := &capture.Exchange{
		Seq: o.Seq, ID: o.ID, Started: o.Started, Ended: o.Took, State: o.State, Replayed: o.Replayed,
		Client: capture.Peer{Name: o.Client}, Agent: capture.Peer{Name: o.Agent, URL: o.AgentURL},
	}
	if o.Broken {
		x.Fault = &capture.Fault{}
	}
	if o.Rewritten {
		x.Rewrites = make([]capture.Rewrite, 1)
	}
	if o.FaultMade {
		x.Notes = []string{capture.FaultMadeHere + "a fault"}
	}
	s := &subject{x: x, facts: facts, outline: o, req: &capture.Head{Method: o.Method, Target: o.Target}}
	if o.Host != "" {
		s.req.Fields = append(s.req.Fields, capture.Field{Name: "Host", Value: o.Host})
	}
	for _, id := range o.Traces {
		name := "x-b3-traceid"
		if strings.Count(id, "-") >= 3 {
			name = "traceparent"
		}
		s.req.Fields = append(s.req.Fields, capture.Field{Name: name, Value: id})
	}
	if o.Status > 0 || o.ResponseSize >= 0 || o.Stream {
		x.Response = &capture.Response{Stream: o.Stream}
	}
	if o.Status > 0 {
		s.resp = &capture.Head{Status: o.Status}
	}
	return s
}

// outlook returns which outcomes a part of an expression can have, by what the outline knows.
func (s *subject) outlook(n node) outlook {
	both := outlook{true, true}
	switch n := n.(type) {
	case anyOf:
		can := outlook{false, true}
		for _, child := range n {
			of := s.outlook(child)
			can.match, can.fail = can.match || of.match, can.fail && of.fail
		}
		return can
	case allOf:
		can := outlook{true, false}
		for _, child := range n {
			of := s.outlook(child)
			can.match, can.fail = can.match && of.match, can.fail || of.fail
		}
		return can
	case negate:
		inner := s.outlook(n.node)
		return outlook{inner.fail, inner.match}
	case keyTerm:
		switch n.test.(type) {
		case headerTest, jsonTest:
			return both
		}
		if n.key.Name == "message" {
			return both
		}
		holds := n.test.holds(s)
		if !holds && s.outline.Partial && slices.Contains(partialKeys, n.key.Name) {
			return both
		}
		return outlook{holds, !holds}
	}
	return both
}

// partialKeys are those of which an outline may have only a part.
var partialKeys = []string{"task", "context", "event", "code", "trace"}
