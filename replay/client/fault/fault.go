// Package fault has the faults of clients: named ways to break one rule of the protocol each, for tests of agents and
// of what judges clients. A client has one by its options:
//
//	c, err := client.New(at, client.Options{Break: fault.Named("rpc-id-missing")})
package fault

import (
	"a2atap/replay/client"
)

// A ClientFault is a named way in which a client breaks one rule of the protocol, and as far as possible only that one.
type ClientFault struct {
	Slug string           // id of the rule that it breaks
	Doc  string           // what goes over the wire, one sentence
	On   client.Operation // the operation whose requests are broken; empty if those of SendMessage are among them
	Also []string         // rules that cannot be kept when this one is broken

	protocols []client.Protocol
	edit      func() func(*client.Outgoing) // the inner function edits the requests of one client, one after another
}

// of returns a fault of clients of some protocols; also are rules that cannot be kept when it breaks its own.
func of(
	protocols []client.Protocol, slug string, on client.Operation, doc string, edit func() func(*client.Outgoing),
	also ...string,
) ClientFault {
	return ClientFault{Slug: slug, Doc: doc, On: on, Also: also, protocols: protocols, edit: edit}
}

// The protocols that a fault fits.
var (
	overRPC     = []client.Protocol{client.JSONRPC10, client.JSONRPC03}
	overREST    = []client.Protocol{client.REST10}
	only10      = []client.Protocol{client.JSONRPC10, client.REST10}
	only03      = []client.Protocol{client.JSONRPC03}
	anyProtocol = []client.Protocol{
		client.JSONRPC10, client.REST10, client.JSONRPC03, client.REST03, client.JSONRPC01, client.Early,
	}
)
