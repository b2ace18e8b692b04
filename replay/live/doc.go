// Package live talks to agents over its own connections and records the traffic byte for byte: heads as they were on
// the wire, bodies as received, events with their times. Commands that act as clients record their traffic with it; a
// tap records by other means.
//
// A [Log] assigns the steps of all exchanges one order. A [Transport] sends a [Call], or the requests of a net/http
// client.
//
// It speaks HTTP/1.1 over a separate connection for each exchange, and gRPC over shared HTTP/2 connections. It
// ignores proxies from the environment: the recording would show the proxy instead of the agent.
package live
