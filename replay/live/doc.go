// Package live speaks with agents over connections of its own and records what passes, byte for byte: heads as they
// were on the wire, bodies as they came, events with their times. Commands that are clients themselves keep their
// traffic with it; a tap has other means.
//
// A [Log] hands out the steps of all exchanges in one order. [Call] is one exchange, and [Transport] puts it under a
// net/http client.
//
// It speaks HTTP/1.1 over a connection of its own for each exchange, and gRPC over HTTP/2, whose connections are
// shared. It uses no proxy of the environment: the proxy would be recorded in the agent's place.
package live
