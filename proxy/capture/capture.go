// Package capture holds the central type of a2atap: the Exchange, one HTTP request and what came back for it, and the
// ways to record it (Sink) and to read it (Source). How exchanges are searched, how their secrets are hidden and how
// they are written is below: filter, redact, transcript, har, jsonl, open.
//
// An exchange is recorded in steps, as its pieces pass: opened with its request's head, then bodies and events, then
// closed. The steps of all exchanges have one order, that of arrival, and whoever reads a capture later sees the order
// that was seen live. Exchanges and steps are two views of one record: Assemble makes exchanges of steps, Interleave
// makes steps of exchanges.
//
// Bytes come first. Heads are raw, bodies are as they were on the wire but for the framing of the transfer, and what is
// derived from them (decoded bodies, the data of an event, a dialect) is computed by the reader and never stored. Where
// something is missing, the record says so: a reader can tell what was empty, what was not kept, what was cut off, and
// what is still open.
//
// The package knows HTTP and server-sent events, and nothing of A2A. What the protocol knows about an exchange (the
// keys it can be found by, the places where secrets stand) comes from a Describer that the caller passes in.
//
// # Caveats
//
// An Exchange is held in memory as a whole. Work over long streams goes by steps, one event at a time; a program that
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

// An Exchange is one HTTP request and whatever came back for it.
//
// It is a record: pieces are added until it is closed, and nothing changes a piece. Views (selection, marks, findings,
// decoded objects) live beside it, keyed by Seq. An Exchange that a Source returned belongs to the caller.
type Exchange struct {
	Seq      uint64        // order of arrival in this capture, from 1
	ID       uuid.UUID     // the same in every copy of this exchange
	Conn     uint64        // the client connection that carried it, from 1 in this capture; 0 if not known
	Stream   uint32        // its stream on that connection, of HTTP/2 (RFC 9113 section 5.1.1); 0 of others
	Started  time.Time     // UTC, when the first bytes of the request were read
	Ended    time.Duration // offset from Started of its end; NotKnown while it is open or if nobody saw the end
	State    State         // open, closed, or interrupted by the end of the recorder
	Client   Peer
	Agent    Peer
	Request  Request
	Response *Response       // nil if none arrived
	Fault    *TransportFault // nil if the exchange ended as HTTP says it should; an HTTP 500 is not a fault
	Ends     []SideEnd       // how sides ended their part before the answer was complete; a client may half-close and later leave
	Rewrites []Rewrite       // what was changed on the way, in order
	Notes    []string        // what the recorder has to say about it, in words: "the card is signed; rewriting breaks ..."
	Lost     int64           // bytes that passed unrecorded while the recorder was behind: there are gaps, nobody knows where
	Replayed bool            // one of our own verbs sent it
}

// Foreign reports whether the exchange with that id came from the HAR of another program, however often it was copied
// since. Such programs may leave out header fields, those with credentials first of all. The id shows it: only theirs
// is made from the entry (version 5), and not by chance.
func Foreign(id uuid.UUID) bool { return id != uuid.Nil && id.Version() == 5 }

// NotKnown is the value of a size or an offset that nobody measured, such as those left out of a HAR.
const NotKnown = -1

// State says how far an exchange has come.
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
	How string `json:"how,omitzero"` // of a client: how its name was found out, such as "user-agent"
}

// Anonymous reports whether the name of a client says nothing of who it is: it is that of the library in its User-Agent,
// or there was none.
func (p *Peer) Anonymous() bool { return p.How == "user-agent" || p.How == "default" }

// ByWebhook reports whether a client has its name from the address that its request came to: one that a tap made for the
// notifications of one agent, and that no other program knows.
func (p *Peer) ByWebhook() bool { return p.How == "webhook" }

// A Request is what the client sent.
type Request struct {
	Head    []byte // the raw head with its blank line, as the client sent it (the Host it used is still there)
	Body    Body
	Trailer []byte // raw trailer fields, without the blank line; nil if there were none
}

// A Response is what the agent sent back. Interim (1xx) answers come before it in Informational.
type Response struct {
	At            time.Duration // offset at which its head was complete; NotKnown if not measured
	Informational [][]byte      // raw heads of 1xx answers, in order
	Head          []byte        // the raw head with its blank line, as the agent sent it; empty if only 1xx came
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
	Complete bool          // the message ended as its framing says it should
	Decoded  bool          // Data had its Content-Encoding taken off already, whatever the head says
	At       time.Duration // offset at which its last byte arrived; NotKnown if not measured
}

// Kept reports whether all of the body that passed is in Data.
func (b *Body) Kept() bool { return b.Data != nil && b.Dropped == 0 }

// An Event is one block of an event stream: the bytes up to and including the blank line that ends it. Of an answer over
// gRPC it is one message with its prefix (see IsMessage), whether a method is answered with one or with many.
//
// The Raw bytes of all events of a stream, one after another, are the stream (its content coding taken off, secrets
// replaced). Parse with Fields.
//
// Source: WHATWG HTML, server-sent events, "Interpreting an event stream".
type Event struct {
	K            int           // number in its stream, from 1; 0 for a block of comments alone, which is not an event
	At           time.Duration // offset at which its last byte arrived; NotKnown if not measured
	Raw          []byte        // the block's bytes, line ends and blank line included
	Dropped      int64         // bytes of the block that passed and were not kept; its Raw is cut there
	Unterminated bool          // the stream ended before the blank line, or inside the message: clients discard it
	As           *grpc.Codec   // how it is read, if it is a message of gRPC; not part of the record
}

// A TransportFault says how an exchange broke. It is about the transport: what A2A says of a wrong answer is a finding.
type TransportFault struct {
	// such as "unreachable", "reset", "truncated", "client-left", "refused", "not-http", "timeout", "shutdown",
	// "injected"
	Kind   string `json:"kind"`
	Side   string `json:"side"`   // who broke it: "client", "agent" or "proxy"
	Detail string `json:"detail"` // for people: what was seen
}

// A SideEnd says how and when one side of an exchange ended its part before the answer was complete.
type SideEnd struct {
	Side string // "client" or "agent"
	// "fin": it ended its sending, and whether it still read is not known; "half-close": it ended its sending, and took
	// what was sent to it afterwards; "close": it closed its connection; "reset": it reset its connection or stream
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

// String returns the end in words, such as "client closed its connection after 1.003s: 52 bytes of the request and 0 of
// the answer had passed".
func (e *SideEnd) String() string {
	did, ok := map[string]string{
		EndFIN: "ended its sending", EndHalfClose: "ended its sending and read on", EndClose: "closed its connection",
		EndReset: "reset",
	}[e.How]
	if !ok {
		did = e.How
	}
	words := e.Side + " " + did
	if e.At != NotKnown {
		words += fmt.Sprintf(" after %v", e.At.Round(time.Millisecond))
	}
	return words + fmt.Sprintf(": %d bytes of the request and %d of the answer had passed", e.Request, e.Response)
}

// Left reports whether the side took nothing more from then on.
func (e *SideEnd) Left() bool { return e.How == EndClose || e.How == EndReset }

// Duration returns how long an exchange took that was closed at an offset, with a fault or nil: until this side had ended
// its part, if the client did so and that broke the exchange. What came after that came to nobody.
func (e *SideEnd) Duration(closed time.Duration, fault *TransportFault) time.Duration {
	if fault != nil && e.Side == "client" && fault.Side == e.Side && e.At >= 0 && e.How != EndHalfClose {
		return min(e.At, closed)
	}
	return closed
}

// Took returns how long the exchange took; NotKnown while it is open, or if nobody saw the end.
func (x *Exchange) Took() time.Duration {
	took := x.Ended
	for i := range x.Ends {
		took = x.Ends[i].Duration(took, x.Fault)
	}
	return took
}

// withSideEnd returns ends with one more, which replaces what was known of its side. A half-close that the side left later
// stays.
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

// NoSign is the note of an exchange that showed no sign of A2A, so that its bodies were left out.
const NoSign = "no sign of A2A: bodies are not kept (--all-traffic keeps them)"

// NotTapped is part of the note of a card that names an address which leads past the recorder: "NAME advertises ADDRESS"
// stands before it. The card's client may go there, and nothing of that is seen.
const NotTapped = ", which is not tapped: traffic there is not observed"

// SignatureBroken is part of the note of a card that is signed and was changed: "the card of NAME" stands before it, and
// what to do behind it. A client that verifies the signature does not take the card.
const SignatureBroken = " is signed, and its URLs were replaced"

// Tunnelled begins the note of a CONNECT whose connection was passed on unopened; the reason follows, which is HTTP2
// where that is what the client speaks in it.
const Tunnelled = "tunnelled, not observed: "

// NotObserved begins the note of a CONNECT whose connection was not opened and not passed on; the reason follows.
const NotObserved = "not observed: "

// HTTP2 says why nothing is known of a connection.
const HTTP2 = "HTTP/2, not decoded"

// KindInjected is the kind of a TransportFault that the recorder made because it was told to; its side is "proxy".
const KindInjected = "injected"

// FaultMadeHere begins the note of an exchange in whose answer the recorder made a fault because it was told to; what
// it did follows. What is recorded is what the client saw, and says nothing of the agent.
const FaultMadeHere = "fault made here: "

// SeenAlso begins the note of an exchange that another recorder saw too, on its way between the same client and the
// same agent; where and when follows. The two are one exchange in a capture that was merged of several.
const SeenAlso = "seen also: "

// SeenOtherwise begins the note of an exchange that another recorder saw with another answer; where, when and what was
// different follows. Both are in the merged capture.
const SeenOtherwise = "seen otherwise: "

// FaultMade returns what fault the recorder made in the exchange because it was told to; empty if none.
func (x *Exchange) FaultMade() string {
	for _, note := range x.Notes {
		if made, ok := strings.CutPrefix(note, FaultMadeHere); ok {
			return made
		}
	}
	return ""
}

// A Rewrite is one change made to what passed. The record keeps what was there before; Now is what was sent instead. Of
// a fault that was made on request it has Now, since it is what the client saw.
type Rewrite struct {
	Place string `json:"place"` // such as "response.body#/url" or "request.header[If-None-Match]"
	Was   string `json:"was"`
	Now   string `json:"now"`
}

// Copy returns a copy whose request and answer may be changed, but for the bytes in them: those are the same.
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
