// Package h2 is the wire of HTTP/2: it joins a connection of a client to one of its agent, frame by frame, and reports
// to a [relay.Observer] what passed, as package relay does for HTTP/1.1.
//
// Two goroutines, one for each direction, read frames, describe them to the observer and forward them at once, with the
// same stream numbers. DATA, SETTINGS and its acknowledgement, PING, PRIORITY, WINDOW_UPDATE, RST_STREAM, GOAWAY and
// unknown frames pass byte for byte. So the two agents themselves control flow, pings and the ends of streams.
//
// # What is changed
//
// Each hop has its own table of header fields (RFC 7541), so header blocks are decoded and encoded again. Order, case,
// never-indexed fields, priority and padding stay the same. :authority becomes Config.Authority, as Host does in
// HTTP/1.1, and :scheme becomes https if the agent is on TLS and the client is not. SETTINGS_HEADER_TABLE_SIZE above 64
// KiB becomes 64 KiB.
//
// For a message that an Editor holds or changes, the relay does its own flow control (RFC 9113 section 5.2), since the
// two sides have different bytes. That applies to one stream in one direction; all others are not affected.
//
// # What is broken
//
// A Breaker as the Editor makes faults on request: it answers requests instead of the agent, or has answers come late,
// changed, cut, twice or not at all. The relay also does its own flow control on the streams that the Breaker breaks.
//
// # What the Observer gets
//
// A request is an exchange, numbered from 0 on this connection. Its head has the form of HTTP/1: the request line with
// the version HTTP/2, Host from :authority, then the fields. The head of an answer has that form, too. Streams run
// concurrently, so exchanges interleave.
//
// A stream that the client resets with CANCEL or NO_ERROR is a TransportError of KindClientLeft. Any other reset is one
// of KindReset, with the code in its Detail. A complete answer ends its exchange well, whatever is reset after it (RFC
// 9113 section 8.1). The request of a gRPC call is then complete if it is one whole message, since clients may end
// their stream only after that. Streams that GOAWAY excludes from processing have ended.
//
// # What is refused
//
// The relay sends its own answer on the stream for hosts that Config.Accept does not admit, for heads beyond
// Config.HeadLimit, and beyond 20,000 streams at once; other streams continue. A header block that cannot be decoded is
// replaced with one that no decoder accepts, so that the receiver reports the error itself. A block longer than any
// block may be ends the connection with ENHANCE_YOUR_CALM.
//
// # What is taken elsewhere
//
// The relay sends requests that a Route takes with its own client: over HTTP/2 with prior knowledge to receivers in the
// clear, over HTTP/1.1 to those on TLS. The order of fields and interim answers are lost on that path.
//
// # What will surprise
//
//   - If an agent cannot be dialed, the relay answers for it: the client gets an HTTP/2 connection, and its first
//     request gets 502, or UNAVAILABLE if it is a gRPC call.
//   - Pushed answers (PUSH_PROMISE) pass and are not observed.
//   - After CONNECT (RFC 9113 section 8.5, RFC 8441) the bytes belong to another protocol. They pass and are counted.
package h2
