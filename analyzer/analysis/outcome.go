package analysis

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"a2atap/proxy/capture"
)

// An Outcome is the outcome of a call. It is independent of violations: a well-formed error is neither a violation nor
// a success. The zero Outcome means unknown.
type Outcome struct {
	Succeeded bool
	Failure   string // the name of the error: see Calls
}

// Known reports whether the recording shows the outcome of the call.
func (o Outcome) Known() bool { return o.Succeeded || o.Failure != "" }

// The names of failures without an error of the protocol.
const (
	Unreachable   = "unreachable"          // no connection to the agent
	Untrusted     = "tls"                  // a connection to the agent, but no TLS session on it
	TooLate       = "timeout"              // the agent was too slow
	CutShort      = "cut short"            // the agent broke off before the end of its answer
	NoHTTP        = "no valid HTTP"        // the answer is not HTTP
	NoProtocol    = "no protocol answer"   // success by its status, and no answer of A2A
	NoEnvelope    = "no JSON-RPC response" // but a part that it requires
	NoCode        = "error without a code"
	OtherID       = "answer to another call" // over JSON-RPC, whose id identifies the answered call
	NoStatus      = "no grpc-status"         // over gRPC
	ManyAnswers   = "more than one message"  // over gRPC, where the method is answered with one
	ClientLeft    = "client left"            // before there was an answer
	NotPassedOn   = "not passed on"          // by the recorder
	UnknownReason = "no answer"              // for an unknown reason
)

// FaultName returns the name of the failure that a fault of the agent's side makes of a call.
func FaultName(f *capture.TransportFault) string { return cmp.Or(faultNames[f.Kind], CutShort) }

// IsFault reports whether a failure has the name of a fault of the agent's side.
func IsFault(name string) bool {
	return name == CutShort || slices.Contains(slices.Collect(maps.Values(faultNames)), name)
}

// faultNames are the names of failures that the agent's side causes; all others are CutShort.
var faultNames = map[string]string{
	"unreachable": Unreachable, "tls": Untrusted, "timeout": TooLate, "refused": NoHTTP,
}

// ProvesAbsence reports whether a fault shows that no program listens at the agent's address: the host refused the
// connection, or no host was found. A connection that breaks, a firewall that drops packets and a proxy on the route
// that refuses do not show that.
func ProvesAbsence(f *capture.TransportFault) bool {
	if f == nil || f.Side != "agent" || f.Kind != "unreachable" || strings.Contains(f.Detail, "upstream proxy") {
		return false
	}
	for _, text := range [...]string{
		"connection refused", "actively refused", "no route to host", "host is unreachable", "unreachable host",
		"host is down", "no such host",
	} {
		if strings.Contains(f.Detail, text) {
			return true
		}
	}
	return false
}
