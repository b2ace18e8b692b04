package card

import (
	"fmt"
	"strconv"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/credential"
)

// Cards is the family of rules about agent cards.
var Cards = rule.Family{
	Name:     "card",
	Category: analysis.AgentCard,
	Side:     a2a.Agent,
	On:       analysis.CardSeen,
	Bindings: rule.OnAll,
}.Of(
	cardJSONObject,
	cardRequiredFields,
	cardRequiredNested,
	cardFieldType,
	cardWellknownPath,
	cardSecretLeak,
)

var cardJSONObject = &analysis.Rule{
	ID:       "card-json-object",
	Title:    "response to an agent card request is not a JSON object",
	Level:    analysis.Must,
	On:       analysis.AnswerSeen | analysis.CardMissed,
	Needs:    []*analysis.Tracker{card.Tracker},
	Bindings: analysis.OnHTTP,
	Cites:    rule.Cite("5.1", rule.Before1...).And("14.3", a2a.V1_0),
	Stands:   "0.1.0:128 0.2.6:131 0.3.0:278 1.0.1:3335",
	Doc: `Status 200 promises a card, but the body is a web page, a list or empty. Clients fail in their JSON parser,
with a message that does not mention the card.`,
	Fix: `Answer with the card as a JSON object, or with 404 if there is none. Look for a catch-all route that takes
precedence over the card's.`,
	Silent: `Other statuses. Bodies labeled as JSON that are not JSON at all, which json-wellformed reports. Other
pages from hosts where no A2A call in a version of this path succeeded, or that have their card at another path:
whether that is so is known at the end of the recording, and the finding is reported then.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if p.Kind == analysis.CardMissed {
			reportPage(p)
			return
		}
		if x.Call.Operation != a2a.GetCard || x.Response.Status != 200 || !a2a.IsCardPath(x.Path) {
			return
		}
		root := p.Answer.Doc.Root
		switch {
		case root.Kind() == a2a.Object:
			p.Applied()
		case p.Answer.Doc.Err == nil && p.Doc != nil:
			p.Report(p.Place.At(""), "the card is "+analysis.Quote(root), "expected a JSON object")
		}
	},
}

// reportPage reports a body other than JSON where the card should be, if calls show that there is an agent.
func reportPage(p *analysis.Pass) {
	f := card.Missed(p)
	if f.Status != 200 || f.Later || card.Of(p).SpokenWithout(p.Exchange).Intersect(p.Dialects).Empty() {
		return
	}
	seen := "the body is empty"
	if f.Body != "" {
		seen = "the body is " + analysis.QuoteText(f.Body)
	}
	p.Report(p.Exchange.ResponsePlace().Body(), seen, "expected a JSON object")
}

var cardRequiredFields = &analysis.Rule{
	ID:     "card-required-fields",
	Title:  "required members of the agent card missing",
	Level:  analysis.Must,
	OfCard: true,
	Cites:  rule.Cite("5.5", rule.Before1...).And("4.4.1", a2a.V1_0),
	Stands: "0.1.0:163 0.2.6:types:111 0.3.0:types:369 1.0.1:proto:361",
	Doc: `Clients learn from the agent card how to talk to an agent. Typed clients cannot read a card without the
members that its version requires, and then never call the agent.`,
	Fix: `Add the members that the message names. Write empty lists and empty objects too.`,
	Silent: `Cards with the members of two versions, if those of one version are complete. A missing protocolVersion,
which cards have only since 0.2.5. Objects that do not look like a card at all. Over gRPC, members that may be empty,
since gRPC cannot show the difference.`,
	Check: func(p *analysis.Pass) {
		if p.Card.Shapes.Empty() {
			reportUnreachable(p)
			return
		}
		p.Applied()
		missing, in := fewestMissing(p.Card, missingFields)
		if len(missing) > 0 {
			p.Report(p.Place, lacking(p.Card, missing), "expected them in a card of "+in.String())
		}
	},
}

// reportUnreachable reports a card that has neither the URL of 0.x nor the interfaces of 1.0.
func reportUnreachable(p *analysis.Pass) {
	missing := missingFields(p.Card, a2a.V0_1)
	for i, name := range missing {
		if name == "url" {
			missing[i] = "url or supportedInterfaces"
		}
	}
	if p.Applied(); len(missing) > 0 {
		p.Report(p.Place, lacking(p.Card, missing), "expected them in a card of any version")
	}
}

var cardRequiredNested = &analysis.Rule{
	ID:     "card-required-nested",
	Title:  "required members of an object in the agent card missing",
	Level:  analysis.Must,
	OfCard: true,
	Cites:  rule.Cite("5.5", rule.Before1...).And("4.4", a2a.V1_0),
	Stands: "0.1.0:163 0.2.6:types:111 0.3.0:types:369 1.0.1:proto:435",
	Doc: `Skills, interfaces, the provider and security schemes have required members. If one is missing, typed
clients cannot read the whole card.`,
	Fix: `Add the members that the message names to the object that it names.`,
	Silent: `Cards with the members of two versions, if those of one version are complete; extensions without a URI.
Over gRPC, members that may be empty, since gRPC cannot show the difference.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		missing, in := fewestMissing(p.Card, missingNested)
		if len(missing) > 0 {
			p.Report(p.Place, lacking(p.Card, missing), "expected them in a card of "+in.String())
		}
	},
}

var cardFieldType = &analysis.Rule{
	ID:     "card-field-type",
	Title:  "member of the agent card of the wrong JSON type",
	Level:  analysis.Must,
	OfCard: true,
	Cites:  rule.Cite("5.5", rule.Before1...).And("4.4", a2a.V1_0),
	Covers: []string{"card-required-nested", "card-extension-uri"},
	Stands: "0.1.0:163 0.2.6:types:111 0.3.0:types:369 1.0.1:proto:361",
	Doc: `Each member of a card has one type. Typed clients cannot read the whole card if it has the text "true"
instead of a boolean, or a text instead of a list, and then never call the agent.`,
	Fix: `Write the type that the message names: flags as true and false without quotes, and lists in brackets, even
with one element.`,
	Silent: `Members that another rule covers; null, which counts as missing; unknown members; the contents of an
extension's params and of a signature's header.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		for _, m := range p.Card.Mistyped() {
			if !wasHidden(m.Value) {
				p.Report(p.Place.At(m.Pointer()), m.Name+" is "+analysis.Quote(m.Value), "expected "+m.Shape.String())
			}
		}
	},
}

// inCard returns the place of a pointer into the current card.
func inCard(p *analysis.Pass, pointer string) analysis.Place {
	return p.Place.At(p.Place.Pointer + pointer)
}

// commonPlace returns a single place for several pointers into the current card: the only pointer, or else the card
// itself.
func commonPlace(p *analysis.Pass, pointers []string) analysis.Place {
	if len(pointers) == 1 {
		return inCard(p, pointers[0])
	}
	return p.Place
}

// completeModern reports whether a card has all that 1.0 requires.
func completeModern(card *a2a.Card) bool { return card.Modern && complete(card, a2a.V1_0) }

// completeLegacy reports whether a card has all members that one of its possible versions before 1.0 requires.
func completeLegacy(card *a2a.Card) bool {
	for d := range card.Legacy.All() {
		if complete(card, d) {
			return true
		}
	}
	return false
}

func complete(card *a2a.Card, d a2a.Dialect) bool {
	return len(missingFields(card, d)) == 0 && len(missingNested(card, d)) == 0
}

// fewestMissing returns the missing members of a card in the possible dialect in which it lacks the fewest.
func fewestMissing(card *a2a.Card, lacks func(*a2a.Card, a2a.Dialect) []string) ([]string, a2a.Dialect) {
	var least []string
	in, first := a2a.V1_0, true
	for d := range card.Shapes.All() {
		missing := lacks(card, d)
		if first || len(missing) < len(least) {
			least, in, first = missing, d, false
		}
	}
	return least, in
}

// missingFields returns the names of the members that a card of the dialect lacks, or has without meaning.
func missingFields(card *a2a.Card, d a2a.Dialect) []string {
	missing := card.MissingFields(d)
	for _, name := range [...]string{"name", "url"} {
		if isBlank(card, card.Get(name)) && (name != "url" || d != a2a.V1_0) {
			missing = append(missing, name)
		}
	}
	return missing
}

// missingNested returns pointers to the members that objects inside a card of the dialect lack, or have without
// meaning.
func missingNested(card *a2a.Card, d a2a.Dialect) []string {
	missing := card.MissingNested(d)
	empty := func(list string, names ...string) {
		for i, object := range card.Get(list).Elems() {
			for _, name := range names {
				if isBlank(card, object.Get(name)) {
					missing = append(missing, a2a.Ptr("", list, i, name))
				}
			}
		}
	}
	empty("skills", "id", "name")
	if d == a2a.V1_0 {
		empty("supportedInterfaces", "url", "protocolBinding", "protocolVersion")
	} else {
		empty("additionalInterfaces", "url", "transport")
	}
	return missing
}

// isBlank reports whether a text exists and is empty. Over gRPC such a text counts as missing.
func isBlank(card *a2a.Card, v a2a.Value) bool { return v.Is("") || card.Blank && !v.Exists() }

// maxPointers bounds the members that lacking distinguishes. In a list of skills, pointers lead into the first skill.
const maxPointers = 100

// lacking names the missing members of a card, and those that are null.
func lacking(card *a2a.Card, missing []string) string {
	var absent, null []string
	for i, pointer := range missing {
		if i < maxPointers && card.At("/"+strings.TrimPrefix(pointer, "/")).IsNull() {
			null = append(null, pointer)
		} else {
			absent = append(absent, pointer)
		}
	}
	switch {
	case len(null) == 0:
		return "the card lacks " + quoted(absent)
	case len(absent) == 0:
		return "the card has null for " + quoted(null)
	}
	return "the card lacks " + quoted(absent) + ", and has null for " + quoted(null)
}

// quoted formats pointers for a finding: as a list with everything needed to find them.
func quoted(pointers []string) string {
	names := make([]string, 0, min(len(pointers), rule.MaxNamed))
	for _, p := range pointers[:min(len(pointers), rule.MaxNamed)] {
		names = append(names, strconv.Quote(analysis.Clean(strings.TrimPrefix(p, "/"))))
	}
	list := strings.Join(names, ", ")
	if more := len(pointers) - rule.MaxNamed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

var cardWellknownPath = &analysis.Rule{
	ID:       "card-wellknown-path",
	Title:    "agent card only at the path of another version",
	Level:    analysis.Should,
	On:       analysis.CardSeen | analysis.CardMissed,
	Needs:    []*analysis.Tracker{card.Tracker},
	Bindings: analysis.OnHTTP,
	Cites:    rule.Cite("5.3", rule.Before1...).And("8.2", a2a.V1_0),
	Stands:   "0.1.0:142 0.2.6:145 0.3.0:292 1.0.1:1978",
	Doc: `Since 0.3 clients look for the card at /.well-known/agent-card.json, and before at /.well-known/agent.json.
Only clients that try both find a card at the other path.`,
	Fix: `Serve the card at the path of its version, or at both if older clients should find it too.`,
	Silent: `Cards that may also be at the other path: that path has to be answered with 404, in the same A2A-Version.
Cards that may be of either version. The finding is a note, since the path is a recommendation, and is reported when
the recording ends.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if p.Kind == analysis.CardSeen {
			if x.Call.Operation == a2a.GetCard && a2a.IsCardPath(x.Path) {
				p.Applied()
			}
			return
		}
		if card.Missed(p).Status != 404 || card.Missed(p).Later || card.Of(p).At(x, x.Path) != nil {
			return
		}
		base, other := "", ""
		for i, path := range a2a.WellKnownPaths {
			if prefix, ok := strings.CutSuffix(x.Path, path); ok {
				base, other = prefix, a2a.WellKnownPaths[1-i]
			}
		}
		card := card.Of(p).At(x, base+other)
		if card == nil || !rule.CardBelongs(card.Shapes, p.Dialects) {
			return
		}
		p.Report(p.Place, analysis.QuoteText(x.Path)+" is answered with status 404, and the card is at "+card.Place.String(),
			"expected a card of "+card.Shapes.String()+" there", analysis.AtMost(analysis.Note))
	},
}

// wasHidden reports whether the recorder replaced a value.
func wasHidden(v a2a.Value) bool { return credential.HasPlaceholder(v.Raw()) }
