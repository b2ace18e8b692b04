package version

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// Versions is the family of rules about the version that a client asks for, and the one that it gets.
var Versions = rule.Family{
	Name:     "version",
	Category: analysis.Interop,
	Bindings: rule.OnCall,
}.Of(
	verHeaderPresent,
	verHeaderFormat,
	verHeaderPatch,
	verHeaderParamConflict,
	verInterfaceMatch,
	verUnsupportedError,
	verSupportedRefused,
	verSemantics,
	verEmptyMeans03,
	versionSemanticsMixed,
)

const versionName = "A2A-Version"

var verHeaderPresent = &analysis.Rule{
	ID:       "ver-header-present",
	Title:    "request of 1.0 without A2A-Version",
	Level:    analysis.Must,
	Bindings: rule.OnJSONCall,
	Side:     a2a.Client,
	Once:     analysis.PerEndpoint,
	On:       analysis.OutcomeSeen,
	Cites:    rule.Cite("3.6.1", a2a.V1_0),
	Stands:   "1.0.1:712",
	Doc: `A request without a version asks for 0.3, and agents have to treat it so. An agent that serves both versions
answers in 0.3, which this client cannot read; an agent that serves only 1.0 may refuse.`,
	Fix: `Send A2A-Version: 1.0 with every request; over HTTP, as a header.`,
	Silent: `Fetches of the public card; a version given as a parameter; an empty version, which explicitly means 0.3;
HTTP+JSON requests that could be of 0.3, unless a card offers only 1.0 there; HARs of other programs, which may omit
headers. Only the first request of each client at an endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if x.Call.Operation == a2a.NoOperation || !x.HeadersKept() || !surelySpoken(x) {
			return
		}
		p.Applied()
		if _, _, given := givenVersion(p); !given {
			p.Report(x.RequestPlace(), "a request of 1.0 ("+rule.MethodOrPath(x)+") names no version",
				`expected "A2A-Version: 1.0"`)
		}
	},
}

// queryVersion returns the version in the query of a request, and whether there is one.
func queryVersion(x *analysis.Exchange) (string, bool) {
	list, given := "", false
	for name, value := range x.Call.QueryValues() {
		if name == versionName {
			list, given = joined(list, value), true
		}
	}
	return list, given
}

// headerVersion returns the version in the header of a request; empty without one.
func headerVersion(x *analysis.Exchange) (list string) {
	for value := range x.Request.Fields.All(versionName) {
		list = joined(list, value)
	}
	return list
}

// joined adds a value to the list of those that differ.
func joined(list, value string) string {
	switch value = strings.TrimSpace(value); {
	case list == "" || value == "":
		return list + value
	case slices.Contains(strings.Split(list, ", "), value):
		return list
	}
	return list + ", " + value
}

var verHeaderFormat = &analysis.Rule{
	ID:     "ver-header-format",
	Title:  "A2A-Version is not of the form Major.Minor",
	Level:  analysis.Must,
	Side:   a2a.Client,
	Once:   analysis.PerEndpoint,
	On:     analysis.RequestSeen,
	Cites:  rule.Cite("A2A 1.0 §14.2.1", a2a.V0_2, a2a.V0_3).And("14.2.1", a2a.V1_0),
	Stands: "1.0.1:3297",
	Doc: `The version is two numbers with a dot between them. An agent that compares it with those it knows finds no
match, and refuses the call, or treats it as one of 0.3.`,
	Fix: `Send the version once, exactly as the card shows it for the interface: A2A-Version: 1.0.`,
	Silent: `An empty value, which means 0.3; a version with a patch number, which another rule covers; the same
version twice. Several headers or query parameters count as one list. In requests of 0.2 and 0.3, which do not have
the header, only such lists are reported, as a note.`,
	Check: func(p *analysis.Pass) {
		version, at, given := givenVersion(p)
		if !given || version == "" || countNumbers(version) == 3 {
			return
		}
		p.Applied()
		worst := analysis.Error
		if !p.Dialects.Has(a2a.V1_0) {
			worst = analysis.Note
		}
		if countNumbers(version) != 2 && (worst == analysis.Error || strings.Contains(version, ", ")) {
			p.Report(at, "the version is "+analysis.QuoteText(version), `expected two numbers, such as "1.0"`,
				analysis.AtMost(worst))
		}
	},
}

// countNumbers returns how many numbers, separated by dots, a version has; 0 if it contains anything else.
func countNumbers(version string) int {
	n := 0
	for part := range strings.SplitSeq(version, ".") {
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return 0
		}
		n++
	}
	return n
}

var verHeaderPatch = &analysis.Rule{
	ID:     "ver-header-patch",
	Title:  "A2A-Version with a patch number",
	Level:  analysis.Should,
	Side:   a2a.Client,
	Once:   analysis.PerEndpoint,
	On:     analysis.RequestSeen,
	Cites:  rule.Cite("3.6", a2a.V1_0),
	Stands: "1.0.1:708",
	Doc: `Patch numbers never change the wire format and do not belong in requests. An agent that compares the whole
text refuses a client that it could serve.`,
	Fix:    `Send only the major and the minor number: A2A-Version: 1.0.`,
	Silent: `Whether the patch version exists.`,
	Check: func(p *analysis.Pass) {
		version, at, given := givenVersion(p)
		if !given || version == "" {
			return
		}
		p.Applied()
		if countNumbers(version) == 3 {
			p.Report(at, "the version is "+analysis.QuoteText(version), "expected it without the patch number")
		}
	},
}

var verHeaderParamConflict = &analysis.Rule{
	ID:       "ver-header-param-conflict",
	Title:    "version in the header differs from the version in a parameter",
	Level:    analysis.Should,
	Bindings: rule.OnJSONCall,
	Side:     a2a.Client,
	On:       analysis.RequestSeen,
	Cites:    rule.Cite("A2A 1.0 §3.6.1", a2a.V0_2, a2a.V0_3).And("3.6.1", a2a.V1_0),
	Stands:   "1.0.1:724",
	Doc: `The request asks for one version in its header and for another in a parameter. Which one it gets depends on
where the agent looks first.`,
	Fix:    `Name the version once, in the header.`,
	Silent: `Patch numbers; an empty value in one of the two.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		head := headerVersion(x)
		param, ok := queryVersion(x)
		if !ok {
			param = strings.TrimSpace(x.Call.Params.Get(versionName).Text())
		}
		if head == "" || param == "" {
			return
		}
		p.Applied()
		if head != param && !a2a.SameVersion(head, param) {
			p.Report(x.RequestPlace().Header(versionName),
				fmt.Sprintf("the header asks for %s, and a parameter for %s", analysis.QuoteText(head), analysis.QuoteText(param)),
				"expected one version")
		}
	},
}

var verInterfaceMatch = &analysis.Rule{
	ID:     "ver-interface-match",
	Title:  "client asks for a version that the card does not declare",
	Level:  analysis.Advice,
	Side:   a2a.Client,
	Once:   analysis.PerEndpoint,
	On:     analysis.OutcomeSeen,
	If:     analysis.Carded,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("4.4.6", a2a.V1_0),
	Stands: "1.0.1:proto:351",
	Doc: `The card names the version for each URL, and the client asks for another one. No sentence forbids that, and
clients may try versions in turn. But the agent has to refuse the request, even if it could serve it.`,
	Fix: `Choose the interface whose protocolVersion the client supports, and send that version.`,
	Silent: `Patch numbers; interfaces for which the card names no version; cards that were not seen. If the agent
fails or answers in another version, that is reported instead. Only the first request of each client at an endpoint is
reported.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		version, at, given := givenVersion(p)
		if !given || countNumbers(version) < 2 || p.Answer == nil || rule.Mismatched(p) {
			return
		}
		offered, known := offersVersion(p, version)
		if !known {
			return
		}
		p.Applied()
		if offered {
			return
		}
		p.Report(at,
			fmt.Sprintf("the client asks for version %s, and %s is offered in %s", analysis.QuoteText(version), x.Endpoint.URL,
				offeredVersions(p)), "expected a version of this interface")
	},
}

// offersVersion reports whether cards declare a version for the URL of a request, and whether that is known.
func offersVersion(p *analysis.Pass, version string) (offered, known bool) {
	entries := card.Of(p).Interfaces(p.Exchange)
	for i := range entries {
		if countNumbers(entries[i].Version) < 2 {
			return false, false
		}
		offered = offered || a2a.SameVersion(entries[i].Version, version)
	}
	return offered, len(entries) > 0
}

func offeredVersions(p *analysis.Pass) string {
	var list []string
	for _, i := range card.Of(p).Interfaces(p.Exchange) {
		if v := analysis.QuoteText(i.Version); !slices.Contains(list, v) && len(list) < rule.MaxNamed {
			list = append(list, v)
		}
	}
	return strings.Join(list, ", ")
}

var verUnsupportedError = &analysis.Rule{
	ID:       "ver-unsupported-error",
	Title:    "unsupported version is not refused as such",
	Category: analysis.ErrorHandling,
	Level:    analysis.Must,
	Side:     a2a.Agent,
	On:       analysis.OutcomeSeen,
	If:       analysis.Carded,
	Needs:    []*analysis.Tracker{card.Tracker},
	Cites:    rule.Cite("3.6.2", a2a.V1_0),
	Future:   true,
	Covers:   rule.CodeRules,
	Stands:   "1.0.1:737",
	Doc: `The client asks for a version that the agent does not have at this URL, and does not get
VersionNotSupportedError (-32009). The error tells a client to try another version. An answer in a different version
makes it fail somewhere else.`,
	Fix: `Check A2A-Version first, and answer -32009 with the reason VERSION_NOT_SUPPORTED (HTTP+JSON: status 400) for
versions that you do not serve.`,
	Silent: `Agents whose cards do not mention 1.0, since they do not have the error; cards that were not seen;
answers in the requested version, whatever the card says; requests in the form of 1.0 that ask for 0.3; errors with
another cause, such as credentials. A version that does not exist yet counts as not offered.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		version, _, given := givenVersion(p)
		if !given || countNumbers(version) < 2 || p.Answer == nil || !knowsVersions(p) ||
			x.Call.Operation == a2a.GetExtendedCard {
			return
		}
		offered, known := offersVersion(p, version)
		if !known || offered || a2a.VersionDialects(version) != a2a.Of(a2a.V1_0) {
			return
		}
		p.Applied()
		const expected = "expected VersionNotSupportedError (-32009)"
		future := !a2a.SameVersion(version, "1.0")
		at, got := p.Place.At(p.Answer.Payload.Pointer), p.Answer.Payload.Dialects
		switch failure := p.Answer.Err; {
		case failure != nil:
			if future && failure.Name != a2a.VersionNotSupported && !rule.OtherCause(p) && x.Response.Status < 500 {
				p.Report(p.Place.At(failure.Pointer),
					fmt.Sprintf("version %s is not offered, and the refusal is %s", analysis.QuoteText(version), failure), expected)
			}
		case rule.CallSucceeded(p) && future:
			p.Report(at, fmt.Sprintf("version %s is not offered, and the call succeeds", analysis.QuoteText(version)), expected)
		case rule.CallSucceeded(p) && !got.Empty() && !got.Has(a2a.V1_0):
			p.Report(at, fmt.Sprintf("version %s is not offered, and the answer is in %s", analysis.QuoteText(version), got),
				expected)
		}
	},
}

// knowsVersions reports whether a card that was seen before the call is one of 1.0: the agent knows of versions.
func knowsVersions(p *analysis.Pass) bool {
	return slices.ContainsFunc(card.Of(p).Before(p.Exchange), func(c *card.Card) bool { return c.Modern })
}

var verSupportedRefused = &analysis.Rule{
	ID:       "ver-supported-refused",
	Title:    "version that the card declares is refused as not supported",
	Category: analysis.ErrorHandling,
	Level:    analysis.Must,
	Side:     a2a.Agent,
	On:       analysis.OutcomeSeen,
	If:       analysis.Carded,
	Needs:    []*analysis.Tracker{card.Tracker},
	Cites:    rule.Cite("A2A 1.0 §3.6.2", a2a.V0_2, a2a.V0_3).And("3.6.2", a2a.V1_0),
	Stands:   "1.0.1:737",
	Doc: `The card offers this version at this URL, but the agent answers that it is not supported. A client that
follows the card has no alternative.`,
	Fix: `Compare only the major and the minor number. List the versions that you serve in the card: one interface
entry for each version and URL.`,
	Silent: `Cards that were not seen, or that disagree; requests without a version, with a patch number, or with a
version that contradicts their form; a version given only as a parameter, which agents need not read; agents whose cards
do not mention 1.0, since they do not have the error.`,
	Check: func(p *analysis.Pass) {
		version := headerVersion(p.Exchange)
		if countNumbers(version) != 2 || p.Answer == nil || !everyCardOffers(p, version) || !knowsVersions(p) ||
			a2a.VersionDialects(version).Intersect(p.Dialects).Empty() {
			return
		}
		p.Applied()
		if failure := p.Answer.Err; failure != nil && rule.RefusesVersion(failure) {
			p.Report(p.Place.At(failure.Pointer),
				fmt.Sprintf("version %s is refused as not supported, and the card offers it for %s", analysis.QuoteText(version),
					p.Exchange.Endpoint.URL), "expected the agent to do what its card says")
		}
	},
}

// everyCardOffers reports whether every card that was seen before the call declares the version for its URL.
func everyCardOffers(p *analysis.Pass, version string) bool {
	x := p.Exchange
	cards := card.Of(p).Before(x)
	for _, c := range cards {
		offered := slices.ContainsFunc(c.Interfaces, func(i a2a.Interface) bool {
			return i.Binding == x.Call.Binding && a2a.SameVersion(i.Version, version) && x.Endpoint.Is(i.URL)
		})
		if !offered {
			return false
		}
	}
	return len(cards) > 0
}

// givenVersion returns the version that a request names, without surrounding blanks, its place, and whether the request
// names one, even an empty one. The version may be in the header, in the query, or among the parameters. Fields that
// disagree form one list, as in HTTP (RFC 9110 section 5.3), and a list is not a version.
func givenVersion(p *analysis.Pass) (version string, at analysis.Place, given bool) {
	x := p.Exchange
	if x.Request.Fields.Has(versionName) {
		return headerVersion(x), x.RequestPlace().Header(versionName), true
	}
	if v, ok := queryVersion(x); ok {
		return v, x.RequestPlace().Line(), true
	}
	if v, ok := x.Call.Params.Get(versionName).Str(); ok {
		pointer := a2a.Ptr("", versionName)
		if x.Call.Binding == a2a.JSONRPC {
			pointer = a2a.Ptr("/params", versionName)
		}
		return strings.TrimSpace(v), x.RequestPlace().Body().At(pointer), true
	}
	return "", analysis.Place{}, false
}
