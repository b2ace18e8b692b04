// Package grpc reads and writes what gRPC carries of A2A: the messages of both generations of its service in protocol
// buffers, as the JSON that the other bindings have; the frames that they come in; and how a call came out.
//
// The messages are laid down in tables of our own, since one reading of the protocol must not judge itself: no SDK is
// asked. A message becomes JSON by the rules of ProtoJSON, so that whatever knows A2A's JSON knows what gRPC carries,
// and a place in the JSON is a place in the message. The generations share names, and hardly a message: which one is
// spoken says the service that is called, never a message.
//
// What comes from the wire is foreign. Nothing in it makes this package panic, take memory without bound, or guess.
//
// All functions may be called at the same time.
package grpc
