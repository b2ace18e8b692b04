// Package relay is the wire: it joins one HTTP/1.1 client connection to one connection to the agent (for a forward
// proxy, to one after the other), and reports to an [Observer] what passed.
//
// It has the shape of a TCP splice that watches. Two goroutines, one for each direction, read, describe what they read
// to the observer, which takes a copy, and forward it at once. Nothing is parsed into a message and written out again,
// so header order and case, chunk borders, interim answers, trailers, pipelining, answers that overtake their request,
// half-closed connections and resets reach the other end as they would without us.
//
// # What is changed
//
// The value of Host becomes [Config.Authority], an [Editor] may replace a head or a held message or change an answer
// while it passes, and a [Route] gives certain requests another target. Every other byte passes as it came. Heads are
// the only bytes that wait, but for what an Editor holds: a request head because Host and its framing must be known
// before the agent may see it, an answer head because an answer that cannot be framed must not reach the client. A head
// that breaks off in an answer is passed on as far as it came.
//
// A request target in absolute form passes unchanged, and Host is replaced as always: an origin server must accept
// that form (RFC 9112 section 3.2.2) and we stand for one. Only for the clients of a forward proxy, see [Forward], the
// target becomes its origin form and fields that begin with "Proxy-" are left out.
//
// # What is refused
//
// A message whose end two readers could find in two places (RFC 9112 section 6.3) is not forwarded: lengths that
// differ, a length beside a transfer coding, a request whose last coding is not chunked, a transfer coding in HTTP/1.0,
// folded lines, a bare CR, NUL, and white space before a colon. A request gets 400, an answer is replaced by 502, both
// with a header X-A2atap that says so. For a broken chunk in a request that is already under way the client gets 400,
// too, and the agent a reset; once the agent's answer has begun, or in an answer, none of that is possible: both
// connections are broken off.
//
// A bare LF ends a line of a head or of a trailer section, as RFC 9112 section 2.2 allows, and is forwarded as it
// came. In the lines of chunked framing it is refused: no version of HTTP allows it there, and readers differ.
//
// # What will surprise
//
//   - A client that closes and a client that only ends its sending look the same, a FIN. The relay passes it on as
//     one, the exchange goes on, and an [EndObserver] learns of it. The difference shows when more of the answer is
//     written: the system of the first resets the connection, and the exchange is a TransportError of KindClientLeft;
//     the system of the second acknowledges what it gets. Only Linux tells that.
//   - Many agents end a stream in good form because of a FIN. Where nothing shows whether the client still read, an
//     answer without a declared length that ends after the FIN is reported as whole, and as a TransportError of
//     KindClientLeft too.
//   - An agent that neither heeds a FIN nor writes keeps both connections, as it would keep its own without us, until
//     the context of Serve ends. What is then open of a client that had ended its sending is of KindClientLeft.
//   - Our own answers (400, 408, 421, 431, 501 to 505) are not described to the Observer as answers of the agent.
//     The [TransportError] says which status we sent.
//   - An agent on TLS that closes without a closing alert, but between two records, looks to crypto/tls like one that
//     closes in order. An answer that lasts until close is then taken for complete (RFC 9112 section 9.8 would not).
//   - After an upgrade (status 101) the bytes are somebody else's protocol. They pass and are counted, not read.
package relay
