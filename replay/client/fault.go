package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Fault is a named way in which a client breaks one rule of the protocol, and as far as possible only that one.
type Fault struct {
	Slug string    // id of the rule that it breaks
	Doc  string    // what goes over the wire, one sentence
	On   Operation // the operation whose requests are broken; empty if those of SendMessage are among them
	Also []string  // rules that cannot be kept when this one is broken

	protocols []Protocol
	edit      func() func(*Outgoing) // the inner function edits the requests of one client, one after another
}

// ErrNoFault says that a client of the protocol cannot have a fault of the name that was asked for.
var ErrNoFault = errors.New("unknown fault")

// allFaults are the faults, in the order of the rule catalogue.
var allFaults = slices.Concat(
	envelopeFaults,
	rpcFaults,
	shapeFaults,
	requestFaults,
	versionFaults,
	httpFaults,
	dialectFaults,
)

// Faults returns the faults that a client of that protocol can have, in the order of the rule catalogue.
func Faults(p Protocol) []Fault {
	var fit []Fault
	for _, f := range allFaults {
		if slices.Contains(f.protocols, p) {
			fit = append(fit, f)
		}
	}
	return fit
}

// Named returns what breaks the rule of that name, for the options of a client. It fails as FaultOf does.
func Named(slug string) func(Protocol) (func(*Outgoing), error) {
	return func(p Protocol) (func(*Outgoing), error) {
		f, err := FaultOf(p, slug)
		if err != nil {
			return nil, err
		}
		return f.edit(), nil
	}
}

// FaultOf returns the fault of that name. It fails if a client of that protocol cannot have it, and then names those
// that it can have.
func FaultOf(p Protocol, slug string) (Fault, error) {
	fit := Faults(p)
	i := slices.IndexFunc(fit, func(f Fault) bool { return f.Slug == slug })
	if i < 0 {
		slugs := make([]string, len(fit))
		for i, f := range fit {
			slugs[i] = f.Slug
		}
		return Fault{}, fmt.Errorf("%w %q of a client of %s; use %s", ErrNoFault, slug, p, strings.Join(slugs, ", "))
	}
	return fit[i], nil
}

// The protocols that a fault fits.
var (
	overRPC     = []Protocol{JSONRPC10, JSONRPC03}
	overREST    = []Protocol{REST10}
	only10      = []Protocol{JSONRPC10, REST10}
	only03      = []Protocol{JSONRPC03}
	anyProtocol = Protocols()
)
