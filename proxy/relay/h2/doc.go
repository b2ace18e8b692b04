// Package h2 is the wire of HTTP/2: it joins a connection of a client to one of its agent, frame by frame, and reports
// to a [relay.Observer] what passed, as package relay does for HTTP/1.1.
//
// Two goroutines, one for each direction, read frames, describe them to the observer and forward them at once, with the
// same numbers of streams. DATA, SETTINGS and its acknowledgement, PING, PRIORITY, WINDOW_UPDATE, RST_STREAM, GOAWAY
// and frames that nobody here knows pass byte for byte, so that flow control, pings and what ends a stream are those of
// the two agents.
//
// # What is changed
//
// Each hop has its own table of header fields (RFC 7541), so header blocks are decoded and encoded again: in the same
// order, in the same case, with the same fields that are never to be indexed, the same priority and padding. :authority
// becomes Config.Authority, as Host does in HTTP/1.1, and :scheme becomes https where the agent is on TLS and the
// client is not. SETTINGS_HEADER_TABLE_SIZE above 64 KiB becomes 64 KiB.
//
// What an Editor holds or changes is sent by credit of our own (RFC 9113 section 5.2), since there are other bytes on
// both sides. That is for one stream and one direction; all others are as before.
//
// # What is broken
//
// A Breaker as the Editor answers requests in the agent's place, and has answers come late, changed, cut, twice or not at
// all, which is how faults are made on request. It too has credit of our own on the streams that it breaks.
//
// # What the Observer gets
//
// A request is an exchange, numbered from 0 on this connection. Its head is written as one of HTTP/1 would be: the
// request line with the version HTTP/2, Host from :authority, then the fields. So is that of an answer. Streams run at
// once, so exchanges mix.
//
// A stream that the client resets with CANCEL or NO_ERROR is a TransportError of KindClientLeft, any other reset one of
// KindReset, with the code in its Detail. An answer that is complete ends its exchange well, whatever is reset after it
// (RFC 9113 section 8.1), and the request of a call of gRPC is complete then if it is one whole message: clients may say
// only after it that it was all. The streams that GOAWAY says will not be looked at have ended.
//
// # What is refused
//
// Hosts that Config.Accept does not admit, heads beyond Config.HeadLimit, and more than 20,000 streams at once get an
// answer of ours on their stream; the others go on. A header block that cannot be decoded goes on as one that nobody
// can decode: the receiver says itself that it is wrong. What is longer than any block may be ends the connection with
// ENHANCE_YOUR_CALM.
//
// # What is taken elsewhere
//
// What a Route takes is sent by a client of our own: over HTTP/2 with prior knowledge to receivers in the clear, over
// HTTP/1.1 to those on TLS. The order of fields and interim answers are lost on that way.
//
// # What will surprise
//
//   - An agent that cannot be dialled is answered for: the connection is one of HTTP/2 to the client, and its first
//     request gets 502, or UNAVAILABLE if it is one of gRPC.
//   - Pushed answers (PUSH_PROMISE) pass and are not observed.
//   - After CONNECT (RFC 9113 section 8.5, RFC 8441) the bytes are somebody else's protocol. They pass and are counted.
package h2
