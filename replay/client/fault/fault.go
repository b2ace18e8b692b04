// Package fault has the faults of clients: named ways to break one rule of the protocol each, for tests of agents and
// of what judges clients. A client has one by its options:
//
//	c, err := client.New(at, client.Options{Break: fault.Named("rpc-id-missing")})
package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"a2atap/replay/client"
)

// A Fault is a named way in which a client breaks one rule of the protocol, and as far as possible only that one.
type Fault struct {
	Slug string           // id of the rule that it breaks
	Doc  string           // what goes over the wire, one sentence
	On   client.Operation // the operation whose requests are broken; empty if those of SendMessage are among them
	Also []string         // rules that cannot be kept when this one is broken

	protocols []client.Protocol
	edit      func() func(*client.Outgoing) // the inner function edits the requests of one client, one after another
}

// ErrUnknown says that a client of the protocol cannot have a fault of the name that was asked for.
var ErrUnknown = errors.New("unknown fault")

// all are the faults, in the order of the rule catalogue.
var all = slices.Concat(
	envelopeFaults,
	rpcFaults,
	shapeFaults,
	requestFaults,
	versionFaults,
	httpFaults,
	dialectFaults,
)

// All returns the faults that a client of that protocol can have, in the order of the rule catalogue.
func All(p client.Protocol) []Fault {
	var fit []Fault
	for _, f := range all {
		if slices.Contains(f.protocols, p) {
			fit = append(fit, f)
		}
	}
	return fit
}

// Named returns what breaks the rule of that name, for the options of a client. It fails as Find does.
func Named(slug string) func(client.Protocol) (func(*client.Outgoing), error) {
	return func(p client.Protocol) (func(*client.Outgoing), error) {
		f, err := Find(p, slug)
		if err != nil {
			return nil, err
		}
		return f.edit(), nil
	}
}

// Find returns the fault of that name. It fails if a client of that protocol cannot have it, and then names those
// that it can have.
func Find(p client.Protocol, slug string) (Fault, error) {
	fit := All(p)
	i := slices.IndexFunc(fit, func(f Fault) bool { return f.Slug == slug })
	if i < 0 {
		slugs := make([]string, len(fit))
		for i, f := range fit {
			slugs[i] = f.Slug
		}
		return Fault{}, fmt.Errorf("%w %q of a client of %s; use %s", ErrUnknown, slug, p, strings.Join(slugs, ", "))
	}
	return fit[i], nil
}

// of returns a fault of clients of some protocols; also are rules that cannot be kept when it breaks its own.
func of(
	protocols []client.Protocol, slug string, on client.Operation, doc string, edit func() func(*client.Outgoing),
	also ...string,
) Fault {
	return Fault{Slug: slug, Doc: doc, On: on, Also: also, protocols: protocols, edit: edit}
}

// The protocols that a fault fits.
var (
	overRPC     = []client.Protocol{client.JSONRPC10, client.JSONRPC03}
	overREST    = []client.Protocol{client.REST10}
	only10      = []client.Protocol{client.JSONRPC10, client.REST10}
	only03      = []client.Protocol{client.JSONRPC03}
	anyProtocol = client.Protocols()
)
