package rest

import (
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

var restv1Prefix = &analysis.Rule{
	ID:     "rest-v1-prefix",
	Title:  "1.0 call with /v1/ in its path, or earlier call without",
	Level:  analysis.Must,
	Side:   a2a.Client,
	Once:   analysis.PerEndpoint,
	On:     analysis.RequestSeen | analysis.OutcomeSeen,
	Cites:  rule.Cite("7", a2a.V0_2).And("3.2.3", a2a.V0_3).And("11.3", a2a.V1_0),
	Stands: "0.2.6:484 0.3.0:99 1.0.1:2787",
	Doc: `Routes of 1.0 follow the interface's URL directly; the /v1 of earlier versions is gone. Agents of 1.0 do not
have such paths, or take "v1" for the name of a tenant. In 0.2 and 0.3 all routes begin with /v1: other agents may not
accept them without it.`,
	Fix: `Send to the interface's URL plus the route: without /v1 between them in 1.0, with it before.`,
	Silent: `Requests whose version is unknown, and interfaces whose URL itself ends in /v1. For 1.0: agents that
declare an earlier version under the same URL, or a tenant named v1. Before 1.0: agents that declare 1.0 under the same
URL, and calls that are refused for their path, which other rules report; the finding is a warning, since the agent
accepts the path. In all versions: URLs that no card names. It is reported once per URL and client.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		call := &x.Call
		if call.Operation == a2a.NoOperation || x.Endpoint == nil {
			return
		}
		switch modern := p.Dialects.Has(a2a.V1_0); {
		case modern && p.Kind == analysis.RequestSeen:
			checkUnderV1(p)
		case !modern && p.Kind == analysis.OutcomeSeen:
			checkWithoutV1(p)
		}
	},
}

func checkUnderV1(p *analysis.Pass) {
	x := p.Exchange
	call := &x.Call
	if x.Endpoint.Declared != a2a.Of(a2a.V1_0) || call.Tenant == "v1" {
		return
	}
	if call.Evidence != a2a.Decisive && a2a.VersionDialects(call.Version) != a2a.Of(a2a.V1_0) {
		return
	}
	p.Applied()
	if underV1(x) {
		p.Report(x.RequestPlace().Line(),
			"the path is "+analysis.QuoteText(x.Path)+", as before 1.0, the request is in 1.0, and "+x.Endpoint.URL+
				" is offered in 1.0",
			"expected "+analysis.QuoteText(call.Prefix+"/"+call.Route))
	}
}

// checkWithoutV1 judges the path of a call before 1.0 that the agent has understood.
func checkWithoutV1(p *analysis.Pass) {
	x := p.Exchange
	call := &x.Call
	sure := call.Evidence == a2a.Decisive || !a2a.VersionDialects(call.Version).Intersect(p.Dialects).Empty()
	offered := x.Endpoint.Declared
	if !sure || call.Operation == a2a.GetExtendedCard || offered.Empty() || offered.Has(a2a.V1_0) ||
		!rule.CallSucceeded(p) || rule.Mismatched(p) {
		return
	}
	p.Applied()
	if x.Path == call.Prefix+"/"+call.Route && !strings.Contains(x.Path, "/v1/") {
		p.Report(x.RequestPlace().Line(),
			"the path is "+analysis.QuoteText(x.Path)+", as in 1.0, and the request is in "+p.Dialects.String(),
			"expected "+analysis.QuoteText(call.Prefix+"/v1/"+call.Route), analysis.AtMost(analysis.Warning))
	}
}

// underV1 reports whether a path has the /v1 of earlier versions before its route.
func underV1(x *analysis.Exchange) bool { return x.Path == x.Call.Prefix+"/v1/"+x.Call.Route }
