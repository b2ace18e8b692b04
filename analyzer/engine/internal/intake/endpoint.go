package intake

import (
	"slices"
	"strconv"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine/internal/dispatch"
	"a2atap/analyzer/internal/address"
	"a2atap/analyzer/internal/directory"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
)

// Bounds of the known facts about addresses. Beyond them, the least recently used are forgotten first.
const (
	maxEndpoints = 10_000
	maxCards     = 1_000
	maxAsked     = 1_000
)

// An endpointKey identifies the target of calls of one binding.
type endpointKey struct {
	address string
	binding a2a.Binding
}

// An endpoint has the known facts about a URL and binding, and what was reported about the agent there.
type endpoint struct {
	analysis.Endpoint
	reported dispatch.Reported
}

// endpoints has the facts about addresses that are needed to read requests: which dialects each address speaks, and
// which addresses belong to one agent.
type endpoints struct {
	known  *recent.Map[endpointKey, *endpoint]
	urls   *recent.Map[asked, *target]      // request targets: mostly the same few
	cards  *directory.Directory[[]a2a.Want] // with the schemes of each whose credentials have no standard field name
	agents *recent.Map[string, agentName]   // by address
}

// An agentName is the key for tasks made at an interface: one name for all interfaces of a card.
type agentName struct {
	name   string
	origin string // of the card that has the name
}

func newEndpoints() endpoints {
	return endpoints{
		known:  recent.New[endpointKey, *endpoint](maxEndpoints),
		urls:   recent.New[asked, *target](maxAsked),
		cards:  directory.New[[]a2a.Want](maxCards),
		agents: recent.New[string, agentName](maxEndpoints),
	}
}

// asked is the origin and path of a request.
type asked struct{ origin, path string }

// A target is the target of a request, and its address.
type target struct {
	asked
	address string
}

// targetOf returns the target with that origin and path. All requests to it share its strings, since many remembered
// entries refer to them.
func (s *endpoints) targetOf(origin, path string) *target {
	t, ok := s.urls.Get(asked{origin, path})
	if !ok {
		t = &target{asked{strings.Clone(origin), strings.Clone(path)}, address.Of(origin + path)}
		s.urls.Put(t.asked, t)
	}
	return t
}

// knownAt returns the facts that cards and earlier traffic show about the URL of a request, which help to recognize it.
func (s *endpoints) knownAt(x *analysis.Exchange) a2a.Known {
	var k a2a.Known
	near := s.cards.Near(x.Address)
	for i := range near {
		k.Add(near[i].Interface, x.Address)
	}
	if end, ok := s.known.Get(endpointKey{x.Address, a2a.JSONRPC}); ok && !end.Answered.Empty() {
		end.decide(s.cards.Declared(x.Address, a2a.JSONRPC))
		k.Spoken(a2a.JSONRPC, end.Answered)
	}
	if prefix, ok := a2a.RoutePrefix(x.Path); ok {
		if end, ok := s.known.Get(endpointKey{address.Of(x.Origin + prefix), a2a.HTTPJSON}); ok {
			k.Spoken(a2a.HTTPJSON, end.Answered)
		}
	}
	return k
}

// named reports whether a card names an interface to which a request to the address would go.
func (s *endpoints) named(at string) bool {
	near := s.cards.Near(at)
	for i := range near {
		route, below := strings.CutPrefix(at, near[i].Address)
		if below && (route == "" || route[0] == '/') {
			return true
		}
	}
	return false
}

// place fills in the known facts about a call's endpoint. A notification has no endpoint.
func (s *endpoints) place(c *dispatch.Case) {
	x := c.X
	if x.Call.Operation == a2a.Webhook {
		return
	}
	key := endpointKey{x.Interface(), x.Call.Binding}
	end, ok := s.known.Get(key)
	if !ok {
		end = &endpoint{Endpoint: analysis.Endpoint{URL: x.InterfaceURL(), Binding: key.binding}}
		s.known.Put(key, end)
	}
	c.AtEndpoint = &end.reported
	x.Endpoint, end.Early = &end.Endpoint, end.Early || x.Call.Early
	end.decide(s.cards.Declared(key.address, key.binding))
	declared := end.Declared
	if declared.Empty() { // a card that names only other bindings here still shows the version
		declared = s.cards.DeclaredAt(key.address)
	}
	x.Dialects = x.Call.Dialects.NarrowedBy(declared | end.Answered)
	if x.Call.Dialects.Empty() {
		x.Dialects = end.Declared
	}
	x.Agent, x.Tenant = s.agentAt(key.address), x.Call.Tenant
	x.Unreleased = unreleased(x.Call.Version)
}

// decide applies what cards declare for the endpoint. If the answers before the card left open which of 0.2 and 0.3 the
// endpoint speaks, the card decides.
func (e *endpoint) decide(declared a2a.Dialects) {
	e.Declared = declared
	kind := a2a.Of(a2a.V0_2, a2a.V0_3)
	if one := declared.Intersect(kind); e.Answered.Intersect(kind) == kind && !one.Empty() {
		e.Answered = e.Answered&^kind | one
	}
}

// learn records the declarations of a card, and which addresses belong to its agent.
func (s *endpoints) learn(x *analysis.Exchange, card *a2a.Card) {
	key := directory.Key{URL: x.URL(), Extended: x.Call.Operation == a2a.GetExtendedCard, Version: x.Call.Version}
	s.cards.Put(key, unnamedSchemes(card), card.Interfaces)
	own := agentName{origin: address.Of(x.Origin)}
	addresses := make([]string, 0, len(card.Interfaces))
	for _, i := range card.Interfaces[:min(len(card.Interfaces), directory.MaxInterfaces)] {
		if at := directory.AddressOf(&i); i.URL != "" && s.mayClaim(at, own.origin) {
			addresses = append(addresses, at)
		}
	}
	own.name = s.nameFor(addresses, own.origin)
	for _, at := range addresses {
		s.agents.Put(at, own)
	}
}

// mayClaim reports whether a card from an origin may describe an address: it may, unless a card from another origin did
// so earlier. Agents that were set up from one template often name the same wrong address, and are still separate
// agents. The address's own origin takes precedence.
func (s *endpoints) mayClaim(at, origin string) bool {
	known, ok := s.agents.Get(at)
	return !ok || known.origin == origin || address.Origin(at) == origin
}

// nameFor returns the key for the tasks of a card's addresses: the previous key, or else the first address at the
// card's own origin, which was the key before the card was seen.
func (s *endpoints) nameFor(addresses []string, origin string) string {
	name := ""
	for _, at := range addresses {
		if known, ok := s.agents.Get(at); ok && known.origin == origin {
			return known.name
		}
		if name == "" || address.Origin(at) == origin && address.Origin(name) != origin {
			name = at
		}
	}
	return name
}

// agentAt returns the key for tasks created at an address: one name for all interfaces of a card, or else the address.
func (s *endpoints) agentAt(address string) string {
	if known, ok := s.agents.Get(address); ok {
		return known.name
	}
	return address
}

// forgotten returns how many endpoints were dropped to bound memory.
func (s *endpoints) forgotten() int { return s.known.Forgotten() }

// unreleased reports whether a version is one after 1.0. Patch versions do not count (A2A 1.0 §3.6).
func unreleased(version string) bool {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	m, err := strconv.Atoi(major)
	n, _ := strconv.Atoi(minor)
	return err == nil && (m > 1 || m == 1 && n > 0)
}

// settle assigns a response without any sign of its dialect to one of the dialects that the call certainly uses. A
// settled dialect is not guessed again.
func settle(x *analysis.Exchange, p *a2a.Payload) {
	if x.Call.Evidence == a2a.Decisive && !x.Spoken().Has(a2a.V0_1) {
		p.Settle(x.Dialects)
	}
}

// unnamedSchemes returns the schemes of a card whose credentials are not recognizable in a request: API keys under the
// card's own names, and client certificates.
func unnamedSchemes(card *a2a.Card) []a2a.Want {
	security := card.Security()
	return slices.DeleteFunc(security.Schemes, func(w a2a.Want) bool {
		return w.Type != a2a.APIKeyScheme && w.Type != a2a.MutualTLSScheme
	})
}

// credentials returns whether a request had credentials, as far as the record and its agent's cards show.
func (s *endpoints) credentials(x *analysis.Exchange) summary.Credentials {
	if x.Principal() != 0 {
		return summary.CredentialsSent
	}
	known := summary.CredentialsMissing
	near := s.cards.Near(x.Address)
	for i := range near {
		schemes := near[i].Card
		if x.CarriesKeyOf(schemes) {
			return summary.CredentialsSent
		}
		if slices.ContainsFunc(schemes, func(w a2a.Want) bool { return w.Type == a2a.MutualTLSScheme }) {
			known = summary.CredentialsNotKnown
		}
	}
	if !x.CredentialsKept() {
		return summary.CredentialsNotKnown
	}
	return known
}
