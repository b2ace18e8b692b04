package relay

import "time"

// An Observer is called with the traffic of one pair of connections.
//
// Each call names its exchange by number, counted from 0 on this client connection. Request, RequestBody and RequestEnd
// come from one goroutine; Informational, Answer, Upgraded, AnswerBody and AnswerEnd from another; within each side
// they come in the order of the bytes. Request comes before any other call for its exchange, Ended after all others,
// and both exactly once. Fault comes at most once for an exchange, from either goroutine, before Ended. It comes after
// Ended only if the very last bytes of a complete message could not be written.
//
// The order of calls is causal, over all connections: the relay makes each call before the other end can notice what
// the call reports, be it bytes, the end of a connection or its break. So any reaction is reported later. If the relay
// then fails to write those bytes, it reports a TransportError. One call comes late: if the client had ended its
// sending before an answer was complete, Ended waits, for LingerTime at most, until the client has acknowledged or
// refused the answer.
//
// Slices belong to the relay and are valid during the call only. A call blocks the traffic: copy and return. A call
// that panics ends the observation of this connection; traffic continues.
type Observer interface {
	// Request reports the head of a request as the client sent it, including the blank line. If the request was refused
	// or broke off, head may be incomplete.
	Request(x int, head []byte)
	// RequestBody reports a piece of the body without chunk framing, as it passed.
	RequestBody(x int, p []byte)
	// RequestEnd reports that the request is complete. The trailer holds the raw field lines after a chunked body
	// without the closing blank line; it is nil without such lines.
	RequestEnd(x int, trailer []byte)

	// Informational reports the head of an interim answer (1xx other than 101), as the agent sent it.
	Informational(x int, head []byte)
	// Answer reports the head of the final answer as the agent sent it, including the blank line. If the answer was
	// refused or broke off, head may be incomplete.
	Answer(x int, head []byte)
	// Upgraded reports that the answer was 101. From then on, RequestBody (even after RequestEnd, which is not
	// repeated) and AnswerBody carry the raw bytes of the other protocol, and AnswerEnd reports the end of the agent's
	// direction.
	Upgraded(x int)
	// AnswerBody reports a piece of the answer's body without chunk framing, as it passed.
	AnswerBody(x int, p []byte)
	// AnswerEnd reports that the answer is complete; see RequestEnd about the trailer.
	AnswerEnd(x int, trailer []byte)

	// Fault reports how an exchange broke. With x = -1 it is about bytes that belong to no exchange: see
	// [TransportError].Bytes.
	Fault(x int, f TransportError)
	// Ended reports that no call about the exchange follows, whether it was complete or not.
	Ended(x int)
}

// A StreamObserver is an Observer that also learns the streams of HTTP/2.
type StreamObserver interface {
	Observer
	// Stream reports the number of the stream (RFC 9113 section 5.1.1) of an exchange, just before its Request.
	Stream(x int, id uint32)
}

// An EndObserver is an Observer that also learns how the sides of a connection end their part in an exchange.
type EndObserver interface {
	Observer
	// SideEnded reports, before the answer of an exchange is complete, that a side has ended its sending, closed or
	// reset its connection, or reset its stream of HTTP/2. side is one of the Side constants, and how one of the End
	// constants.
	//
	// SideEnded may be called again for a side when more is known: after EndFIN, when more of the answer was written,
	// EndClose or EndHalfClose. EndHalfClose comes each time that the client is known to have received all that was
	// written so far, and EndClose or EndReset may follow. SideEnded comes from either goroutine. A call that crosses
	// Ended has no meaning.
	SideEnded(x int, side, how string)
}

// Discard is an Observer that does nothing. Embed it in observers that need only some of the calls.
type Discard struct{}

// Request does nothing.
func (Discard) Request(int, []byte) {}

// RequestBody does nothing.
func (Discard) RequestBody(int, []byte) {}

// RequestEnd does nothing.
func (Discard) RequestEnd(int, []byte) {}

// Informational does nothing.
func (Discard) Informational(int, []byte) {}

// Answer does nothing.
func (Discard) Answer(int, []byte) {}

// Upgraded does nothing.
func (Discard) Upgraded(int) {}

// AnswerBody does nothing.
func (Discard) AnswerBody(int, []byte) {}

// AnswerEnd does nothing.
func (Discard) AnswerEnd(int, []byte) {}

// Fault does nothing.
func (Discard) Fault(int, TransportError) {}

// Ended does nothing.
func (Discard) Ended(int) {}

// An Editor changes the few messages that must not pass unmodified: a request head, and an answer that contains
// addresses, such as an agent card. It is called from the goroutine of the side that it edits. The Observer always gets
// the original, never the Editor's result.
//
// Slices belong to the relay and are valid during the call. The result of an Editor must be framed as HTTP/1.1
// requires, and must frame the same body unless it is the whole message. The Editor must not change the result before
// the next call on that side. After a panic, the Editor is not called again on this connection; messages then pass
// unmodified.
type Editor interface {
	// Request returns the head to send instead of head, whose Host is already replaced; or head itself.
	Request(x int, head []byte) []byte
	// Hold is called when the head of a final answer has arrived. It returns how many body bytes may be held until
	// Answer gets the complete answer; 0 forwards the answer at once.
	Hold(x int, head []byte) int
	// Answer receives a held, complete answer, its body without chunk framing. It returns the complete replacement,
	// head and body, or nil to send the answer unmodified.
	Answer(x int, head, body, trailer []byte) []byte
	// TooLarge reports that an answer exceeded the limit from Hold, and passes unmodified.
	TooLarge(x int)
}

// A RequestEditor is an Editor that also changes complete requests, such as one that names a webhook.
type RequestEditor interface {
	Editor
	// HoldRequest is called when the head of a request with a body has arrived; head is the result of Request. If the
	// body declares its length, begun is the part that arrived together with the head, and whole reports that begun is
	// the whole body. HoldRequest returns how many body bytes may be held until HeldRequest gets the complete request;
	// 0 forwards the request at once. A request passes unmodified if it has more bytes than limit, or is incomplete
	// after patience; a patience of 0 means no limit. Whatever HoldRequest returns, a request also passes unmodified if
	// it has Upgrade, or Expect, since its client may wait for an answer from the agent.
	HoldRequest(x int, head, begun []byte, whole bool) (limit int, patience time.Duration)
	// KeepRequest receives the body of a held, incomplete request so far, without chunk framing, each time more has
	// arrived. If KeepRequest returns false, the request passes unmodified, and the agent can answer it.
	KeepRequest(x int, body []byte) bool
	// RequestTooSlow reports that a held request passes unmodified, because it was not complete in time or there was no
	// room for it.
	RequestTooSlow(x int)
	// HeldRequest receives a held, complete request: its head as Request returned it, and its body without chunk
	// framing. It returns the complete replacement, or nil to send the request unmodified.
	HeldRequest(x int, head, body, trailer []byte) []byte
}

// A DoubtfulEditor is an Editor that also holds answers whose body decides whether to edit them. Such an answer is
// forwarded unmodified as soon as the Editor is sure that it will not edit it, or after its patience.
type DoubtfulEditor interface {
	Editor
	// Patience is called if Hold has returned a limit. It returns how long the answer may be held after its head; 0
	// means no limit.
	Patience(x int) time.Duration
	// Keep receives the body of a held, incomplete answer so far, without chunk framing, each time more has arrived. If
	// Keep returns false, the answer passes unmodified.
	Keep(x int, body []byte) bool
	// TooSlow reports that an answer was not complete in time and passes unmodified. body is the part that had arrived.
	TooSlow(x int, body []byte)
}

// A ContentEditor is an Editor that also changes answers in transit, such as event streams.
type ContentEditor interface {
	Editor
	// Change is called when the head of a final answer has arrived that declares no length and is not held. It returns
	// the Change for the content of the answer, or nil to forward it unmodified.
	Change(x int, head []byte) Change
}

// A Change changes the content of one answer, its body without chunk framing. A chunked answer gets new chunks, one for
// each piece that is sent.
type Change interface {
	// Next receives the next piece of the content and returns the bytes to send now, which are valid until the next
	// call and may be empty. If last is set, it returns all remaining bytes, and is not called again.
	Next(p []byte, last bool) []byte
}
