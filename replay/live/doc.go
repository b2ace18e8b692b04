// Package live speaks with agents over connections of its own and records what passes, byte for byte: heads as they
// were on the wire, bodies as they came, events with their times. Commands that are clients themselves keep their
// traffic with it; a tap has other means.
//
// A [Log] hands out the steps of all exchanges in one order. [Call] is one exchange, and [Transport] puts it under a
// net/http client.
//
// It speaks HTTP/1.1 only, opens a connection for each exchange, and uses no proxy of the environment: the proxy would
// be recorded in the agent's place.
package live
