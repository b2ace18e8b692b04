// Package forward is an HTTP proxy through which clients that are configured to use it reach any agent.
//
// Requests in absolute form (RFC 9112 section 3.2.2) go to the relay unmodified. goproxy's conditions decide about
// CONNECT (RFC 9110 section 9.3.6): it is refused, tunneled, or opened with a certificate of the user's own authority
// (package ca), after which the relay gets the contents. Traffic that goproxy lets pass goes to this package's own
// connections, since goproxy's hold back heads, hide broken streams and do not notice clients that leave.
//
// # What it promises
//
// Bytes pass unmodified, in both directions and at once; a tunnel passes them without looking. A CONNECT that is not
// opened is recorded as its own exchange with a note, so that unobserved traffic does not count as clean. The agent's
// own certificate is verified, for the name that the client requested.
//
// After a client rejects the proxy's certificate by an alert, its connections to that agent are tunneled, so that the
// client works as it would without a2atap. A client that merely hangs up is not tunneled: it may have been killed, or
// lost its network.
//
// # What will surprise
//
//   - It changes no card: a client that follows one stays with its proxy. Inside CONNECT, all requests go to the host
//     that CONNECT names, whatever Host and TLS name; differences are noted.
//   - It refuses its own address. Requests to a tap go to the tap, and are recorded there.
//   - An opened CONNECT is recorded as the requests inside. A CONNECT that is tunneled or fails is recorded as its own
//     exchange. Tunneled traffic is recorded as sizes, without bytes.
//   - A CONNECT is tunneled, too, if it begins with neither TLS nor HTTP, if the client sends nothing for 5 s, or if
//     the client offers HTTP/2 alone and the agent does not accept it.
//   - CONNECT is answered before the agent is dialed, so that an agent that is down is a 502 inside TLS. If the client
//     offers HTTP/2, the agent is dialed before TLS, to find out whether it accepts HTTP/2.
package forward
