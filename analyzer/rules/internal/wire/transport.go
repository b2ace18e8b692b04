package wire

import (
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// Transport is the family of rules about the layers below HTTP.
var Transport = rule.Family{
	Name:     "transport",
	Category: analysis.Interop,
	Side:     a2a.Agent,
	Once:     analysis.PerOrigin,
}.Of(
	transportHTTPS,
	transportHSTS,
)

var transportHTTPS = &analysis.Rule{
	ID:       "transport-https",
	Title:    "plain http to a public host",
	Level:    analysis.Must,
	On:       analysis.RequestSeen | analysis.AnswerSeen,
	Bindings: rule.OnAll,
	Cites:    rule.Cite("4.1", rule.Before1...).And("7.1", a2a.V1_0).And("13.4", a2a.V1_0),
	Stands:   "0.1.0:85 0.2.6:88 0.3.0:235 1.0.1:1879 1.0.1:3173",
	Doc: `In production A2A runs over TLS. Over plain http everyone on the network path can read the messages and
their credentials, and can answer instead of the agent.`,
	Fix: `Serve the agent over https and write https URLs into its card.`,
	Silent: `Loopback, private and link-local addresses; names of one label and names under reserved or local domains
(.example, .test, .invalid, .local, .internal, .home.arpa, .svc and the like); requests that say that TLS ended before
the tap. The finding is a note, once per host, since a recording does not show whether a host serves production.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		op := x.Call.Operation
		if p.Kind == analysis.AnswerSeen && op != a2a.GetCard || op == a2a.Webhook {
			return
		}
		if x.Origin == "" || rule.ReachOf(x.Origin) != rule.FromAnywhere ||
			strings.EqualFold(x.Request.Fields.Get("X-Forwarded-Proto"), "https") ||
			strings.Contains(strings.ToLower(x.Request.Fields.Get("Forwarded")), "proto=https") {
			return
		}
		p.Applied()
		if rule.SchemeOf(x.Origin) == "http" {
			p.Report(x.RequestPlace().Line(), "the agent is called at "+analysis.QuoteText(x.Origin),
				"expected https in production", analysis.AtMost(analysis.Note))
		}
	},
}

var transportHSTS = &analysis.Rule{
	ID:       "transport-hsts",
	Title:    "https answer without Strict-Transport-Security",
	Level:    analysis.Should,
	On:       analysis.AnswerSeen | analysis.EventSeen,
	Bindings: rule.OnJSONCall,
	Cites:    rule.Cite("13.4", a2a.V1_0),
	Stands:   "1.0.1:3175",
	Doc: `The header Strict-Transport-Security tells clients to come back only over TLS. Without it a link or a
redirect to http can lead them to an attacker.`,
	Fix: `Send "Strict-Transport-Security: max-age=31536000" with every answer; most servers and gateways have an
option for it.`,
	Silent: `Hosts that are an IP address or this machine, where the header has no effect; answers of status 502, 503
and 504; recordings that may lack headers. It is reported once per host.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		fields := x.Response.Fields
		if !strings.HasPrefix(x.Origin, "https:") || !x.AnswerHeadersKept() ||
			p.Kind == analysis.EventSeen && !beginsStream(p) {
			return
		}
		switch x.Response.Status {
		case 502, 503, 504:
			return
		}
		if rule.ReachOf(x.Origin) == rule.FromMachine || rule.IsIP(rule.HostOf(x.Origin)) {
			return
		}
		p.Applied()
		if !fields.Has("Strict-Transport-Security") {
			p.Report(x.ResponsePlace().Header("Strict-Transport-Security"),
				"no Strict-Transport-Security from "+analysis.QuoteText(x.Origin), "expected one")
		}
	},
}
