package capture

import (
	"math"
	"strings"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
)

// A Step is one thing that happened to an exchange: the unit in which captures are written and followed.
//
// Steps of one exchange come in the order of their kinds below, with two exceptions: pieces of the request and of the
// response may mix (an answer can overtake its request), and facts come at any time. A recorder stores steps in causal
// order, over all exchanges: an effect comes after its cause, and Started plus Offset never decreases. Only the bodies
// and ends that package redact holds back are stored later, with their original offsets.
type Step struct {
	Arrival uint64        // order of arrival in this capture, from 1; assigned by the Sink that stores it
	Seq     uint64        // the exchange; 0 for what concerns the capture as a whole
	Offset  time.Duration // since the exchange's Started; NotKnown if not measured
	What    What          // what happened
	Keys    []Key         // keys that find the exchange, learned in this step; not part of the record
	Parsed  *Parsed       // the parsed form of this step's bytes; nil if unparsed, or changed since
}

// Parsed caches the parsed forms of a step's bytes for later stages of the pipeline. It exists only in memory and can
// always be computed from the bytes. It is shared and must not be changed.
type Parsed struct {
	Head   *Head        // of Opened and ResponseHead
	Fields *EventFields // of ResponseEvent
	Text   []byte       // of RequestEnd and ResponseEnd: the whole body, its content coding taken off
	Doc    *jsondoc.Doc // of Text, or of the data of Fields; nil if that was not taken for JSON

	// Message is the message in the body of a gRPC request, or in a ResponseEvent of the answer; nil for all others.
	// Its text and document are then the Text and Doc above.
	Message *grpc.Reading
}

// largeText is the length above which a Text probably was decoded and is not the bytes on the wire.
const largeText = 64 << 10

// Size estimates the memory of a Parsed in bytes, without its step's bytes.
func (p *Parsed) Size() int {
	if p == nil {
		return 0
	}
	n := 0
	if p.Head != nil {
		n += len(p.Head.Line) + 64*len(p.Head.Fields)
	}
	if len(p.Text) > largeText {
		n += len(p.Text)
	}
	switch {
	case p.Message != nil && p.Text == nil:
		n += p.Message.Size()
	case p.Doc != nil:
		n += p.Doc.Size()
	}
	return n
}

// What is the content of a step: one of the types below.
type What interface{ what() }

// The kinds of steps.
type (
	// Opened begins an exchange, when the request's head has arrived.
	Opened struct {
		ID      uuid.UUID
		Conn    uint64
		Stream  uint32
		Started time.Time
		Client  Peer
		Agent   Peer
		Head    []byte
	}

	// RequestBody is a piece of the request's body.
	RequestBody struct {
		Data    []byte
		Dropped int64 // bytes that passed after Data and were not kept
		Decoded bool
	}

	// RequestEnd ends a request that arrived as its framing declared.
	RequestEnd struct {
		Size    int64 // of the body on the wire, before decoding and redaction; NotKnown if not measured
		Trailer []byte
	}

	// Informational is the head of a 1xx answer.
	Informational struct{ Head []byte }

	// ResponseHead is the head of the final answer.
	ResponseHead struct {
		Head   []byte
		Stream bool // its body will come as ResponseEvent
	}

	// ResponseBody is a piece of the answer's body.
	ResponseBody struct {
		Data    []byte
		Dropped int64
		Decoded bool
	}

	// ResponseEvent is one block of an event stream. Its At is the step's Offset.
	ResponseEvent struct{ Event Event }

	// ResponseEnd ends an answer that arrived as its framing declared.
	ResponseEnd struct {
		Size    int64
		Trailer []byte
	}

	// Fact is additional knowledge about the exchange. Zero fields have no meaning.
	Fact struct {
		Client   Peer // replaces the known client, if it has a name
		Rewrites []Rewrite
		Note     string
		Replayed bool
		End      SideEnd // replaces the known end of its side, if there is one
	}

	// Closed ends the exchange. After it only facts may come.
	Closed struct {
		Fault       *TransportFault // nil if it ended as HTTP says
		Interrupted bool            // written by a later recorder for an exchange that an earlier one left open
		Dropped     int64           // bytes of heads, bodies and events that passed unrecorded because the recorder was behind
	}

	// Lost reports that something was not recorded. Its step has Seq 0, or the number of the exchange with the gap.
	Lost struct {
		Exchanges int64 // exchanges of which nothing is in the capture
		Bytes     int64 // bytes of them, or of the exchange that has the gap
		Reason    string
		Crash     *Crash // the recorder's end, if that is the reason; otherwise nil
	}
)

// AgentName returns the name that the fact gives to the exchange's agent, or "".
func (f *Fact) AgentName() string {
	if name, ok := strings.CutPrefix(f.Note, NamedByServer); ok {
		return name
	}
	return ""
}

func (Opened) what()        {}
func (RequestBody) what()   {}
func (RequestEnd) what()    {}
func (Informational) what() {}
func (ResponseHead) what()  {}
func (ResponseBody) what()  {}
func (ResponseEvent) what() {}
func (ResponseEnd) what()   {}
func (Fact) what()          {}
func (Closed) what()        {}
func (Lost) what()          {}

// AddLost adds to a sum of losses. Counts come from files and other machines, so the sum neither wraps nor shrinks: it
// saturates, and a negative count adds nothing.
func AddLost(sum, n int64) int64 {
	if n > 0 && sum > math.MaxInt64-n {
		return math.MaxInt64
	}
	return sum + max(n, 0)
}

// A Key is a fact by which an exchange can be found without reading it, such as {"task", "t-1"}.
type Key struct {
	Kind  string // "task", "context", "agent", "operation"
	Value string
}
