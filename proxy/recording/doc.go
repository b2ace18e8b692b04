// Package recording converts the traffic of connections into the steps of a capture, without ever delaying it.
//
// A [Recorder] has a queue, bounded in bytes, and one goroutine. [Recorder.Conn] begins a connection: the [Conn] is a
// relay.Observer, which copies its input into the queue and returns, in well under a microsecond and usually without
// allocating. The goroutine takes the pieces in the order of arrival, converts them to steps and appends these to the
// capture's Sink: an exchange was opened, a piece of a body passed, an event passed. Event streams are split into
// events here, after content decoding, and gRPC responses into messages.
//
// # What it promises
//
// Reporting traffic never blocks, unless the user chose the policy [Wait]: then callers wait while there is no room,
// and as soon as the Sink reports that it cannot store anything ([Recorder.Hinder]). Otherwise, traffic for which the
// queue has no room passes unrecorded; steps that the Sink refuses are counted as lost. Both are reported in the
// exchange that has the gap, or in a separate step if the exchange is not recorded at all ([Stats]). An exchange that
// was opened in the capture is also closed in it, regardless of what happens in between. A panic of a Sink or of a
// decoder ends neither the recording nor the traffic.
//
// # Who a client is
//
// The name of a client comes, in this order, from its credentials for the proxy, from a [ClientPattern] of the user,
// from a search for its process ([Caller]), from its User-Agent, and is else "client". Only the recording goroutine
// waits for such a search, and not if much is waiting to be recorded.
//
// # What will surprise
//
//   - A queue that is empty takes any piece, however large, so that a small limit cannot refuse a large head forever.
//   - The exchanges of a connection whose Bodies are not Everything are held back until they show what they are. Of
//     those outside the scope only the heads and sizes are recorded.
//   - Bytes that belong to no exchange are recorded as one, since they are what the user looks for when nothing else
//     arrives.
package recording
