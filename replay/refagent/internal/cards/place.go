package cards

import (
	"slices"
	"strconv"
	"strings"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/wire"
)

// The interfaces of a given card. Addresses are replaced with the agent's own, and added if the card has none;
// bindings, versions and tenants must be served.

// An offeredPlace is an interface of a card of 1.0 without its address.
type offeredPlace struct {
	entry   jsonvalue.Object
	binding string
	tenant  string
}

// checkInterfaces10 reads the interfaces of A2A 1.0 (§4.4.6). An interface without a tenant applies to all tenants.
func checkInterfaces10(c *cardCheck) {
	seen := map[[2]string]bool{}
	tenants := slices.DeleteFunc(slices.Clone(c.Tenants), func(name string) bool { return name == "" })
	for f := range c.Each("supportedInterfaces") {
		c.readURL(f, "url")
		b := f.Required("protocolBinding")
		if b != "" && !slices.Contains(c.Bindings, wire.Binding(b)) {
			f.Complain("protocolBinding", "is "+strconv.Quote(b)+", and the agent speaks "+Words(c.Bindings))
		}
		if v := f.Required("protocolVersion"); v != "" && v != "1.0" {
			f.Complain("protocolVersion", "is "+strconv.Quote(v)+", and the agent speaks 1.0")
		}
		of := tenants
		if t := f.Text("tenant"); t != "" || len(tenants) == 0 {
			of = []string{t}
			if t != "" && !slices.Contains(tenants, t) {
				f.Complain("tenant", "is "+strconv.Quote(t)+", whom the agent does not serve")
			}
		}
		for _, t := range of {
			if seen[[2]string{b, t}] {
				f.Reject("is a second interface for " + b + ", and the agent has one address")
			}
			seen[[2]string{b, t}] = true
			c.given.offered = append(c.given.offered, offeredPlace{f.Object, b, t})
		}
	}
	for _, t := range tenants {
		named := func(p offeredPlace) bool { return p.tenant == t }
		if len(c.given.offered) > 0 && !slices.ContainsFunc(c.given.offered, named) {
			c.Complain("supportedInterfaces", "have none for the tenant "+strconv.Quote(t))
		}
	}
}

// addressed10 returns a card of 1.0 with the agent's address in its interfaces.
func addressed10(a *Subject, g *Given, base string) jsonvalue.Object {
	var list []any
	for _, p := range g.offered {
		entry := p.entry.With("url", address(base, wire.Binding(p.binding)))
		if p.tenant != "" {
			entry = entry.With("tenant", p.tenant)
		}
		list = append(list, entry)
	}
	if len(list) == 0 {
		list = interfaces10(a, base)
	}
	return g.card.With("supportedInterfaces", list)
}

// checkPlaces03 reads version, address and transports of 0.2 and 0.3 (A2A 0.3 §5.5, §5.6).
func checkPlaces03(c *cardCheck) {
	ours := func(t string) bool { return slices.Contains(c.Bindings, wire.Binding(t)) }
	minor := strings.TrimPrefix(c.Face.version, "A2A ")
	v := c.Text("protocolVersion")
	switch {
	case v == "" && minor != "0.2": // which had no such member in the beginning
		c.Complain("protocolVersion", "is required")
	case v != "" && v != minor && !strings.HasPrefix(v, minor+"."):
		c.Complain("protocolVersion", "is "+strconv.Quote(v)+", and the agent speaks "+minor)
	}
	checkURL(c)
	if t := c.Text("preferredTransport"); t != "" && !ours(t) {
		c.Complain("preferredTransport", "is "+strconv.Quote(t)+", and the agent speaks "+Words(c.Bindings))
	}
	for f := range c.Each("additionalInterfaces") {
		c.readURL(f, "url")
		if t := f.Required("transport"); t != "" && !ours(t) {
			f.Complain("transport", "is "+strconv.Quote(t)+", and the agent speaks "+Words(c.Bindings))
		}
	}
}

func checkURL(c *cardCheck) { c.readURL(c.Fields, "url") }

// addressed03 returns a card of 0.2 or 0.3 with the agent's address, and the transport there unless it is the default.
func addressed03(a *Subject, g *Given, base string) jsonvalue.Object {
	first := a.Bindings[0]
	if t, _ := g.card.Get("preferredTransport"); t != nil {
		first = wire.Binding(t.(string))
	}
	card := g.card.With("url", address(base, first))
	if first != wire.JSONRPC {
		card = card.With("preferredTransport", string(first))
	}
	if more, _ := card.Get("additionalInterfaces"); more != nil {
		here := func(v any) any {
			t, _ := v.(jsonvalue.Object).Get("transport")
			return v.(jsonvalue.Object).With("url", address(base, wire.Binding(t.(string))))
		}
		card = card.With("additionalInterfaces", jsonvalue.Values(more.([]any), here))
	}
	return card
}

// addressed01 returns a card of 0.1, or of before, with the agent's address.
func addressed01(_ *Subject, g *Given, base string) jsonvalue.Object { return g.card.With("url", base) }
