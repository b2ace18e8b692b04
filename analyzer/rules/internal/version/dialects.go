package version

import (
	"fmt"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/reach"
	"a2atap/proxy/a2a"
)

// Dialects is the family of rules about versions: who speaks which, and who understands it.
var Dialects = rule.Family{
	Name:     "dialects",
	Category: analysis.Interop,
	Side:     a2a.Client,
	Bindings: rule.OnJSON,
}.Of(
	dialectMismatch,
)

var dialectMismatch = &analysis.Rule{
	ID:     "dialect-mismatch",
	Title:  "client and agent use different versions of A2A",
	Level:  analysis.Should,
	Either: true,
	Once:   analysis.PerEndpoint,

	Gravest: analysis.Error, // where no call ever succeeds
	Revises: true,

	On:     analysis.AnswerSeen | analysis.EventSeen | analysis.CardMissed | analysis.LinkRefused,
	Needs:  []*analysis.Tracker{card.Tracker, reach.Tracker},
	Cites:  rule.Cite("5.5", rule.Before1...).And("3.6.2", a2a.V1_0),
	Covers: []string{"rpc-method-dialect", "ver-header-present"},
	Stands: "0.1.0:176 0.2.6:types:113 0.3.0:types:371 1.0.1:737",
	Doc: `The client uses one version of the protocol at a URL where the agent uses another. Method names, paths,
states and objects differ, so nothing works, and each side's log blames the other. The message names both versions,
and how to write the same request in the agent's version.`,
	Fix: `Choose the interface whose protocolVersion the client supports, or use an SDK that supports the agent's
version: the message names the method or path to send instead. An agent can offer both, with one interface entry for
each version. For a card, use the path that the message names; an agent can serve its card at both.`,
	Silent: `Calls that the agent answers with success in the client's version, whatever its card says; clients whose
call succeeds at a URL that no card names, whatever the version of the answer; URLs that no card names and where
nothing else succeeded; dialects that cannot be distinguished; refusals that may have another cause, such as an
unknown task. It is reported once per URL, version and client: as a warning, or as a note if the agent answers
VersionNotSupportedError, since clients may try versions in turn. If no call of the client has succeeded when the
recording ends, it becomes an error. A card that is not at the client's path is reported when the recording ends, if
the other well-known path has it; the finding is a note if the same client found it there.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		switch {
		case p.Kind == analysis.CardMissed:
			checkCardPath(p)
		case p.Kind == analysis.LinkRefused:
			checkRefusedLink(p)
		case p.Answer == nil || p.Kind == analysis.EventSeen && !rule.OpensStream(p) || x.Call.Binding == a2a.NoBinding:
		case rule.Mismatched(p):
			reportMismatch(p)
		case withoutPrefix(p):
			known := rule.Understood(x)
			reportPath(p, x, known, analysis.AtMost(analysis.Warning), mismatchScope(x, known))
		default:
			if !rule.Understood(x).Empty() {
				p.Applied()
			}
			checkAnsweredOtherwise(p)
		}
	},
}

func reportMismatch(p *analysis.Pass) {
	x := p.Exchange
	if byPath(x) { // an agent that has such a path leaves nothing to show that the client means another version
		if failure := p.Answer.Err; failure == nil || !rule.NoRoute(p) && !rule.RefusesVersion(failure) {
			return
		}
	}
	worst := analysis.Warning
	if failure := p.Answer.Err; failure != nil && rule.RefusesVersion(failure) {
		worst = analysis.Note // the error tells the client explicitly, so it can use another version
	}
	known := rule.Understood(x)
	sayMismatch(p, x, known, analysis.AtMost(worst), mismatchScope(x, known))
}

// sayMismatch reports a call in another dialect than its endpoint speaks.
func sayMismatch(p *analysis.Pass, x *analysis.Exchange, known a2a.Dialects, options ...analysis.Option) {
	if byPath(x) {
		reportPath(p, x, known, options...)
		return
	}
	p.Report(x.RequestPlace(),
		fmt.Sprintf("the client uses A2A %s (%s), and %s %s", x.Call.Dialects, rule.MethodOrPath(x), x.Endpoint.URL,
			offerText(p, x, known)),
		fmt.Sprintf("expected a request in %s%s", known, requestIn(x, known)),
		append(options, analysis.By(a2a.Client), analysis.Of(x.Keep()))...)
}

// checkRefusedLink reports again, at the end of a capture, the mismatch that explains why no call of a client has ever
// succeeded: the first that was refused for it. Now it is an error.
func checkRefusedLink(p *analysis.Pass) {
	for _, r := range reach.RefusalsOf(p) {
		x := r.Exchange
		known := rule.Understood(x)
		if known.Empty() && r.Version && x.Call.Evidence == a2a.Decisive {
			known = a2a.Of(a2a.V1_0) // which alone has that error
		}
		switch {
		case known.Empty(), x.Call.Dialects.Empty(), byPath(x) && !r.NoRoute && !r.Version:
		case x.Spoken().Intersect(known | x.Endpoint.Answered).Empty():
			sayMismatch(p, x, known, analysis.Revising())
			return
		case r.NoRoute && lacksPrefix(x, known):
			reportPath(p, x, known, analysis.Revising())
			return
		}
	}
}

// byPath reports whether only the path of a call shows its dialect.
func byPath(x *analysis.Exchange) bool {
	return x.Call.Binding == a2a.HTTPJSON && x.Call.Evidence != a2a.Decisive && x.Call.Version == ""
}

// pathDialects returns the dialects of a path that is in another one than those known.
func pathDialects(known a2a.Dialects) string {
	if known.Has(a2a.V1_0) {
		return "0.2/0.3"
	}
	return "1.0"
}

// mismatchScope returns the scope in which a mismatch is reported once at a URL: over HTTP+JSON, where a path alone is
// a guess, regardless of the assumed version.
func mismatchScope(x *analysis.Exchange, known a2a.Dialects) analysis.Option {
	if x.Call.Binding == a2a.HTTPJSON {
		return analysis.Within(known)
	}
	return analysis.Within(x.Call.Dialects)
}

// offerText names the dialects that a URL accepts, and the evidence.
func offerText(p *analysis.Pass, x *analysis.Exchange, known a2a.Dialects) string {
	switch {
	case !x.Endpoint.Declared.Empty():
	case x.Endpoint.Answered.Empty():
		return "refuses it with VersionNotSupportedError of 1.0"
	default:
		return "has answered in " + known.String()
	}
	text := "is offered in " + known.String()
	if cards := card.Of(p).Before(x); len(cards) > 0 {
		text += " by the card at " + cards[len(cards)-1].Place.String()
	}
	return text
}

// requestIn returns how the same is asked in the newest of the dialects, as the end of a sentence; nothing if it has no
// words for it.
func requestIn(x *analysis.Exchange, in a2a.Dialects) string {
	newest := a2a.V0_1
	for d := range in.All() {
		newest = d
	}
	var words string
	switch {
	case x.Call.Binding == a2a.JSONRPC:
		words = x.Call.Operation.MethodName(newest)
	case newest != a2a.V0_1:
		words = routeIn(x, newest == a2a.V1_0)
	}
	switch {
	case words == "":
		return ""
	case newest == a2a.V1_0:
		return ": " + words + " with A2A-Version: 1.0"
	case x.Call.Version != "":
		return ": " + words + " without A2A-Version: " + analysis.Clip(x.Call.Version)
	}
	return ": " + words
}

// routeIn returns method and path of a call over HTTP+JSON as 1.0 writes it, or as 0.2 and 0.3 do.
func routeIn(x *analysis.Exchange, modern bool) string {
	route := "/" + x.Call.Route
	switch {
	case x.Call.Operation == a2a.NoOperation || x.Call.Route == "":
		return ""
	case x.Call.Operation == a2a.GetExtendedCard && modern:
		route = "/extendedAgentCard"
	case x.Call.Operation == a2a.GetExtendedCard:
		route = "/v1/card"
	case !modern:
		route = "/v1" + route
	}
	return analysis.Clip(x.Request.Method + " " + x.Call.Prefix + route)
}

// withoutPrefix reports whether a call of 0.2 or 0.3 was turned away because its path has not the /v1 of these
// versions, where no call has succeeded before: some agents take both.
func withoutPrefix(p *analysis.Pass) bool {
	known := rule.Understood(p.Exchange)
	return !known.Empty() && lacksPrefix(p.Exchange, known) && rule.NoRoute(p)
}

// lacksPrefix reports whether the path of a call lacks the /v1 of the versions that its endpoint speaks.
func lacksPrefix(x *analysis.Exchange, known a2a.Dialects) bool {
	if !x.Endpoint.Answered.Empty() || x.Call.Binding != a2a.HTTPJSON || x.Call.Operation == a2a.NoOperation ||
		known.Has(a2a.V0_1) || known.Has(a2a.V1_0) {
		return false
	}
	return x.Path == x.Call.Prefix+"/"+x.Call.Route && !strings.HasSuffix(x.Call.Prefix, "/v1")
}

// reportPath reports a call whose path alone shows that it is in another dialect than its endpoint speaks.
func reportPath(p *analysis.Pass, x *analysis.Exchange, known a2a.Dialects, options ...analysis.Option) {
	expected := "a path with /v1"
	if known.Has(a2a.V1_0) {
		expected = "a path without /v1"
	}
	if path := routeIn(x, known.Has(a2a.V1_0)); path != "" {
		expected = path
	}
	p.Report(x.RequestPlace().Line(),
		fmt.Sprintf("the path is as in A2A %s (%s), and %s %s", pathDialects(known), rule.MethodOrPath(x), x.Endpoint.URL,
			offerText(p, x, known)),
		fmt.Sprintf("expected a path of %s: %s", known, expected),
		append(options, analysis.By(a2a.Client), analysis.Of(x.Keep()))...)
}

// checkAnsweredOtherwise reports an agent that takes a call and answers it in another dialect. A request that names its
// version is for another rule.
func checkAnsweredOtherwise(p *analysis.Pass) {
	x := p.Exchange
	got := p.Answer.Payload.Dialects
	if x.Call.Binding != a2a.JSONRPC || x.Call.Evidence != a2a.Decisive || x.Call.Version != "" || x.Call.Batch != nil ||
		p.Answer.Err != nil ||
		got.Empty() || p.Answer.Payload.Kind == a2a.CardPayload {
		return
	}
	p.Applied()
	if got.Intersect(x.Spoken()).Empty() {
		p.Report(p.Place.At(p.Answer.Payload.Pointer),
			fmt.Sprintf("the client uses A2A %s (%s), and the agent answers in %s", x.Call.Dialects, rule.MethodOrPath(x),
				got),
			fmt.Sprintf("expected an answer in %s", x.Call.Dialects), analysis.By(a2a.Agent),
			analysis.AtMost(analysis.Warning))
	}
}

// checkCardPath reports the clients that look for the card where another version has it.
func checkCardPath(p *analysis.Pass) {
	if card.Missed(p).Later {
		return
	}
	for missed := range card.Missed(p).Each() {
		if missed.Status == 404 {
			p.Applied()
			reportCardPath(p, missed.Exchange)
		}
	}
}

func reportCardPath(p *analysis.Pass, x *analysis.Exchange) {
	card := card.Of(p).Beside(x)
	if card == nil ||
		rule.CardBelongs(card.Shapes, x.Dialects) { // the client looks in the right place: card-wellknown-path
		return
	}
	p.Report(x.RequestPlace().Line(),
		fmt.Sprintf("the client looks for the card at %s, the path of A2A %s, and the agent's is at %s (%s)",
			analysis.Clip(x.Path), x.Dialects, analysis.Clip(card.Path), card.Place), "expected GET "+analysis.Clip(card.Path),
		analysis.By(a2a.Client), analysis.AtMost(analysis.Warning),
		analysis.AtMostIf(card.Read, analysis.Note), // if it looks in both places
		analysis.Of(x.Keep()))
}
