// Package recording turns what passes on connections into the steps of a capture, without ever holding it up.
//
// A [Recorder] has a queue, bounded in bytes, and one goroutine. [Recorder.Conn] begins a connection: the [Conn] is a
// relay.Observer, which copies what it is told into the queue and returns, in well under a microsecond and as a rule
// without allocating. The goroutine takes the pieces in the order in which they came, makes steps of them and appends
// these to the capture's Sink: an exchange was opened, a piece of a body passed, an event passed. Event streams are cut
// into events here, their content coding taken off first, and answers of gRPC into messages.
//
// # What it promises
//
// Whoever reports traffic never waits, unless the user chose the policy [Wait]: then it waits while there is no room, and as soon as
// the Sink says that it cannot store anything ([Recorder.Hinder]). What the queue has no room for otherwise passes
// unrecorded; what the Sink refuses is counted as lost; both are said in the exchange that has the gap, or in a step of
// their own where nothing of the exchange is there ([Stats]). An exchange that the capture has opened is also closed in
// it, whatever happens in between. A panic of a Sink or of a decoder ends neither the recording nor the traffic.
//
// # Who a client is
//
// The name of a client comes, in this order, from its credentials for the proxy, from a [ClientPattern] of the user,
// from a search for its process ([Caller]), from its User-Agent, and is else "client". Only the recording goroutine
// waits for such a search, and not where much waits to be recorded.
//
// # What will surprise
//
//   - A queue that is empty takes any piece, however large, so that a small limit cannot refuse a large head forever.
//   - The exchanges of a connection with OnlyA2A are held back until one of them shows a sign of A2A. Of those that
//     show none only the heads and sizes are recorded.
//   - Bytes that belong to no exchange are recorded as one, since they are what the user looks for when nothing else
//     arrives.
package recording
