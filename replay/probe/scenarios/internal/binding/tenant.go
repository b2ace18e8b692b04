package binding

import (
	"context"
	"encoding/json"
	"net/url"

	"a2atap/analyzer/analysis"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Tenants are about the tenants in the interfaces of a card.
var Tenants = []*probe.Scenario{
	{
		ID: "act-tenant", Title: "the tenants of the card are served, however the request names them",
		Category: analysis.Interop, Level: analysis.Must, Protocols: scenario.V10,
		Sections: []string{"1.0 §8.3.2", "1.0 §5.3"}, Tags: []string{"tenant", "A41"},
		Fix: "Serve each tenant of the card: named in the member tenant, and over HTTP+JSON also before the path.",
		Run: askTenants,
	},
}

// maxTenants bounds the number of a card's tenants that are tested.
const maxTenants = 4

func askTenants(ctx context.Context, s *probe.Session) error {
	asked := 0
	if s.Card != nil {
		for _, i := range s.Card.Interfaces {
			if i.Protocol != s.Protocol() || i.Tenant == "" || asked == maxTenants {
				continue
			}
			asked++
			if err := askTenant(ctx, s, i); err != nil {
				return err
			}
		}
	}
	if asked == 0 {
		return &probe.Skip{Why: "the card names no tenant"}
	}
	return nil
}

// askTenant sends a message for the tenant of an interface, and reads the resulting task, in each form.
func askTenant(ctx context.Context, s *probe.Session, i client.Interface) error {
	// The card's tenant is used, whatever tenant the options name.
	c := s.At(i, func(o *client.Options) { o.Tenant = "" })
	defer c.Close()
	form := "in the member tenant"
	inPath := s.Protocol().Binding == client.REST10.Binding
	if inPath {
		form = "in the path"
	}
	if err := serves(ctx, s, c, i.Tenant, form); err != nil || !inPath {
		return err
	}
	edit := withTenant(i.Tenant)
	i.Tenant = ""
	member := s.At(i, func(o *client.Options) { o.Tenant, o.Edit = "", edit })
	defer member.Close()
	return serves(ctx, s, member, c.Endpoint().Tenant, "in the member tenant, and in the query of requests without a body")
}

func serves(ctx context.Context, s *probe.Session, c *client.Client, tenant, form string) error {
	r, err := c.Send(ctx, s.Say(probe.Anything), client.SendOptions{})
	if err == nil && r.Task != nil {
		_, err = c.Get(ctx, r.Task.ID, nil)
		if scenario.Gone(err) {
			return probe.Fail("the task "+r.Task.ID+" of tenant "+tenant+", named "+form, "%s",
				probe.Describe(scenario.Refusal(err)))
		}
	}
	if refused := scenario.Refusal(err); refused != nil {
		return probe.Fail("an answer to tenant "+tenant+", which the card declares, named "+form, "%s",
			probe.Describe(refused))
	}
	return err
}

// withTenant returns an edit that names a tenant in the body of an HTTP+JSON request, or else in the query.
func withTenant(tenant string) func(*client.Outgoing) {
	return func(out *client.Outgoing) {
		var members map[string]json.RawMessage
		if json.Unmarshal(out.Body, &members) == nil && members != nil {
			members["tenant"], _ = json.Marshal(tenant) // a text can be written
			out.Body, _ = json.Marshal(members)         // it was JSON
			return
		}
		at, err := url.Parse(out.URL)
		if err != nil {
			return
		}
		query := at.Query()
		query.Set("tenant", tenant)
		at.RawQuery = query.Encode()
		out.URL = at.String()
	}
}
