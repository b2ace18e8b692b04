// Package grpc holds the rules about the gRPC binding: which service and method are called, what stands in metadata,
// how messages are framed, messages that cannot be read, and how a call says what became of it.
package grpc
