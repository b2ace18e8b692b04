package refagent

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/model"
)

// Tenants are of A2A 1.0: interfaces in the card name them, and requests name one in a member, in the query, or before
// the path (§4.4.6, §8.3.2, §11.3). Each tenant has an engine of its own, so that it sees no tasks but its own.

// checkTenants says which tenants an agent cannot serve, and why.
func (p *profile) checkTenants(tenants []string) error {
	if len(tenants) > 0 && !p.versioned {
		return fmt.Errorf("agent %s has no tenants: they came with A2A 1.0, which echo and spec speak", p.name)
	}
	for i, t := range tenants {
		switch {
		case t == "" || strings.Contains(t, "/") || strings.ContainsFunc(t, unicode.IsControl):
			return fmt.Errorf("tenant %q: use a name that is not empty and has no slash in it", t)
		case t == "." || t == ".." || t == ".well-known":
			return fmt.Errorf("tenant %q: in the path of HTTP+JSON it means something else; use another name", t)
		case slices.Contains(tenants[:i], t):
			return fmt.Errorf("tenant %q is named twice; name each tenant once", t)
		}
		if _, ok := routes10(url.PathEscape(t)); ok {
			return fmt.Errorf("tenant %q: a path of HTTP+JSON begins with that word; use another name", t)
		}
	}
	return nil
}

// admitTenant refuses requests for tenants that the agent does not serve.
func (s *service) admitTenant(r *model.Request) *model.Failure {
	switch {
	case len(s.opts.Tenants) == 0:
		r.Tenant = "" // what nobody serves apart does not matter
	case r.Tenant == "":
		return model.Fail(model.CodeNoTenant, "This agent serves tenants, and the request names none")
	case !slices.Contains(s.opts.Tenants, r.Tenant):
		return model.Fail(model.CodeNoTenant, "No such tenant: "+r.Tenant)
	}
	if r.Push != nil {
		r.Push.Tenant = r.Tenant
	}
	return nil
}

// engineOf returns the engine that has the tasks of a request's tenant, which was admitted.
func (s *service) engineOf(r *model.Request) *engine.Engine { return s.engines[r.Tenant] }
