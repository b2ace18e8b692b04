package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"a2atap/replay/client"
)

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
func All(p client.Protocol) []ClientFault {
	var fit []ClientFault
	for _, f := range all {
		if slices.Contains(f.protocols, p) {
			fit = append(fit, f)
		}
	}
	return fit
}

// Named returns a function, for the options of a client, that breaks the rule of that name. It fails as Find does.
func Named(slug string) func(client.Protocol) (func(*client.Outgoing), error) {
	return func(p client.Protocol) (func(*client.Outgoing), error) {
		f, err := Find(p, slug)
		if err != nil {
			return nil, err
		}
		return f.edit(), nil
	}
}

// Find returns the fault of that name. It fails if a client of that protocol cannot have the fault, and then names
// the possible ones.
func Find(p client.Protocol, slug string) (ClientFault, error) {
	fit := All(p)
	i := slices.IndexFunc(fit, func(f ClientFault) bool { return f.Slug == slug })
	if i < 0 {
		slugs := make([]string, len(fit))
		for i, f := range fit {
			slugs[i] = f.Slug
		}
		return ClientFault{}, fmt.Errorf("%w %q for a client of %s; use %s", ErrUnknown, slug, p, strings.Join(slugs, ", "))
	}
	return fit[i], nil
}

// ErrUnknown means that clients of the protocol have no fault of the given name.
var ErrUnknown = errors.New("unknown fault")
