package relay

import "time"

// An Observer is called with what passes on one pair of connections.
//
// Each call names its exchange by number, counted from 0 on this client connection. Request, RequestBody and RequestEnd
// come from one goroutine; Informational, Answer, Upgraded, AnswerBody and AnswerEnd from another; within each side
// they come in the order of the bytes. Request comes before any other call for its exchange, Ended after all others,
// and both exactly once. Fault comes at most once for an exchange, from either goroutine, before Ended; only where the
// very last bytes of a complete message could not be written does it come after Ended.
//
// The order of calls is causal, over all connections: each is made before what it reports can be noticed at the other
// end, be it bytes, the end of a connection or its break. So whatever is done because of it is reported after it. What
// could then not be written is reported as a TransportError. One call comes late: if the client had ended its sending
// before an answer was complete, Ended waits, for LingerTime at most, until the client has acknowledged or refused the
// answer.
//
// Slices belong to the relay and are valid during the call only. A call stands in the path of the traffic: copy and
// return. A call that panics ends the observation of this connection; traffic goes on.
type Observer interface {
	// Request gives the head of a request as the client sent it, blank line included. Of a request that was refused or
	// broke off it may be a part.
	Request(x int, head []byte)
	// RequestBody gives a piece of the body without chunk framing, as it passed.
	RequestBody(x int, p []byte)
	// RequestEnd says that the request is complete. The trailer holds the raw field lines after a chunked body without
	// the closing blank line; it is nil if there are none.
	RequestEnd(x int, trailer []byte)

	// Informational gives the head of an interim answer (1xx other than 101), as the agent sent it.
	Informational(x int, head []byte)
	// Answer gives the head of the final answer as the agent sent it, blank line included. Of an answer that was
	// refused or broke off it may be a part.
	Answer(x int, head []byte)
	// Upgraded says that the answer was 101: from here RequestBody (even after RequestEnd, which is not repeated) and
	// AnswerBody carry the raw bytes of the other protocol, and AnswerEnd says that the agent's direction has ended.
	Upgraded(x int)
	// AnswerBody gives a piece of the answer's body without chunk framing, as it passed.
	AnswerBody(x int, p []byte)
	// AnswerEnd says that the answer is complete; see RequestEnd about the trailer.
	AnswerEnd(x int, trailer []byte)

	// Fault says how an exchange broke. With x = -1 it is about bytes that belong to no exchange: see
	// [TransportError].Bytes.
	Fault(x int, f TransportError)
	// Ended says that nothing more will be reported about the exchange, complete or not.
	Ended(x int)
}

// A StreamObserver is an Observer that is also told the streams of HTTP/2.
type StreamObserver interface {
	Observer
	// Stream gives the number of the stream (RFC 9113 section 5.1.1) of an exchange, just before its Request.
	Stream(x int, id uint32)
}

// An EndObserver is an Observer that also learns how the sides of a connection end their part in an exchange.
type EndObserver interface {
	Observer
	// SideEnded reports, before the answer of an exchange is complete, that a side has ended its sending, closed or
	// reset its connection, or reset its stream of HTTP/2: one of the Side constants, and one of the End constants. For
	// one side it may come again with more that is known: EndFIN, and when more of the answer was written,
	// EndClose or EndHalfClose. EndHalfClose comes each time that the client is known to have taken all that was written
	// so far, and EndClose or EndReset may follow. It comes from either goroutine. A call that crosses Ended says nothing.
	SideEnded(x int, side, how string)
}

// Discard is an Observer that does nothing. It may be embedded by observers that want only some of the calls.
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

// An Editor changes the few messages that must not pass as they came: a request head, and an answer that names
// addresses, such as an agent card. It is called from the goroutine of the side that it edits. The Observer always gets
// what came, never what the Editor made of it.
//
// Slices belong to the relay and are valid during the call. What an Editor returns must be framed as HTTP/1.1 asks,
// must frame the same body unless it returns the whole message, and must not be changed before the next call on that
// side. An Editor that panics is not asked again on this connection; messages then pass as they came.
type Editor interface {
	// Request returns the head to send in place of head, which has its Host replaced already; or head itself.
	Request(x int, head []byte) []byte
	// Hold is asked when the head of a final answer is there. It returns how many body bytes may be held back to give
	// the complete answer to Answer; 0 passes the answer on as it comes.
	Hold(x int, head []byte) int
	// Answer is given a held, complete answer, its body without chunk framing. It returns all bytes to send in its
	// place, head and body; nil sends the answer as it came.
	Answer(x int, head, body, trailer []byte) []byte
	// TooLarge says that an answer had more bytes than Hold allowed, and is passed on as it came.
	TooLarge(x int)
}

// A RequestEditor is an Editor that also changes complete requests, such as one that names a webhook.
type RequestEditor interface {
	Editor
	// HoldRequest is asked when a request head is there, given as Request returned it, of a request with a body. Of a
	// body whose length is declared begun is what has come along with the head, and whole says that this is all of it.
	// It returns how many body bytes may be held back to give the complete request to HeldRequest; 0 passes the request
	// on as it comes. A request that outgrows the number passes as it came, and so do, whatever is returned, one with
	// Expect, whose client may wait for a word from the agent, and one with Upgrade. A request that is not complete
	// when the patience is over passes as it came, too; 0 is as long as the request takes.
	HoldRequest(x int, head, begun []byte, whole bool) (limit int, patience time.Duration)
	// KeepRequest is given what there is of the body of a held request, without chunk framing, each time there is more
	// and it is not complete; where it returns false, the request passes on as it came, and the agent can answer it.
	KeepRequest(x int, body []byte) bool
	// RequestTooSlow says that a held request was not complete in time, or that there was no room for it, and that it
	// passes on as it came.
	RequestTooSlow(x int)
	// HeldRequest is given a held, complete request, its head as Request returned it and its body without chunk
	// framing. It returns all bytes to send in its place; nil sends the request as it came.
	HeldRequest(x int, head, body, trailer []byte) []byte
}

// A DoubtfulEditor is an Editor that also holds answers of which only the body shows whether they are to be edited.
// Such an answer goes on as it came as soon as it shows that it is not, or takes too long.
type DoubtfulEditor interface {
	Editor
	// Patience is asked when Hold has let an answer be held, and returns how long that may last from its head on; 0 is
	// as long as the answer takes.
	Patience(x int) time.Duration
	// Keep is given what there is of the body of a held answer, without chunk framing, each time there is more and it
	// is not complete; where it returns false, the answer passes on as it came.
	Keep(x int, body []byte) bool
	// TooSlow says that an answer was not complete in time and passes on as it came, and what there was of its body.
	TooSlow(x int, body []byte)
}

// A ContentEditor is an Editor that also changes answers while they pass, such as event streams.
type ContentEditor interface {
	Editor
	// Change is asked when the head of a final answer is there that declares no length and is not held. It returns what
	// changes the content of the answer; nil passes it as it came.
	Change(x int, head []byte) Change
}

// A Change changes the content of one answer, its body without chunk framing. Of a chunked answer the chunks are made
// anew, one for each piece that is sent.
type Change interface {
	// Next is given the next piece of the content and returns what to send now, which is valid until the next call and
	// may be empty. With last it returns all that it has kept back; no call follows.
	Next(p []byte, last bool) []byte
}
