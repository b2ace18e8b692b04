package filter

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
)

// An Outline has the facts about an exchange that are available without reading it: everything that the language's keys
// use, except headers, JSON, ids of messages, and text search in bodies.
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
	Partial      bool     // the exchange has more ids, types and errors than the outline and its facts
	Stream       bool
	Cut          bool
	Rewritten    bool
	Replayed     bool
	Broken       bool // a fault ended it
	FaultMade    bool // injected by the recorder on request
}

// Decide matches the filter against the outline of an exchange. It returns whether the exchange matches, and whether
// that is certain: if not, the exchange must be read and passed to Match.
func (f *Filter) Decide(o *Outline, facts Facts) (match, certain bool) {
	if f == nil || f.root == nil {
		return true, true
	}
	s := o.subject(facts)
	can := outlookOf(f.root, s.outlook)
	return can.match, can.match != can.fail
}

// Certain reports whether Decide is always certain for complete outlines: the filter needs no data that they lack.
func (f *Filter) Certain() bool { return f == nil || f.root == nil || everyTerm(f.root, decidable) }

func decidable(n node) bool {
	t, ok := n.(keyTerm)
	if !ok || t.key.Name == "message" {
		return false
	}
	switch t.test.(type) {
	case headerTest, jsonTest:
		return false
	}
	return true
}

// subject returns an exchange with the contents of the outline.
func (o *Outline) subject(facts Facts) *subject {
	x := &capture.Exchange{
		Seq: o.Seq, ID: o.ID, Started: o.Started, Ended: o.Took, State: o.State, Replayed: o.Replayed,
		Client: capture.Peer{Name: o.Client}, Agent: capture.Peer{Name: o.Agent, URL: o.AgentURL},
	}
	if o.Broken {
		x.Fault = &capture.TransportFault{}
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

// outlook returns the possible outcomes of a word of an expression, given the outline.
func (s *subject) outlook(n node) outlook {
	if !decidable(n) {
		return either
	}
	t := n.(keyTerm) //nolint:forcetypeassert // no other word is
	holds := t.test.holds(s)
	if !holds && s.outline.Partial && slices.Contains(partialKeys, t.key.Name) {
		return either
	}
	return outlook{holds, !holds}
}

// partialKeys are the keys for which an outline may be incomplete.
var partialKeys = []string{"task", "context", "event", "code", "trace"}
