// Package forward is an HTTP proxy that clients name as theirs, and through which they go to any agent.
//
// Requests in absolute form (RFC 9112 section 3.2.2) go to the relay as they came. CONNECT (RFC 9110 section 9.3.6) is
// decided by goproxy's conditions: it is refused, passed on unopened, or opened with a certificate of the user's own
// authority (package ca), after which the relay has what is inside. What goproxy lets pass goes to connections of ours,
// since its own hold back heads, hide broken streams and do not notice clients that leave.
//
// # What it promises
//
// Bytes pass as they came, in both directions and at once; a tunnel passes them without a look. What is not opened is
// recorded as one exchange of its own that says so: nobody takes what was not observed for clean. The agent's own
// certificate is verified, for the name that the client means.
//
// A client that rejects our certificate by an alert is tunnelled to that agent from then on, so that it works as it
// would without us. One that merely hangs up is not: it may have been killed, or lost its network.
//
// # What will surprise
//
//   - It changes no card: a client that follows one stays with its proxy. Inside CONNECT all requests go where CONNECT
//     says, whatever Host and TLS name; what differs is noted.
//   - It refuses its own address, and leaves to a tap what goes to that tap: it is recorded there.
//   - An opened CONNECT is recorded as the requests inside, one that is tunnelled or fails as an exchange of its own.
//     What is tunnelled has sizes and no bytes.
//   - It is tunnelled, too, if it begins with neither TLS nor HTTP, if the client sends nothing for 5 s, or if it offers
//     HTTP/2 alone and the agent does not take that.
//   - CONNECT is answered before the agent is dialled, so that an agent that is down is a 502 inside TLS. Where the client
//     offers HTTP/2 the agent is dialled before TLS, to know whether it takes that.
package forward
