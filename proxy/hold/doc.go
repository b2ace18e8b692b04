// Package hold stops messages that the user wants to inspect: each waits at the tap until it is released, changed, or
// dropped.
//
// A [Desk] decides which messages to hold, has the held ones, and receives the user's decisions. For each client
// connection, a [Line] learns of the requests, like the relay's Observer, and wraps the connection to the agent: a
// request waits there before the agent gets its first byte, an answer before the client does. The relay is not aware of
// it. It records answers as the client gets them, and requests as the client sent them.
//
// # What is held
//
// Whole messages over HTTP/1.1, of up to a mebibyte: requests, and answers that are not streams. Messages that are
// longer, or stream, or wait for 100 (Expect), or change the protocol, pass, and the Desk reports that. While the Desk
// holds nothing, bytes pass as without it.
//
// # What is promised
//
// No message is held without someone who can release it: when the client stops sending or leaves, when another request
// comes on its connection, or when the Desk changes its choice or is closed, held messages continue unchanged, at once.
// If an agent closes its idle connection meanwhile, the Line reconnects.
package hold
