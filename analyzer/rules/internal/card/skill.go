package card

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// Skills is the family of rules about the skills in a card.
var Skills = rule.Family{
	Name:     "skill",
	Category: analysis.AgentCard,
	Side:     a2a.Agent,
	OfCard:   true,
	On:       analysis.CardSeen,
	Bindings: rule.OnAll,
}.Of(
	cardArraysNonempty,
	cardModeSyntax,
	cardSkillIDUnique,
	cardExtensionURI,
)

var cardArraysNonempty = &analysis.Rule{
	ID:     "card-arrays-nonempty",
	Title:  "required list in the agent card is empty",
	Level:  analysis.Should,
	Cites:  rule.Cite("5.7", a2a.V1_0),
	Stands: "1.0.1:1263",
	Doc: `Clients and registries choose agents by their skills, tags and media types. With an empty list no one finds
the agent, and validators that take the required lists literally refuse the card.`,
	Fix: `Describe at least one skill, with at least one tag, and name the media types that the agent accepts and
returns.`,
	Silent: `Missing lists, which count as missing members. The finding is a note if the members of 0.3 are complete,
since the lists may be empty there. The text of 1.0 contradicts itself on this, so it is never an error.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		var empty []string
		for _, name := range [...]string{"defaultInputModes", "defaultOutputModes", "skills"} {
			if isEmptyList(p.Card, p.Card.Get(name)) {
				empty = append(empty, "/"+name)
			}
		}
		for i, skill := range p.Card.Get("skills").Elems() {
			if isEmptyList(p.Card, skill.Get("tags")) {
				empty = append(empty, a2a.Ptr("/skills", i, "tags"))
			}
		}
		if len(empty) == 0 {
			return
		}
		verb := " is empty"
		if len(empty) > 1 {
			verb = " are empty"
		}
		p.Report(commonPlace(p, empty), quoted(empty)+verb, "expected at least one element",
			analysis.AtMostIf(completeLegacy(p.Card), analysis.Note))
	},
}

// isEmptyList reports whether a list exists and is empty. Over gRPC such a list counts as missing.
func isEmptyList(card *a2a.Card, v a2a.Value) bool {
	return v.Kind() == a2a.Array && v.Len() == 0 || card.Blank && !v.Exists()
}

var cardModeSyntax = &analysis.Rule{
	ID:     "card-mode-syntax",
	Title:  "input or output mode in the agent card is not a media type",
	Level:  analysis.Should,
	Cites:  rule.Cite("5.5", a2a.V0_2, a2a.V0_3).And("4.4", a2a.V1_0),
	Stands: "0.2.6:types:161 0.3.0:types:451 1.0.1:proto:385",
	Doc: `Modes are media types, and clients match them with the types of the parts that they send and accept. "text"
matches nothing: a client either skips the agent or sends it a type that it does not accept.`,
	Fix: `Write media types: text/plain instead of text, application/json instead of json, image/png instead of image.`,
	Silent: `Cards that may be of 0.1, which writes "text". Whether a media type is registered. Wildcards such as
image/*.`,
	Check: func(p *analysis.Pass) {
		modes := modesOf{p: p}
		modes.judge(p.Card.Value, "", "defaultInputModes", "defaultOutputModes")
		for i, skill := range p.Card.Get("skills").Elems() {
			modes.judge(skill, a2a.Ptr("/skills", i), "inputModes", "outputModes")
		}
		if len(modes.wrong) > 0 {
			seen := "the mode is " + analysis.Quote(modes.first)
			if len(modes.wrong) > 1 {
				seen = quoted(modes.wrong) + " are not media types; the first is " + analysis.Quote(modes.first)
			}
			p.Report(commonPlace(p, modes.wrong), seen, "expected media types, such as text/plain")
		}
	},
}

// modesOf gathers the modes of a card that are no media types.
type modesOf struct {
	p     *analysis.Pass
	wrong []string
	first a2a.Value
}

func (m *modesOf) judge(object a2a.Value, at string, lists ...string) {
	for _, list := range lists {
		for i, mode := range object.Get(list).Elems() {
			if mode.Kind() != a2a.String {
				continue
			}
			m.p.Applied()
			if !rule.IsMediaType(mode.Text()) {
				if len(m.wrong) == 0 {
					m.first = mode
				}
				m.wrong = append(m.wrong, a2a.Ptr(at, list, i))
			}
		}
	}
}

var cardSkillIDUnique = &analysis.Rule{
	ID:     "card-skill-id-unique",
	Title:  "two skills of the agent card have the same id",
	Level:  analysis.Must,
	Cites:  rule.Cite("5.5.4", rule.Before1...).And("4.4", a2a.V1_0),
	Stands: "0.1.0:288 0.2.6:types:56 0.3.0:types:272 1.0.1:proto:436",
	Doc: `A skill's id identifies it within its agent. Clients keep skills in maps by id, so one of the two
disappears, and which one depends on the client.`,
	Fix:    `Give each skill a unique id.`,
	Silent: `Missing and empty ids, which count as missing members; ids that differ in case; skills of other agents.`,
	Check: func(p *analysis.Pass) {
		skills := p.Card.Get("skills")
		var seen map[string]bool
		for i, skill := range skills.Elems() {
			id := skill.Get("id")
			if id.Kind() != a2a.String || id.Is("") {
				continue
			}
			p.Applied()
			if seen[id.Text()] {
				p.Report(inCard(p, a2a.Ptr("/skills", i, "id")), "the id "+analysis.Quote(id)+" was given to another skill before",
					"expected unique ids in the card")
				return
			}
			if seen == nil {
				seen = make(map[string]bool)
			}
			seen[id.Text()] = true
		}
	},
}

var cardExtensionURI = &analysis.Rule{
	ID:     "card-extension-uri",
	Title:  "extension in the agent card without a URI",
	Level:  analysis.Must,
	Cites:  rule.Cite("5.5.2", a2a.V0_2, a2a.V0_3).And("4.4", a2a.V1_0),
	Stands: "0.2.6:types:40 0.3.0:types:44 1.0.1:proto:424",
	Doc: `An extension is identified only by its URI: clients compare it with the extensions that they implement, and
name it in the request to use it. Without a URI the entry cannot be used, and if the extension is required, neither
can the agent.`,
	Fix: `Write the extension's URI exactly as in its documentation, including the scheme:
https://example.com/ext/traceability/v1.`,
	Silent: `Whether the URI can be fetched. The finding is a warning in 1.0, which does not mark the member as
required.`,
	Check: func(p *analysis.Pass) {
		worst := analysis.Error
		if p.Card.Modern {
			worst = analysis.Warning
		}
		for i, extension := range p.Card.Get("capabilities").Get("extensions").Elems() {
			if extension.Kind() != a2a.Object {
				continue
			}
			p.Applied()
			at := inCard(p, a2a.Ptr("/capabilities/extensions", i))
			switch uri := extension.Get("uri"); {
			case !uri.Exists() || uri.IsNull():
				p.Report(at, "the extension has no uri", "expected its URI", analysis.AtMost(worst))
			case uri.Kind() != a2a.String || !rule.IsURI(uri.Text()):
				p.Report(at.In("uri"), "uri is "+analysis.Quote(uri), "expected a URI with its scheme", analysis.AtMost(worst))
			}
		}
	},
}
