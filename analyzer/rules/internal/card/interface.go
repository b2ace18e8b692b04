package card

import (
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// Interfaces is the family of rules about requests that do not match the card.
var Interfaces = rule.Family{
	Name:     "interface",
	Category: analysis.Interop,
	Side:     a2a.Client,
	Once:     analysis.PerEndpoint,
	On:       analysis.RequestSeen,
	Bindings: rule.OnCall,
	Needs:    []*analysis.Tracker{card.Tracker},
}.Of(
	reqTenantEcho,
	reqTenantOmit,
	reqInterfaceURL,
	reqCapabilityStreaming,
	reqCapabilityPush,
	reqCapabilityExtended,
)

var reqTenantEcho = &analysis.Rule{
	ID:     "req-tenant-echo",
	Title:  "request does not name the tenant of the interface",
	Level:  analysis.Must,
	If:     analysis.Offered,
	Cites:  rule.Cite("8.3.2", a2a.V1_0),
	Stands: "1.0.1:2000",
	Doc: `An interface entry of the card may declare a tenant, and every request to that interface repeats it. With
another tenant the request reaches someone else's agent, or none.`,
	Fix: `Copy tenant from the interface entry that you use into every request: into the parameters, or over HTTP+JSON into
the path or the query.`,
	Silent: `Any of the tenants that the cards declare for this URL, binding and version, and no tenant if one of the
entries declares none. A missing tenant is a warning, since 1.0.0 defined it only in paths; it is not reported if the
URL of the interface ends with the tenant.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if v := x.Call.Params.Get("tenant"); rule.Given(x.Call.Params) && x.Call.Params.Kind() != a2a.Object ||
			rule.Given(v) && v.Kind() != a2a.String {
			return // another rule reports the invalid value
		}
		var declared string
		for o := range card.Of(p).Offers(x) {
			if !isFor(&o, x) {
				continue
			}
			if o.Tenant == x.Call.Tenant {
				if o.Tenant != "" {
					p.Applied()
				}
				return
			}
			if o.Before && o.Tenant != "" {
				declared = o.Tenant
			}
		}
		if declared == "" {
			return
		}
		p.Applied()
		expected := "expected " + analysis.QuoteText(declared) + ", as in the card"
		switch {
		case x.Call.Tenant != "":
			p.Report(x.RequestPlace(), "tenant is "+analysis.QuoteText(x.Call.Tenant), expected)
		case !strings.HasSuffix(x.Endpoint.URL, "/"+declared):
			p.Report(x.RequestPlace(), "the request names no tenant", expected, analysis.AtMost(analysis.Warning))
		}
	},
}

// isFor reports whether an interface is for the binding and version of a call of 1.0.
func isFor(o *card.Offer, x *analysis.Exchange) bool {
	return o.Binding == x.Call.Binding && o.Dialects.Has(a2a.V1_0)
}

var reqTenantOmit = &analysis.Rule{
	ID:     "req-tenant-omit",
	Title:  "request names a tenant, and the interface has none",
	Level:  analysis.Must,
	If:     analysis.Offered,
	Cites:  rule.Cite("8.3.2", a2a.V1_0),
	Stands: "1.0.1:2000",
	Doc: `A request names a tenant only if the interface entry of the card declares one. Agents without tenants may
refuse the request, or store its tasks where no later request finds them.`,
	Fix: `Send tenant only if the interface entry has one.`,
	Silent: `Endpoints that no card names. The finding is a warning: 1.0.0 does not forbid it, and traffic does not
show the patch version.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if x.Call.Tenant == "" {
			return
		}
		var last *card.Card
		for o := range card.Of(p).Offers(x) {
			if !isFor(&o, x) {
				continue
			}
			if o.Tenant != "" || rule.Given(o.Card.At(strings.TrimSuffix(o.Pointer, "url")+"tenant")) {
				return
			}
			if o.Before {
				last = o.Card
			}
		}
		if last != nil {
			p.Report(x.RequestPlace(), "tenant is "+analysis.QuoteText(x.Call.Tenant),
				"expected no tenant, since the card at "+last.Place.String()+" declares none", analysis.AtMost(analysis.Warning))
		}
	},
}

var reqInterfaceURL = &analysis.Rule{
	ID:     "req-interface-url",
	Title:  "request goes to a URL of another binding",
	Level:  analysis.Must,
	If:     analysis.Offered,
	Cites:  rule.Cite("5.6.3", a2a.V0_3).And("8.3.2", a2a.V1_0),
	Stands: "0.3.0:402 1.0.1:1999",
	Doc: `Each interface of a card is a URL and a binding. A request in one binding means nothing at the URL of
another: the agent answers 404, or an error about the body.`,
	Fix: `Choose an interface entry whose binding the client supports, and send to the URL of that entry.`,
	Silent: `URLs that a card also offers for this binding, implicitly or explicitly; unknown bindings; calls that
began long before the card was fetched.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		var other card.Offer
		for o := range card.Of(p).Offers(x) {
			if o.Binding == x.Call.Binding || o.Binding == a2a.NoBinding || o.Transport == "" {
				p.Applied()
				return
			}
			if o.Before {
				other = o
			}
		}
		if other.Card != nil {
			p.Report(x.RequestPlace(), "a request over "+x.Call.Binding.String()+" goes to "+analysis.Clip(x.Endpoint.URL),
				"expected "+other.Binding.String()+" there, as the card at "+other.Card.Place.String()+" says")
		}
	},
}

var reqCapabilityStreaming = &analysis.Rule{
	ID:     "req-capability-streaming",
	Title:  "streaming call, and the card offers no streaming",
	Level:  analysis.Should,
	If:     analysis.OfStream,
	Cites:  rule.Cite("7.2", rule.Before1...).And("3.3.4", a2a.V1_0),
	Stands: "0.1.0:826 0.2.6:517 0.3.0:726 1.0.1:578",
	Doc: `The card lists what an agent can do, and this one does not list streaming. The call will most likely be
refused.`,
	Fix:    `Check capabilities.streaming before you stream, and otherwise send without streaming.`,
	Silent: silentCapability,
	Check: func(p *analysis.Pass) {
		checkAbility(p, card.CanStream, p.Exchange.Call.Operation.Streams(), "streaming")
	},
}

const silentCapability = `Endpoints that no card names, or a card says or ever said that the agent can do it; agents
whose extended card was not seen, unless the client was seen to read the public card alone; calls that began long before
the card was there.`

// checkAbility judges a call that asks for something that an agent may not be able to do.
func checkAbility(p *analysis.Pass, ability card.Abilities, asks bool, what string) {
	if !asks || p.AnswerMissed() {
		return
	}
	x := p.Exchange
	if len(card.Of(p).Before(x)) > 0 {
		p.Applied()
	}
	if card := card.Of(p).Without(x, ability); card != nil {
		p.Report(x.RequestPlace(), rule.MethodOrPath(x)+" asks for "+what,
			"expected no such call, since the card at "+card.Place.String()+" does not offer it")
	}
}

var reqCapabilityPush = &analysis.Rule{
	ID:     "req-capability-push",
	Title:  "push notifications asked for, and the card offers none",
	Level:  analysis.Should,
	If:     analysis.Configured,
	Cites:  rule.Cite("7.5", rule.Before1...).And("3.3.4", a2a.V1_0),
	Stands: "0.1.0:974 0.2.6:711 0.3.0:920 1.0.1:578",
	Doc: `The card lists what an agent can do, and this one does not list push notifications. The call is refused, or
the client waits for notifications that never come.`,
	Fix:    `Check capabilities.pushNotifications before you set a webhook, and poll otherwise.`,
	Silent: silentCapability,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		checkAbility(p, card.CanPush, call.Operation.Push() || call.PushConfig.Exists(), "push notifications")
	},
}

var reqCapabilityExtended = &analysis.Rule{
	ID:       "req-capability-extended",
	Title:    "extended card asked for, and the card offers none",
	Level:    analysis.Should,
	If:       analysis.OfExtended,
	Bindings: rule.OnAll,
	Cites:    rule.Cite("7.10", a2a.V0_2, a2a.V0_3).And("3.3.4", a2a.V1_0),
	Stands:   "0.2.6:902 0.3.0:1111 1.0.1:578",
	Doc: `The public card says whether there is an extended card, and this one says that there is none. The call
is refused.`,
	Fix:    `Check capabilities.extendedAgentCard (before 1.0: supportsAuthenticatedExtendedCard) before you ask.`,
	Silent: silentCapability + ` Clients that were not seen to fetch the card.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		known := card.Of(p)
		if card := known.Without(x, card.HasExtendedCard); card != nil && !known.ReadBefore(x, card) {
			return
		}
		checkAbility(p, card.HasExtendedCard, x.Call.Operation == a2a.GetExtendedCard, "the extended card")
	},
}
