// Package grpc reads and writes A2A over gRPC: the protocol buffer messages of both generations of its service, as the
// JSON that the other bindings have; their frames; and the status of calls.
//
// The messages are defined in this package's tables and not by an SDK, since an implementation of the protocol must not
// judge itself. A message becomes JSON by the rules of ProtoJSON, so that code for A2A's JSON also works for gRPC, and
// a place in the JSON is a place in the message. The generations share names, but hardly any message: the called
// service tells the generation, never a message.
//
// Input from the wire is untrusted. It cannot make this package panic, use unbounded memory, or guess.
//
// All functions may be called at the same time.
package grpc
