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
// the path (§4.4.6, §8.3.2, §11.3). Each tenant has a separate engine, so that it sees only its own tasks.

// checkTenants returns an error that names the tenants that an agent cannot serve, and why.
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
		r.Tenant = "" // ignored if tenants are not served separately
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

// A party owns tasks: a user of a tenant. Either may be empty.
type party struct{ tenant, user string }

// engineOf returns the engine that has the tasks of a request's tenant and user, which were admitted.
func (s *service) engineOf(r *model.Request) *engine.Engine {
	e, err := s.engineFor(party{r.Tenant, r.User})
	if err != nil {
		s.opts.Log(err.Error())
	}
	return e
}

// engineFor returns the engine of a party, and creates it on first use. It fails if the party's stored tasks cannot be
// read.
func (s *service) engineFor(p party) (*engine.Engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.engines[p]; e != nil {
		return e, nil
	}
	e := engine.New(s.ctx, engine.Options{
		StepTime: s.opts.StepTime, CancelWait: s.opts.CancelWait, MaxTasks: s.opts.MaxTasks, Moves: s.profile.moves,
		NoStatuses: s.given != nil && !s.given.Statuses, Store: s.opts.Store, WebhookRoots: s.opts.WebhookRoots,
		Edit: s.hooks.Deliver, Log: s.opts.Log, Now: s.opts.Now, NewID: s.opts.NewID,
	})
	s.engines[p] = e
	return e, e.Restore(s.owner(p), s.skillNamed)
}

// owner names what belongs to a party in a store.
func (s *service) owner(p party) string {
	name := s.profile.name
	if p.tenant != "" {
		name += "/" + p.tenant
	}
	if p.user != "" {
		name += "//" + p.user // no tenant begins with a slash
	}
	return name
}
