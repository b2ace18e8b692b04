// Package grpc holds the rules about the gRPC binding: which service and method are called, what stands in metadata,
// messages that are none, and how a call says what became of it.
package grpc
