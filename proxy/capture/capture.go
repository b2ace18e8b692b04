// Package capture holds the central type of a2atap: the Exchange, one HTTP request and its response. It defines how to
// record exchanges (Sink) and how to read them (Source). Its subpackages search exchanges, hide their secrets and write
// them: filter, redact, transcript, har, jsonl, open.
//
// An exchange is recorded in steps, as its pieces pass: opened with its request's head, then bodies and events, then
// closed. The steps of all exchanges are in one order, the order of arrival, so later readers see the same order as
// live readers. Exchanges and steps are two views of one record: Assemble makes exchanges of steps, Interleave makes
// steps of exchanges.
//
// Bytes come first. Heads are raw, bodies are as on the wire without transfer framing, and derived values (decoded
// bodies, the data of an event, a dialect) are computed by readers and never stored. The record states what is missing:
// readers can distinguish empty, not kept, cut off, and still open.
//
// The package knows HTTP and server-sent events, but not A2A. Protocol knowledge about an exchange (the keys that find
// it, the places of its secrets) comes from a Describer that the caller passes in.
//
// # Caveats
//
// An Exchange is held in memory as a whole. Work on long streams goes step by step, one event at a time. A program that
// shows a stream reads it in part (Source.Ends, Source.StepsOf).
package capture

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/grpc"
)

// An Exchange is one HTTP request and its response.
//
// It is a record: pieces are added until it is closed, and no piece ever changes. Views (selection, marks, findings,
// decoded objects) are kept separately, keyed by Seq. The caller owns an Exchange that a Source returned.
type Exchange struct {
	Seq      uint64        // order of arrival in this capture, from 1
	ID       uuid.UUID     // the same in every copy of this exchange
	Conn     uint64        // the client connection that carried it, from 1 in this capture; 0 if unknown
	Stream   uint32        // its stream on that connection in HTTP/2 (RFC 9113 section 5.1.1); otherwise 0
	Started  time.Time     // UTC, when the first bytes of the request were read
	Ended    time.Duration // offset of its end from Started; NotKnown while it is open or if the end was not seen
	State    State         // open, closed, or interrupted by the end of the recorder
	Client   Peer
	Agent    Peer
	Request  Request
	Response *Response       // nil if none arrived
	Fault    *TransportFault // nil if the exchange ended as HTTP says it should; an HTTP 500 is not a fault
	Ends     []SideEnd       // how sides ended their part before the answer was complete; a client may half-close and later leave
	Rewrites []Rewrite       // what was changed on the way, in order
	Notes    []string        // the recorder's remarks: "the card is signed; rewriting breaks ..."
	Lost     int64           // bytes that passed unrecorded while the recorder was behind; the gaps are at unknown places
	Replayed bool            // one of our own verbs sent it
}

// Foreign reports whether the exchange with that id came from the HAR of another program, even if it was copied since.
// Such programs may omit header fields, above all those with credentials. Only ids of such exchanges are derived from
// the entry (version 5); others are random.
func Foreign(id uuid.UUID) bool { return id != uuid.Nil && id.Version() == 5 }

// NotKnown is the value of a size or an offset that was not measured, such as those that a HAR lacks.
const NotKnown = -1

// State is the progress of an exchange.
type State uint8

// The states of an exchange.
const (
	StateOpen        State = iota // still passing
	StateClosed                   // over, with or without a fault
	StateInterrupted              // the recorder ended first: what is missing was not seen
)

// String returns the state's name in lower case.
func (s State) String() string {
	switch s {
	case StateOpen:
		return "open"
	case StateClosed:
		return "closed"
	case StateInterrupted:
		return "interrupted"
	}
	return "unknown"
}

// ParseState returns the state of that name.
func ParseState(s string) (State, error) {
	for state := StateOpen; state <= StateInterrupted; state++ {
		if s == state.String() {
			return state, nil
		}
	}
	return 0, fmt.Errorf("unknown state %q; use open, closed or interrupted", s)
}

// A Peer is one end of an exchange.
type Peer struct {
	Name string `json:"name"`          // never contains a process id or an ephemeral port; empty if not known
	Addr string `json:"addr,omitzero"` // host:port of the socket, if known
	// URL is, of an agent, where it really lives, never the tap's address; of a client its Home, if known.
	URL string `json:"url,omitzero"`
	How string `json:"how,omitzero"` // how its name was found out, such as "user-agent"; of an agent empty if it was given
}

// How an agent was named that the user has not named.
const (
	ByAddress = "address"    // host:port
	ByCommand = "command"    // the command that runs a tool
	ByServer  = "serverInfo" // what an MCP server calls itself
)

// Unnamed reports whether the name of an agent was given neither by the user nor by the agent.
func (p *Peer) Unnamed() bool { return p.How == ByAddress || p.How == ByCommand }

// ByUnseen is how a client without a name was identified: it may be one of the agents, and its connection was over
// before its process was found.
const ByUnseen = "process not seen"

// Anonymous reports whether a client's name does not identify it: the name is the library's, from the User-Agent, or a
// default.
func (p *Peer) Anonymous() bool {
	return p.How == "user-agent" || p.How == "default" || p.How == ByUnseen
}

// ByWebhook reports whether a client was named by the address of its request, which a tap created for one agent's
// notifications and no other program knows.
func (p *Peer) ByWebhook() bool { return p.How == "webhook" }

// A Request is what the client sent.
type Request struct {
	Head    []byte // the raw head with its blank line, as the client sent it (including its original Host)
	Body    Body
	Trailer []byte // raw trailer fields, without the blank line; nil if there were none
}

// A Response is the agent's response. Interim (1xx) answers come before it in Informational.
type Response struct {
	At            time.Duration // offset at which its head was complete; NotKnown if not measured
	Informational [][]byte      // raw heads of 1xx answers, in order
	Head          []byte        // the raw head with its blank line, as the agent sent it; empty if only 1xx arrived
	Stream        bool          // the body is an event stream, or of gRPC: it is in Events, and Body.Data is nil
	Body          Body
	Events        []Event
	Trailer       []byte
}

// A Body is the content of a message: transfer framing taken off, content coding left on.
type Body struct {
	Data     []byte        // what was kept; nil if nothing was, empty if the body was empty
	Size     int64         // bytes that passed, before decoding and redaction; NotKnown if not measured
	Dropped  int64         // of those, how many were not kept: the body is cut there
	Complete bool          // the message ended as its framing declared
	Decoded  bool          // Data is without its Content-Encoding, regardless of the head
	At       time.Duration // offset at which its last byte arrived; NotKnown if not measured
}

// Kept reports whether all of the body that passed is in Data.
func (b *Body) Kept() bool { return b.Data != nil && b.Dropped == 0 }

// An Event is one block of an event stream: the bytes up to and including the blank line that ends it. In an answer
// over gRPC it is one message with its prefix (see IsMessage), whether the method returns one message or many.
//
// The Raw bytes of all events of a stream, concatenated, are the stream, without content coding and with secrets
// replaced. Parse them with Fields.
//
// Source: WHATWG HTML, server-sent events, "Interpreting an event stream".
type Event struct {
	K            int           // number in its stream, from 1; 0 for a block with only comments, which is not an event
	At           time.Duration // offset at which its last byte arrived; NotKnown if not measured
	Raw          []byte        // the block's bytes, line ends and blank line included
	Dropped      int64         // unrecorded bytes of the block; Raw ends before them
	Unterminated bool          // the stream ended before the blank line, or inside the message: clients discard it
	As           *grpc.Codec   // how it is read, if it is a message of gRPC; not part of the record
}

// A TransportFault is how an exchange broke, on the level of the transport. Wrong A2A answers are findings.
type TransportFault struct {
	// such as "unreachable", "reset", "truncated", "client-left", "refused", "not-http", "timeout", "shutdown",
	// "injected"
	Kind   string `json:"kind"`
	Side   string `json:"side"`   // who broke it: "client", "agent" or "proxy"
	Detail string `json:"detail"` // for people: what was seen
}

// A SideEnd is how and when one side of an exchange ended its part before the answer was complete.
type SideEnd struct {
	Side string // "client" or "agent"
	// "fin": it stopped sending, and whether it still read is unknown; "half-close": it stopped sending, and received
	// data that was sent to it afterwards; "close": it closed its connection; "reset": it reset its connection or
	// stream
	How      string
	At       time.Duration // offset from Started; NotKnown if not measured
	Request  int64         // bytes of the request's body that had passed by then
	Response int64         // the same of the response's body
}

// The values of SideEnd.How.
const (
	EndFIN       = "fin"
	EndHalfClose = "half-close"
	EndClose     = "close"
	EndReset     = "reset"
)

// String describes the end, such as "client closed its connection after 1.003s: 52 bytes of the request and 0 of the
// answer had passed".
func (e *SideEnd) String() string {
	did, ok := map[string]string{
		EndFIN: "stopped sending", EndHalfClose: "stopped sending and continued to read", EndClose: "closed its connection",
		EndReset: "reset",
	}[e.How]
	if !ok {
		did = e.How
	}
	words := e.Side + " " + did
	if e.At != NotKnown {
		words += fmt.Sprintf(" after %v", e.At.Round(time.Millisecond))
	}
	return words + fmt.Sprintf(": after %d bytes of the request and %d of the answer", e.Request, e.Response)
}

// Left reports whether the side took nothing more from then on.
func (e *SideEnd) Left() bool { return e.How == EndClose || e.How == EndReset }

// Duration returns the duration of an exchange that was closed at an offset, with a fault or nil. If the client ended
// its part and that broke the exchange, the duration ends there, since no one received the rest.
func (e *SideEnd) Duration(closed time.Duration, fault *TransportFault) time.Duration {
	if fault != nil && e.Side == "client" && fault.Side == e.Side && e.At >= 0 && e.How != EndHalfClose {
		return min(e.At, closed)
	}
	return closed
}

// Took returns the duration of the exchange; NotKnown while it is open, or if the end was not seen.
func (x *Exchange) Took() time.Duration {
	took := x.Ended
	for i := range x.Ends {
		took = x.Ends[i].Duration(took, x.Fault)
	}
	return took
}

// withSideEnd returns ends with one more, which replaces the known end of the same side. If the side half-closed and
// left later, the half-close stays.
func withSideEnd(ends []SideEnd, e SideEnd) []SideEnd {
	for i := range ends {
		if ends[i].Side == e.Side && !(ends[i].How == EndHalfClose && e.Left()) {
			ends[i] = e
			return ends
		}
	}
	return append(ends, e)
}

// WebhooksNotObserved begins the note of an exchange that configured a webhook whose notifications go past the
// recorder; the reason follows.
const WebhooksNotObserved = "webhooks not observed: "

// Resumed is the note of the first exchange of a recording that was appended to an earlier one.
const Resumed = "an earlier recording had ended, and this one began: what passed in between was not observed"

// NoSign is the note of an exchange without any sign of A2A, whose bodies were therefore omitted.
const NoSign = "no sign of A2A: bodies are not kept (--all-traffic keeps them)"

// NotTapped is part of the note about a card with an address past the recorder, after "NAME advertises ADDRESS". The
// card's client may go there, and that traffic is not seen.
const NotTapped = ", which is not tapped: traffic there is not observed"

// SignatureBroken is part of the note about a signed card that was changed, after "the card of NAME" and before the
// advice. A client that verifies the signature rejects the card.
const SignatureBroken = " is signed, and its URLs were replaced"

// Tunnelled begins the note of a CONNECT whose connection was passed on without decryption. The reason follows; it is
// HTTP2 if the client speaks that inside.
const Tunnelled = "tunnelled, not observed: "

// NotObserved begins the note of a CONNECT whose connection was not opened and not passed on; the reason follows.
const NotObserved = "not observed: "

// HTTP2 is the reason why a connection was not recorded.
const HTTP2 = "HTTP/2, not decoded"

// KindInjected is the kind of a TransportFault that the recorder injected on request; its side is "proxy".
const KindInjected = "injected"

// FaultMadeHere begins the note of an exchange in whose answer the recorder injected a requested fault; a description
// of the fault follows. The recording has the client's view, and shows nothing about the agent.
const FaultMadeHere = "fault made here: "

// SeenAlso begins the note of an exchange that another recorder also saw, between the same client and the same agent;
// the place and time follow. In a merged capture the two are one exchange.
const SeenAlso = "seen also: "

// SeenOtherwise begins the note of an exchange that another recorder saw with a different answer; place, time and the
// difference follow. The merged capture has both exchanges.
const SeenOtherwise = "seen otherwise: "

// NamedByServer begins the note of an exchange with an MCP server whose name became known later; the name follows, and
// replaces the recorded one.
const NamedByServer = "named by its serverInfo: "

// FaultMade returns the fault that the recorder injected into the exchange; empty if none.
func (x *Exchange) FaultMade() string {
	for _, note := range x.Notes {
		if made, ok := strings.CutPrefix(note, FaultMadeHere); ok {
			return made
		}
	}
	return ""
}

// A Rewrite is one change made to the traffic. The recording keeps the original, and Now is the value that was sent
// instead. For an injected fault, the recording has Now, since the client saw it.
type Rewrite struct {
	Place string `json:"place"` // such as "response.body#/url" or "request.header[If-None-Match]"
	Was   string `json:"was"`
	Now   string `json:"now"`
}

// Copy returns a copy whose request and answer may be changed, except for their bytes, which are shared.
func (x *Exchange) Copy() *Exchange {
	c := *x
	c.Ends = slices.Clone(x.Ends)
	if x.Response != nil {
		r := *x.Response
		r.Events = slices.Clone(r.Events)
		c.Response = &r
	}
	return &c
}
