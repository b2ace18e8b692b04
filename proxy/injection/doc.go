// Package injection makes faults in the answers of agents, on purpose, to show how a client handles them: an answer
// that comes late or not at all, a stream that breaks off, a 503.
//
// A [Plan] decides which exchanges with one agent get which fault. For each client connection, an [Injector] follows
// the requests, like the relay's Observer, and wraps the connection to the agent: the relay reads the agent's data with
// the fault already in it, and treats it like data from such an agent. So the record has what the client saw, and
// without a plan nothing changes in the relay.
//
// # What is touched
//
// Only exchanges that the plan chooses. All others on the connection pass byte for byte; the bytes of answers are
// followed, as the relay follows them, to find where each ends. Requests are held until they are complete, up to 1 MiB,
// only if the plan has a fault that keeps them from the agent. A request that waits for 100 (Expect) or asks for an
// upgrade passes untouched, and so does one that is answered before it is complete, a batch, and anything that is not a
// call of A2A.
//
// An answer stays valid HTTP, unless its break is the fault.
//
// # HTTP/2
//
// There a second relay of package h2 is the wrapper, and a fault affects one of its streams: all others continue. Like
// a relay.StreamObserver, an Injector learns of streams before their requests.
package injection
