// Package relay is the wire: it joins one HTTP/1.1 client connection to one connection to the agent (for a forward
// proxy, to one after the other), and reports the traffic to an [Observer].
//
// The relay works like a TCP splice that also observes. Two goroutines, one for each direction, read bytes, describe
// them to the observer, which takes a copy, and forward them at once. The relay never parses a message and writes it
// out again. So header order and case, chunk borders, interim answers, trailers, pipelining, answers that overtake
// their request, half-closed connections and resets reach the other end as they would without a2atap.
//
// # What is changed
//
// The value of Host becomes [Config.Authority]. An [Editor] may replace a head or a held message, or change an answer
// while it passes. A [Route] gives certain requests another target. Every other byte passes unmodified.
//
// Only heads wait, apart from what an Editor holds. A request head waits because Host and the framing must be known
// before the agent may see it. An answer head waits because an answer that cannot be framed must not reach the client.
// If a head breaks off in an answer, the relay forwards the part that arrived.
//
// A request target in absolute form passes unmodified, and Host is replaced as always: an origin server must accept
// that form (RFC 9112 section 3.2.2), and the relay acts as one. Only for the clients of a forward proxy, see
// [Forward], the target becomes its origin form and fields that begin with "Proxy-" are left out.
//
// # What is refused
//
// The relay does not forward a message whose end two readers could find in two places (RFC 9112 section 6.3): different
// lengths, both a length and a transfer coding, a request whose last coding is not chunked, a transfer coding in
// HTTP/1.0, folded lines, a bare CR, NUL, and white space before a colon.
//
// A refused request gets 400, and a refused answer is replaced with 502; a header X-A2atap names the reason. For a
// broken chunk in a request that is already under way, the client gets 400, too, and the agent a reset. Once the
// agent's answer has begun, or if the broken chunk is in an answer, none of that is possible: the relay resets both
// connections.
//
// A bare LF ends a line of a head or of a trailer section, as RFC 9112 section 2.2 allows, and is forwarded unmodified.
// In the lines of chunked framing it is refused: no version of HTTP allows it there, and readers differ.
//
// # What will surprise
//
//   - A client that closes and a client that only ends its sending look the same, a FIN. The relay passes on the FIN,
//     the exchange continues, and an [EndObserver] learns of it. The difference shows when more of the answer is
//     written. If the client closed, its system resets the connection, and the exchange is a TransportError of
//     KindClientLeft. If the client only ended its sending, its system acknowledges the data. Only on Linux can the
//     relay tell the two apart.
//   - Many agents react to a FIN by ending a stream in good form. If nothing shows whether the client was still
//     reading, an answer without a declared length that ends after the FIN is reported as complete, and also as a
//     TransportError of KindClientLeft.
//   - An agent that neither reacts to a FIN nor writes keeps both connections until the context of Serve ends, as it
//     would keep its own without a2atap. Exchanges that are open then, of a client that had ended its sending, are of
//     KindClientLeft.
//   - The relay's own answers (400, 408, 421, 431, 501 to 505) are not described to the Observer as answers of the
//     agent. The [TransportError] has the status that was sent.
//   - If an agent on TLS closes without a closing alert, but between two records, crypto/tls reports a normal close.
//     An answer that lasts until close then counts as complete (RFC 9112 section 9.8 would not count it).
//   - After an upgrade (status 101), the bytes belong to another protocol. They are forwarded and counted, not read.
package relay
