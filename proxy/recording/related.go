package recording

import (
	"bytes"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/neighbor"
)

// A Scope is which exchanges are recorded with their bodies. A forward proxy gets all traffic of a program.
type Scope uint8

// The scopes.
const (
	Everything Scope = iota // all, as on a tap
	Recognized              // A2A, and the calls of models, MCP servers and other JSON-RPC services
	OnlyA2A
)

// A relation is whether an exchange is recorded with its bodies.
type relation uint8

const (
	related   relation = iota // A2A: it is recorded completely, like all traffic of a tap
	adjacent                  // a call in scope that is not A2A; also recorded completely
	undecided                 // no sign yet: its steps are held back
	unrelated                 // of its bodies the sizes are recorded
)

// maxSought bounds how much of an exchange is searched for a sign, in bytes of its bodies.
const maxSought = 64 << 10

// signs are names of members and values that messages of every dialect contain, and other messages hardly ever. One is
// enough: recording an exchange outside A2A does less harm than missing an A2A exchange.
var signs = [][]byte{
	[]byte(`"messageId"`), []byte(`"message_id"`), []byte(`"contextId"`), []byte(`"context_id"`),
	[]byte(`"taskId"`), []byte(`"task_id"`), []byte(`"statusUpdate"`), []byte(`"status-update"`),
	[]byte(`"artifactUpdate"`), []byte(`"artifact-update"`), []byte(`"artifacts"`), []byte(`"TASK_STATE_`),
	[]byte(`"pushNotificationConfig"`), []byte(`"sessionId"`), []byte(`"defaultInputModes"`), // in every card
	envelope,
}

// envelope is the sign of JSON-RPC, which MCP and other protocols also use.
var envelope = []byte(`"jsonrpc"`)

// headSigns are beginnings of header fields that only A2A has.
var headSigns = [][]byte{[]byte("\na2a-"), []byte("\nx-a2a-")}

// A seeker looks for signs of A2A in an exchange.
type seeker struct {
	held    []capture.Step
	head    []byte   // of the request
	codings []string // of the body that is being searched
	coded   []byte   // the body, if it is coded
	sought  int      // bytes of bodies
	tail    []byte   // of the last searched piece: a sign may be split
	rpc     bool     // it is JSON-RPC, and the end of its request shows the protocol
	noted   bool     // the record has a note that bodies are missing
}

// longestSign is the length of the longest sign.
var longestSign = func() (n int) {
	for _, s := range signs {
		n = max(n, len(s))
	}
	return n
}()

// relationOf returns the relation that a request's head shows.
func (s *seeker) relationOf(head []byte, in Scope) relation {
	h := capture.ParseRequestHead(head)
	path, _, _ := strings.Cut(h.Target, "?")
	_, route := a2a.RoutePrefix(path)
	_, overGRPC := h.GRPC()
	switch {
	case route, overGRPC, a2a.IsCardPath(path), strings.Contains(path, "jwks"), h.Method == "CONNECT", hasHeadSign(head):
		return related
	case neighbor.ByHead(&h) != neighbor.Other:
		return in.ofNeighbor()
	}
	s.head, s.codings = bytes.Clone(head), h.Fields.Codings()
	return undecided
}

// ofNeighbor returns the relation of a recognized call that is not A2A.
func (in Scope) ofNeighbor() relation {
	if in == OnlyA2A {
		return unrelated
	}
	return adjacent
}

func hasHeadSign(head []byte) bool {
	lower := bytes.ToLower(head)
	for _, s := range headSigns {
		if bytes.Contains(lower, s) {
			return true
		}
	}
	return false
}

// answers returns the relation that the head of an answer shows: an answer that is neither JSON nor an event stream is
// not A2A.
func (s *seeker) answers(head []byte) relation {
	h := capture.ParseResponseHead(head)
	kind := capture.MediaType(h.Fields.Get("Content-Type"))
	s.tail, s.coded, s.codings = nil, nil, h.Fields.Codings()
	switch {
	case hasHeadSign(head):
		return related
	case kind != "" && kind != "application/json" && !strings.HasSuffix(kind, "+json") && kind != streamType:
		return unrelated
	}
	return undecided
}

// reads returns the relation that a piece of a body shows. An encoded body is searched once enough of it has arrived.
func (s *seeker) reads(p []byte, in Scope) relation {
	s.sought += len(p)
	if len(s.codings) > 0 {
		if s.coded = append(s.coded, p...); s.sought <= maxSought {
			return undecided
		}
		return s.decoded(in)
	}
	return s.search(p, in)
}

// decoded returns the relation that the encoded body shows so far.
func (s *seeker) decoded(in Scope) relation {
	if len(s.coded) == 0 {
		return undecided
	}
	text, _ := capture.Decode(s.coded, s.codings, maxSought) // what came before a fault is enough
	s.coded = nil
	return s.search(text, in)
}

// search looks for signs in a piece of a body.
func (s *seeker) search(p []byte, in Scope) relation {
	text := append(s.tail, p...) //nolint:gocritic // it becomes the tail
	s.tail = bytes.Clone(text[max(0, len(text)-longestSign+1):])
	for _, sign := range signs {
		if !bytes.Contains(text, sign) {
			continue
		}
		if &sign[0] != &envelope[0] {
			return related
		}
		if s.rpc = true; in == Recognized {
			return adjacent // or A2A; the next exchange with the agent must show a sign, too
		}
	}
	switch {
	case s.sought <= maxSought:
		return undecided
	case s.rpc:
		return related
	}
	return unrelated
}

// asked returns the relation that a whole request shows.
func (s *seeker) asked(in Scope) relation {
	if now := s.decoded(in); now != undecided {
		return now
	}
	s.codings = nil
	h := capture.ParseRequestHead(s.head)
	var body capture.Body
	for i := range s.held {
		if piece, ok := s.held[i].What.(capture.RequestBody); ok {
			body.Data = append(body.Data, piece.Data...)
		}
	}
	body.Size, body.Complete = int64(len(body.Data)), true
	text, _ := body.DecodeUpTo(maxSought, &h)
	request := neighbor.Request{Method: h.Method, Target: h.Target, Fields: h.Fields}
	if doc := jsondoc.Parse(text); doc.Err == nil {
		request.Body = doc.Root
	}
	switch near := neighbor.Recognize(request, 0); {
	case near != nil && near.Kind != neighbor.Other:
		return in.ofNeighbor()
	case s.rpc:
		return related
	}
	return undecided
}

// decide returns the relation that a piece shows. At the end, an exchange without a sign is unrelated.
func (x *exchange) decide(p *piece) relation {
	in := x.conn.Bodies
	switch p.kind {
	case pieceRequestBody:
		return x.reads(p.data, in)
	case pieceRequestEnd:
		return x.asked(in)
	case pieceAnswer:
		return x.answers(p.data)
	case pieceAnswerBody:
		return x.reads(p.data, in)
	case pieceAnswerEnd, pieceEnded:
		if now := x.decoded(in); now != undecided {
			return now
		}
		return unrelated
	}
	return undecided
}

// withoutBodies appends the held-back steps of an exchange outside A2A: its heads, and the sizes of its bodies.
func (r *Recorder) withoutBodies(steps []capture.Step, x *exchange) []capture.Step {
	for _, s := range x.held {
		withheld := true
		switch what := s.What.(type) {
		case capture.RequestBody:
			s.What = capture.RequestBody{Dropped: int64(len(what.Data)) + what.Dropped}
		case capture.ResponseBody:
			s.What = capture.ResponseBody{Dropped: int64(len(what.Data)) + what.Dropped}
		case capture.ResponseEvent:
			s.What = capture.ResponseBody{Dropped: int64(len(what.Event.Raw)) + what.Event.Dropped}
		default:
			withheld = false
		}
		if withheld {
			s.Parsed = nil
			if !x.noted {
				x.noted = true
				r.count(func(s *Stats) { s.Unrelated++ })
				steps = append(steps, capture.Step{Seq: s.Seq, Offset: s.Offset, What: capture.Fact{Note: capture.NoSign}})
			}
		}
		steps = append(steps, s)
	}
	x.seeker = seeker{noted: x.noted}
	x.request.full.Store(true) // no more of it is sent here
	x.answer.full.Store(true)
	return steps
}

// knownAgents are the agents that have received A2A requests: all other traffic with them is recorded, too.
type knownAgents map[capture.Peer]struct{}

// maxKnownAgents bounds how many are known. Later ones have to show a sign in each exchange.
const maxKnownAgents = 1_000

func (k knownAgents) has(agent capture.Peer) bool {
	_, ok := k[agent]
	return ok
}

func (k knownAgents) add(agent capture.Peer) {
	if len(k) < maxKnownAgents {
		k[agent] = struct{}{}
	}
}
