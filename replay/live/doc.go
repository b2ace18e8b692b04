// Package live speaks with agents over connections of its own and records what passes, byte for byte: heads as they
// were on the wire, bodies as they came, events with their times. It is what the commands that ask for themselves keep
// their traffic with; a tap has other means.
//
// A [Log] hands out the steps of all exchanges in one order. [Call] is one exchange, and [Transport] puts it under a
// net/http client.
//
// HTTP/1.1 only, a connection for each exchange, and no proxy of the environment: who listens in between would be
// recorded in the agent's place.
package live
