// Package hold stops messages on their way because the user wants to look at them: each waits at the tap until it is let
// go, changed, or dropped.
//
// A [Desk] says what is to be held, has what is, and takes what the user decides. For each client connection a [Line] is
// told what is asked, as the relay's Observer is, and wraps the connection to the agent: a request waits there before the
// agent gets its first byte, an answer before the client does. The relay notices nothing of it. What it records as the
// answer is what the client gets; what it records as the request is what the client has sent.
//
// # What is held
//
// Whole messages over HTTP/1.1, of up to a mebibyte: requests, and answers that are not streams. What is longer, or
// streams, or waits for 100 (Expect), or changes the protocol, passes, and the Desk says so. While the Desk wants nothing,
// bytes pass as if it were not there.
//
// # What is promised
//
// Nothing is held that nobody can let go: when the client ends its sending or leaves, when another request comes on its
// connection, when the Desk wants something else or is closed, what is held goes on unchanged, at once. An agent that
// closes its connection meanwhile, as one does to which nothing is sent, is connected to anew.
package hold
