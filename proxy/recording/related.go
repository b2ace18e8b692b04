package recording

import (
	"bytes"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// relation is whether an exchange has to do with A2A. Through a forward proxy goes whatever a program has to say to
// anybody, such as what it asks a language model; where it shows no sign of A2A, its bodies are not for the record.
type relation uint8

const (
	related   relation = iota // it is recorded whole, like all that passes a tap
	undecided                 // no sign yet: what is recorded of it is held back
	unrelated                 // of its bodies the sizes are recorded
)

// maxSought bounds how much of an exchange is searched for a sign, in bytes of its bodies.
const maxSought = 64 << 10

// signs are names of members and values that stand in what agents and clients say to each other in every dialect, and
// hardly elsewhere. One is enough: what is kept although it was not A2A does less harm than what is missing.
var signs = [][]byte{
	[]byte(`"jsonrpc"`), []byte(`"messageId"`), []byte(`"message_id"`), []byte(`"contextId"`), []byte(`"context_id"`),
	[]byte(`"taskId"`), []byte(`"task_id"`), []byte(`"statusUpdate"`), []byte(`"status-update"`),
	[]byte(`"artifactUpdate"`), []byte(`"artifact-update"`), []byte(`"artifacts"`), []byte(`"TASK_STATE_`),
	[]byte(`"pushNotificationConfig"`), []byte(`"sessionId"`), []byte(`"defaultInputModes"`), // that of every card
}

// headSigns are beginnings of header fields that only A2A has.
var headSigns = [][]byte{[]byte("\na2a-"), []byte("\nx-a2a-")}

// A seeker looks for signs of A2A in an exchange.
type seeker struct {
	held   []capture.Step
	sought int    // bytes of bodies
	tail   []byte // of what was searched last: a sign may be cut in two
	noted  bool   // the record says that bodies are missing
}

// longestSign is the length of the longest sign.
var longestSign = func() (n int) {
	for _, s := range signs {
		n = max(n, len(s))
	}
	return n
}()

// relationOf tells what the head of a request shows.
func relationOf(head []byte) relation {
	h := capture.ParseRequestHead(head)
	path, _, _ := strings.Cut(h.Target, "?")
	_, route := a2a.RoutePrefix(path)
	switch {
	case route, a2a.IsCardPath(path), strings.Contains(path, "jwks"), h.Method == "CONNECT", hasHeadSign(head):
		return related
	case h.Fields.Get("Content-Encoding") != "": // what it says cannot be seen
		return related
	}
	return undecided
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

// answers tells what the head of an answer adds: what is neither JSON nor an event stream is not A2A.
func (s *seeker) answers(head []byte) relation {
	h := capture.ParseResponseHead(head)
	kind := capture.MediaType(h.Fields.Get("Content-Type"))
	switch {
	case hasHeadSign(head):
		return related
	case kind != "" && kind != "application/json" && !strings.HasSuffix(kind, "+json") && kind != streamType:
		return unrelated
	case len(h.Fields.Codings()) > 0:
		return related
	}
	return undecided
}

// reads tells what a piece of a body adds.
func (s *seeker) reads(p []byte) relation {
	text := append(s.tail, p...) //nolint:gocritic // it becomes the tail
	s.sought += len(p)
	s.tail = bytes.Clone(text[max(0, len(text)-longestSign+1):])
	for _, sign := range signs {
		if bytes.Contains(text, sign) {
			return related
		}
	}
	if s.sought > maxSought {
		return unrelated
	}
	return undecided
}

// decide tells what a piece shows about its exchange. At the end nothing has shown a sign.
func (x *exchange) decide(p *piece) relation {
	switch p.kind {
	case pieceRequestBody:
		return x.reads(p.data)
	case pieceAnswer:
		x.tail = nil
		return x.answers(p.data)
	case pieceAnswerBody:
		return x.reads(p.data)
	case pieceAnswerEnd, pieceEnded:
		return unrelated
	}
	return undecided
}

// withoutBodies appends what was held back of an exchange that is not A2A: its heads, and of its bodies the sizes.
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
	x.held, x.tail = nil, nil
	x.request.full.Store(true) // no more of it is sent here
	x.answer.full.Store(true)
	return steps
}

// knownAgents are those that have been spoken to in A2A: whatever else is said to them is recorded, too.
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
