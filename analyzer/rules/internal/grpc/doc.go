// Package grpc holds the rules about the gRPC binding: which service and method are called, the contents of metadata,
// the framing of messages, unreadable messages, and how a call reports its outcome.
package grpc
