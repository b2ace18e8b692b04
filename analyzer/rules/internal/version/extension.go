package version

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Extensions is the family of rules about extensions: how they are asked for, required and activated.
var Extensions = rule.Family{
	Name:     "extension",
	Category: analysis.Interop,
	Bindings: rule.OnCall,
}.Of(
	extHeaderName,
	extHeaderName0x,
	extHeaderFormat,
	extHeaderUnknownParam,
	extURIVersion,
	extRequiredMissing,
	extRequiredMissingCode,
	extRequiredMissingClient,
	extRequiredMissing0x,
	extResponseEcho,
	extResponseUnrequested,
	extNoFallback,
)

var extHeaderName = &analysis.Rule{
	ID:     "ext-header-name",
	Title:  "request of 1.0 with X-A2A-Extensions",
	Level:  analysis.Must,
	Side:   a2a.Client,
	Once:   analysis.PerEndpoint,
	On:     analysis.RequestSeen,
	Cites:  rule.Cite("3.2.6", a2a.V1_0).And("14.2.2", a2a.V1_0),
	Stands: "1.0.1:485 1.0.1:3307",
	Doc: `In 1.0 the header lost its X- prefix. A 1.0 agent reads only A2A-Extensions: it does not activate the
extensions, and if one of them is required, it refuses the call.`,
	Fix: `Send A2A-Extensions; a client that also serves older agents may send both.`,
	Silent: `Requests with both headers, and an empty header, which requests nothing. Only the first request of each
client at an endpoint is reported.`,
	Check: func(p *analysis.Pass) { checkHeaderName(p, extensionsName, extensionsName0x) },
}

var extHeaderName0x = &analysis.Rule{
	ID:     "ext-header-name-0x",
	Title:  "request before 1.0 with A2A-Extensions",
	Level:  analysis.Advice,
	Side:   a2a.Client,
	Once:   analysis.PerEndpoint,
	On:     analysis.RequestSeen,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("extensions guide §Extension Activation", a2a.V0_2, a2a.V0_3),
	Stands: "0.3.0:extensions:110",
	Doc: `Before 1.0 the header is named X-A2A-Extensions. An agent of an earlier version does not read
A2A-Extensions, so it does not activate the extensions.`,
	Fix: `Send X-A2A-Extensions; a client that also serves newer agents may send both.`,
	Silent: `Requests with both headers; an empty header, which requests nothing; agents older than 0.2.4, which had
neither. Only the first request of each client at an endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		if !olderThanActivation(p) {
			checkHeaderName(p, extensionsName0x, extensionsName)
		}
	},
}

func checkHeaderName(p *analysis.Pass, right, wrong string) {
	fields := p.Exchange.Request.Fields
	asks := slices.ContainsFunc(fields, func(f capture.Field) bool {
		return strings.EqualFold(f.Name, wrong) && strings.TrimSpace(f.Value) != ""
	})
	if !fields.Has(right) && !asks {
		return
	}
	p.Applied()
	if !fields.Has(right) {
		p.Report(p.Exchange.RequestPlace().Header(wrong), "extensions are requested with "+wrong, "expected "+right)
	}
}

var extHeaderFormat = &analysis.Rule{
	ID:     "ext-header-format",
	Title:  "A2A-Extensions is not one list of URIs",
	Level:  analysis.Should,
	Side:   a2a.Client,
	Once:   analysis.PerEndpoint,
	On:     analysis.RequestSeen,
	Cites:  rule.Cite("9.2", a2a.V1_0).And("11.2", a2a.V1_0),
	Stands: "1.0.1:2248 1.0.1:2763",
	Doc: `The extensions are listed in one header, separated by commas. Agents that read only the first header, or
compare the text between commas, do not find the others.`,
	Fix: `Join the URIs: A2A-Extensions: https://a.example/x/v1, https://b.example/y/v2.`,
	Silent: `An empty header, which requests nothing. Only the first request of each client at an endpoint is
reported.`,
	Check: func(p *analysis.Pass) {
		fields := p.Exchange.Request.Fields
		if !fields.Has(extensionsName) {
			return
		}
		p.Applied()
		count, bad := 0, ""
		for _, f := range fields {
			if !strings.EqualFold(f.Name, extensionsName) {
				continue
			}
			count++
			for member := range strings.SplitSeq(f.Value, ",") {
				if member = strings.TrimSpace(member); bad == "" && f.Value != "" && !rule.IsURI(member) {
					bad = "the list holds " + analysis.QuoteText(member)
				}
			}
		}
		if bad == "" && count > 1 {
			bad = fmt.Sprintf("there are %d headers", count)
		}
		if bad != "" {
			p.Report(p.Exchange.RequestPlace().Header(extensionsName), bad, "expected one header with URIs separated by commas")
		}
	},
}

var extHeaderUnknownParam = &analysis.Rule{
	ID:     "ext-header-unknown-param",
	Title:  "A2A- header that the protocol does not have",
	Level:  analysis.Advice,
	Side:   a2a.Client,
	Once:   analysis.PerEndpoint,
	On:     analysis.RequestSeen,
	Cites:  rule.Cite("3.2.6", a2a.V1_0),
	Stands: "1.0.1:488",
	Doc: `Names that begin with A2A- belong to the protocol, which has A2A-Version and A2A-Extensions. Any other name
is a mistake that the agent silently ignores, or may get another meaning in a later version.`,
	Fix:    `Correct the spelling. Choose another name for a custom header.`,
	Silent: `Other names. Only the first request of each client at an endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		for _, f := range p.Exchange.Request.Fields {
			if len(f.Name) < 4 || !strings.EqualFold(f.Name[:4], "A2A-") {
				continue
			}
			p.Applied()
			if !strings.EqualFold(f.Name, versionName) && !strings.EqualFold(f.Name, extensionsName) {
				p.Report(p.Exchange.RequestPlace().Header(f.Name), "there is a header "+analysis.QuoteText(f.Name),
					"expected A2A-Version or A2A-Extensions")
				return
			}
		}
	},
}

var extURIVersion = &analysis.Rule{
	ID:       "ext-uri-version",
	Title:    "extension URI without a version",
	Category: analysis.AgentCard,
	Level:    analysis.Should,
	Side:     a2a.Agent,
	On:       analysis.CardSeen,
	Bindings: analysis.OnHTTP,
	Cites:    rule.Cite("extensions guide §Versioning", a2a.V0_2, a2a.V0_3).And("4.6.3", a2a.V1_0),
	Stands:   "0.3.0:extensions:178 1.0.1:1139",
	Doc: `An incompatible change to an extension needs a new URI. With a version in the URI the next one is easy to
name, and people see which version they have.`,
	Fix: `Put a version into the URI: https://example.com/extensions/seats/v1.`,
	Silent: `Extensions without a URI, or with something else as their URI. The finding is only a note, since the form
of a URI is free: any digit in it counts as a version.`,
	Check: func(p *analysis.Pass) {
		i := -1
		for ext := range p.Card.Extensions() {
			i++
			uri := ext.URI()
			if !rule.IsURI(uri) {
				continue
			}
			p.Applied()
			_, rest, _ := strings.Cut(uri, "://")
			if !strings.ContainsAny(rest[strings.IndexByte(rest, '/')+1:], "0123456789") &&
				!strings.ContainsAny(uri[:len(uri)-len(rest)], "0123456789") {
				p.Report(p.Place.At(a2a.Ptr(p.Place.Pointer, "capabilities", "extensions", i, "uri")),
					"the URI is "+analysis.QuoteText(uri), "expected a version in it", analysis.AtMost(analysis.Note))
			}
		}
	},
}
