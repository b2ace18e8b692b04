// Package fault provides the faults of clients: named ways to break one rule of the protocol each, for tests of
// agents and of code that checks clients. A client has a fault by its options:
//
//	c, err := client.New(at, client.Options{Break: fault.Named("rpc-id-missing")})
package fault

import (
	"a2atap/proxy/a2a"
	"a2atap/replay/client"
)

// A ClientFault is a named fault: a client that breaks one rule of the protocol and, as far as possible, only that one.
type ClientFault struct {
	Slug string        // id of the rule that it breaks
	Doc  string        // what goes over the wire, one sentence
	On   a2a.Operation // the operation whose requests are broken; SendMessage if several are
	Also []string      // rules that cannot be kept when this one is broken

	protocols []client.Protocol
	edit      func() func(*client.Outgoing) // the inner function edits the requests of one client, one after another
}

// of returns a fault for clients of some protocols; also lists the rules that it necessarily breaks with its own.
func of(
	protocols []client.Protocol, slug string, on a2a.Operation, doc string, edit func() func(*client.Outgoing),
	also ...string,
) ClientFault {
	return ClientFault{Slug: slug, Doc: doc, On: on, Also: also, protocols: protocols, edit: edit}
}

// sends is the operation of faults that break all requests, or several.
const sends = a2a.SendMessage

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
