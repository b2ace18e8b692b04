package card

import (
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// CardURLs is the family of rules about the addresses and versions that a card declares.
var CardURLs = rule.Family{
	Name:     "cardurl",
	Category: analysis.AgentCard,
	Side:     a2a.Agent,
	OfCard:   true,
	On:       analysis.CardSeen,
	Bindings: rule.OnAll,
}.Of(
	cardInterfacesNonempty,
	cardURLAbsolute,
	cardURLHTTPS,
	cardURLUnspecified,
	cardProtocolVersionPresent,
	cardProtocolVersionPatch,
	cardProtocolVersionFormat,
	cardBindingKnown,
	cardPreferredTransport,
	cardTransportConflict,
	cardAdditionalComplete,
)

var cardInterfacesNonempty = &analysis.Rule{
	ID:     "card-interfaces-nonempty",
	Title:  "agent card without any interface",
	Level:  analysis.Must,
	Cites:  rule.Cite("5.7", a2a.V1_0),
	Stands: "1.0.1:1263",
	Doc: `supportedInterfaces lists the URLs at which the agent is reached, with their bindings and versions. A client
that finds an empty list has read a card and still does not know where to send requests.`,
	Fix: `Write one entry for each URL, binding and version that the agent serves, with the preferred one first.`,
	Silent: `A missing list, which card-required-fields reports. The finding is a note if the members of 0.3 are
complete, since clients can still use such a card.`,
	Check: func(p *analysis.Pass) {
		list := p.Card.Get("supportedInterfaces")
		if list.Kind() != a2a.Array {
			return
		}
		p.Applied()
		if list.Len() > 0 {
			return
		}
		p.Report(p.Place.In("supportedInterfaces"), "supportedInterfaces is empty", "expected at least one interface",
			analysis.AtMostIf(completeLegacy(p.Card), analysis.Note))
	},
}

var cardURLAbsolute = &analysis.Rule{
	ID:     "card-url-absolute",
	Title:  "interface URL in the agent card is not absolute",
	Level:  analysis.Must,
	Cites:  rule.Cite("5.5", rule.Before1...).And("4.4", a2a.V1_0),
	Stands: "0.1.0:171 0.2.5:165 0.3.0:types:332 1.0.1:proto:337",
	Doc: `Clients send requests to the URL exactly as it is in the card. They cannot connect to a path or a bare host
name, and nothing says how to complete it: registries pass cards on, too.`,
	Fix: `Write scheme, host and path: https://agent.example.com/a2a. Behind a gateway, configure the public URL of
the agent.`,
	Silent: `Entries of gRPC, if they are host:port. URLs of custom bindings, if they have any scheme. Empty URLs, which
count as missing.`,
	Check: func(p *analysis.Pass) {
		for i := range p.Card.Interfaces {
			entry := &p.Card.Interfaces[i]
			if entry.URL == "" {
				continue
			}
			p.Applied()
			if !reachable(entry) {
				p.Report(inCard(p, entry.Pointer), "the URL is "+analysis.QuoteText(entry.URL), "expected "+wantedURL(entry))
			}
		}
	},
}

// reachable reports whether the address of an interface has all parts that its binding needs to connect.
func reachable(entry *a2a.Interface) bool {
	switch entry.Binding {
	case a2a.JSONRPC, a2a.HTTPJSON:
		return rule.IsAbsolute(entry.URL)
	case a2a.GRPC: // a URL, host:port, or another name that a gRPC resolver knows
		return strings.Contains(entry.URL, ":")
	}
	return rule.IsURI(entry.URL)
}

func wantedURL(entry *a2a.Interface) string {
	switch entry.Binding {
	case a2a.JSONRPC, a2a.HTTPJSON:
		return "an absolute URL, with scheme and host"
	case a2a.GRPC:
		return "an absolute URL or host:port"
	}
	return "a URL with a scheme"
}

var cardURLHTTPS = &analysis.Rule{
	ID:     "card-url-https",
	Title:  "interface of a public host without TLS",
	Level:  analysis.Must,
	Cites:  rule.Cite("5.5", rule.Before1...).And("4.4", a2a.V1_0),
	Stands: "0.1.0:204 0.2.5:165 0.3.0:types:332 1.0.1:proto:337",
	Doc: `In production agents are reached over HTTPS. Over plain HTTP everyone on the network path can read the
messages and their credentials, and may change the answers.`,
	Fix: `Serve the agent over TLS, or put it behind a proxy that does, and write the https URL into the card.`,
	Silent: `Hosts that the public internet cannot reach: loopback and private addresses, names without a dot,
reserved names such as agent.local. Interfaces of gRPC and of custom bindings are not checked. Since a recording does
not show whether this is production, the finding is a warning at most.`,
	Check: func(p *analysis.Pass) {
		for i := range p.Card.Interfaces {
			entry := &p.Card.Interfaces[i]
			if entry.Binding != a2a.JSONRPC && entry.Binding != a2a.HTTPJSON || !rule.IsAbsolute(entry.URL) {
				continue
			}
			p.Applied()
			if rule.SchemeOf(entry.URL) == "http" && rule.ReachOf(entry.URL) == rule.FromAnywhere {
				p.Report(inCard(p, entry.Pointer), "the URL is "+analysis.QuoteText(entry.URL),
					"expected https for a host on the public internet", analysis.AtMost(analysis.Warning))
			}
		}
	},
}

var cardURLUnspecified = &analysis.Rule{
	ID:      "card-url-unspecified",
	Title:   "interface address in the agent card is 0.0.0.0 or ::",
	Level:   analysis.Advice,
	Gravest: analysis.Warning,
	Cites:   rule.Cite("5.5", rule.Before1...).And("4.4", a2a.V1_0),
	Stands:  "0.1.0:171 0.2.5:165 0.3.0:types:332 1.0.1:proto:337",
	Doc: `0.0.0.0 and :: are addresses to listen on, on every interface of the machine. No client on another machine
can connect to them; on the same machine it depends on the system.`,
	Fix:    `Listen on 0.0.0.0, and write the host that clients use into the card: a name, or an address of the machine.`,
	Silent: `Loopback and private addresses, which clients on the same machine or network can reach.`,
	Check: func(p *analysis.Pass) {
		for i := range p.Card.Interfaces {
			entry := &p.Card.Interfaces[i]
			if entry.URL == "" {
				continue
			}
			p.Applied()
			if host := hostOf(entry.URL); isUnspecified(host) {
				p.Report(inCard(p, entry.Pointer),
					"the URL is "+analysis.QuoteText(entry.URL)+", and no other machine can connect to "+host,
					"expected a host that clients can reach")
			}
		}
	},
}

// hostOf returns the host of a URL, or of an address host:port as gRPC has it; empty if it has no host.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Hostname()
	}
	host, _, err := net.SplitHostPort(address[strings.LastIndexByte(address, '/')+1:])
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(host, "dns:")
}

// isUnspecified reports whether a host is the unspecified address, which means all addresses of a machine.
func isUnspecified(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsUnspecified()
}

var cardProtocolVersionPresent = &analysis.Rule{
	ID:     "card-protocol-version-present",
	Title:  "agent card has no protocolVersion",
	Level:  analysis.Must,
	Cites:  rule.Cite("5.5", a2a.V0_2, a2a.V0_3),
	Stands: "0.2.6:types:116 0.3.0:types:374",
	Doc: `The card's protocolVersion tells clients which dialect the agent uses. Without it they have to guess between
versions that have the same method names and different objects.`,
	Fix: `Write "protocolVersion": "0.3.0" into the card.`,
	Silent: `Cards at agent.json without the member, which 0.2 has since 0.2.5 only; cards that have nothing that came
with 0.2.4 or later; cards that are complete in 1.0. The finding is a warning if only the path agent-card.json
suggests 0.3.`,
	Check: func(p *analysis.Pass) {
		v := p.Card.Get("protocolVersion")
		if v.Exists() && !v.IsNull() && !v.Is("") || completeModern(p.Card) {
			if v.Kind() == a2a.String {
				p.Applied()
			}
			return
		}
		worst := analysis.Error
		switch {
		case v.Is(""), hasMemberOf03(p.Card):
		case strings.HasSuffix(p.Exchange.Path, a2a.WellKnownPaths[0]):
			worst = analysis.Warning
		default:
			return
		}
		place, seen := p.Place, "the card has no protocolVersion"
		if v.Exists() {
			place, seen = p.Place.In("protocolVersion"), "protocolVersion is "+analysis.Quote(v)
		}
		p.Report(place, seen, `expected the version in use, such as "0.3.0"`, analysis.AtMost(worst))
	},
}

// hasMemberOf03 reports whether a card has a member that no version before 0.3 has.
func hasMemberOf03(card *a2a.Card) bool {
	if card.Has("signatures") {
		return true
	}
	for _, s := range a2a.SecuritySchemes(card.Value) {
		if s.Type == a2a.MutualTLSScheme {
			return true
		}
	}
	for _, skill := range card.Get("skills").Elems() {
		if skill.Has("security") {
			return true
		}
	}
	return false
}

var cardProtocolVersionPatch = &analysis.Rule{
	ID:     "card-protocol-version-patch",
	Title:  "interface version with a patch number",
	Level:  analysis.Should,
	Cites:  rule.Cite("3.6", a2a.V1_0),
	Stands: "1.0.1:708",
	Doc: `Versions are negotiated by major and minor number. A client that compares texts does not find its "1.0" in
"1.0.0", and skips an interface that it could use.`,
	Fix:    `Write "1.0", not "1.0.0", as protocolVersion of each interface.`,
	Silent: `The protocolVersion of the card itself, which 0.3 writes as 0.3.0.`,
	Check: func(p *analysis.Pass) {
		for i, entry := range p.Card.Get("supportedInterfaces").Elems() {
			version := entry.Get("protocolVersion")
			if version.Kind() != a2a.String || version.Is("") {
				continue
			}
			p.Applied()
			if hasPatch(version.Text()) {
				p.Report(inCard(p, a2a.Ptr("", "supportedInterfaces", i, "protocolVersion")),
					"protocolVersion is "+analysis.Quote(version), "expected only the major and minor number")
			}
		}
	},
}

// hasPatch reports whether a version has three numbers.
func hasPatch(version string) bool {
	parts := strings.Split(version, ".")
	if len(parts) < 3 {
		return false
	}
	for _, part := range parts[:3] {
		if part == "" || part[0] < '0' || part[0] > '9' {
			return false
		}
	}
	return true
}

var cardProtocolVersionFormat = &analysis.Rule{
	ID:     "card-protocol-version-format",
	Title:  "protocolVersion is not a version number",
	Level:  analysis.Must,
	Cites:  rule.Cite("5.5", a2a.V0_2, a2a.V0_3).And("3.6", a2a.V1_0),
	Stands: "0.2.6:types:116 0.3.0:types:374 1.0.1:708",
	Doc: `Clients look in the card for a version that they support, and send it back as A2A-Version. With "v1" or
"latest" they can do neither: they skip the agent, or send a version that no agent knows.`,
	Fix: `Write the major and minor number with a dot between them, such as "1.0". In cards of 0.2 and 0.3 a patch
number may follow.`,
	Silent: `Missing and empty versions, and in 1.0 those with a patch number, which other rules cover. Before 1.0 the
finding is a note, since no text defines how a version is written.`,
	Check: func(p *analysis.Pass) {
		for i, entry := range p.Card.Get("supportedInterfaces").Elems() {
			checkVersionFormat(p, entry.Get("protocolVersion"), analysis.Error, "supportedInterfaces", i, "protocolVersion")
		}
		checkVersionFormat(p, p.Card.Get("protocolVersion"), analysis.Note, "protocolVersion")
	},
}

// checkVersionFormat judges a version at a path in the card.
func checkVersionFormat(p *analysis.Pass, version a2a.Value, worst analysis.Severity, path ...any) {
	if version.Kind() != a2a.String || version.Is("") {
		return
	}
	p.Applied()
	if !versionFormat.MatchString(version.Text()) {
		p.Report(inCard(p, a2a.Ptr("", path...)), "protocolVersion is "+analysis.Quote(version),
			`expected a version number, such as "1.0"`, analysis.AtMost(worst))
	}
}

// versionFormat matches a version of two numbers or more, with an optional suffix after a patch number.
var versionFormat = regexp.MustCompile(`^[0-9]+\.[0-9]+(\.[0-9]+(\.[0-9]+)*([-+].*)?)?$`)

var cardBindingKnown = &analysis.Rule{
	ID:     "card-binding-known",
	Title:  "protocolBinding is neither a core binding nor a URI",
	Level:  analysis.Should,
	Cites:  rule.Cite("5.8", a2a.V1_0),
	Stands: "1.0.1:1279",
	Doc: `Clients choose an interface by its protocolBinding, and compare it with the names that they know: JSONRPC,
GRPC and HTTP+JSON, exactly so. Any other spelling is another binding, and a binding without a URI may mean different
things to different clients.`,
	Fix:    `Write JSONRPC, GRPC or HTTP+JSON in capitals. Name a custom binding by a URI.`,
	Silent: `The transports of 0.3, which may have any name.`,
	Check: func(p *analysis.Pass) {
		for i, entry := range p.Card.Get("supportedInterfaces").Elems() {
			binding := entry.Get("protocolBinding")
			if binding.Kind() != a2a.String || binding.Is("") {
				continue
			}
			p.Applied()
			if name := binding.Text(); name != "JSONRPC" && name != "GRPC" && name != "HTTP+JSON" && !rule.IsURI(name) {
				p.Report(inCard(p, a2a.Ptr("", "supportedInterfaces", i, "protocolBinding")),
					"protocolBinding is "+analysis.Quote(binding), "expected JSONRPC, GRPC, HTTP+JSON or a URI")
			}
		}
	},
}
