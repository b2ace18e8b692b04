package rules

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"a2atap/analyzer"
	"a2atap/analyzer/a2a"
)

// Transport is the family of rules about what carries HTTP.
var Transport = []*analyzer.Rule{
	TransportHTTPS,
	TransportHSTS,
}

// TransportHTTPS reports an agent that is reached in clear text over a public network.
var TransportHTTPS = &analyzer.Rule{
	ID:       "transport-https",
	Title:    "plain http to a public host",
	Family:   "transport",
	Category: analyzer.Interop,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	Once:     analyzer.PerOrigin,
	On:       analyzer.RequestSeen | analyzer.AnswerSeen,
	Bindings: onAll,
	Cites: slices.Concat(
		cite("4.1", before1...),
		cite("7.1", a2a.V1_0),
		cite("13.4", a2a.V1_0),
	),
	Doc: `In production A2A runs over TLS. Over plain http anybody on the way reads the messages and the credentials with them, and can
answer in the agent's place.`,
	Fix: `Serve the agent over https and write https URLs into its card.`,
	Silent: `Loopback, private and link-local addresses; names of one label and names under reserved or local domains (.example, .test, .invalid,
.local, .localhost, .internal, .lan, .home.arpa, .svc, .onion and the like); requests that say TLS ended before the tap. Whether a host serves
production cannot be seen, so it is a note, once for a host.`,
	Check: func(p *analyzer.Pass) {
		x := p.Exchange
		op := x.Call.Operation
		if p.Kind == analyzer.AnswerSeen && op != a2a.GetCard || op == a2a.Webhook {
			return
		}
		scheme, host := hostOf(x.Origin)
		if host == "" || private(host) || strings.EqualFold(x.Request.Fields.Get("X-Forwarded-Proto"), "https") ||
			strings.Contains(strings.ToLower(x.Request.Fields.Get("Forwarded")), "proto=https") {
			return
		}
		p.Applied()
		if scheme == "http" {
			p.Report(x.RequestPlace().Line(), "the agent is asked at "+analyzer.QuoteText(x.Origin), "expected https in production", analyzer.AtMost(analyzer.Note))
		}
	},
}

// hostOf returns the scheme and the host of an origin, both in lower case, without port and brackets.
func hostOf(origin string) (scheme, host string) {
	u, err := url.Parse(strings.ToLower(origin))
	if err != nil {
		return "", ""
	}
	return u.Scheme, strings.TrimSuffix(u.Hostname(), ".")
}

// localDomains are those that no public name is under.
var localDomains = [...]string{
	"example", "example.com", "example.net", "example.org", "test", "invalid", "localhost", "local", "internal", "intranet", "private",
	"corp", "home", "lan", "home.arpa", "localdomain", "svc", "cluster.local", "onion", "ts.net", "alt",
}

// private reports whether a host is surely, or may well be, one that only a private network reaches.
func private(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return !ip.IsGlobalUnicast() || ip.IsPrivate() || sharedSpace.Contains(ip.Unmap()) || ip.Unmap().IsPrivate() || ip.Unmap().IsLoopback()
	}
	if !strings.Contains(host, ".") {
		return true
	}
	for _, domain := range localDomains {
		if rest, ok := strings.CutSuffix(host, domain); ok && (rest == "" || strings.HasSuffix(rest, ".")) {
			return true
		}
	}
	return false
}

var sharedSpace = netip.MustParsePrefix("100.64.0.0/10") // RFC 6598

// TransportHSTS reports an agent over https that does not keep browsers and clients there.
var TransportHSTS = &analyzer.Rule{
	ID:       "transport-hsts",
	Title:    "https answer without Strict-Transport-Security",
	Family:   "transport",
	Category: analyzer.Interop,
	Level:    analyzer.Should,
	Side:     a2a.Agent,
	Once:     analyzer.PerOrigin,
	On:       analyzer.AnswerSeen | analyzer.EventSeen,
	Bindings: onCall,
	Cites:    cite("13.4", a2a.V1_0),
	Doc: `The header Strict-Transport-Security tells clients to come back over TLS only. Without it a link or a redirect to http takes
them to whoever answers there.`,
	Fix:    `Send "Strict-Transport-Security: max-age=31536000" with every answer; most servers and gateways have a switch for it.`,
	Silent: `Hosts that are an IP address or this machine, where the header has no effect; answers of status 502, 503 and 504; recordings that kept no header fields. It is said once for a host.`,
	Check: func(p *analyzer.Pass) {
		x := p.Exchange
		fields := x.Response.Fields
		if !strings.HasPrefix(x.Origin, "https:") || len(fields) == 0 || p.Kind == analyzer.EventSeen && !beginsStream(p) {
			return
		}
		switch x.Response.Status {
		case 502, 503, 504:
			return
		}
		_, host := hostOf(x.Origin)
		if _, err := netip.ParseAddr(host); err == nil || host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost") {
			return
		}
		p.Applied()
		if !fields.Has("Strict-Transport-Security") {
			p.Report(x.ResponsePlace().Header("Strict-Transport-Security"), "no Strict-Transport-Security from "+analyzer.QuoteText(x.Origin), "expected one")
		}
	},
}
