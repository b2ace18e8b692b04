package rules

import (
	"iter"
	"slices"
	"strings"

	"a2atap/analyzer"
	"a2atap/analyzer/a2a"
)

// Cards is the family of rules about agent cards.
var Cards = []*analyzer.Rule{
	CardRequiredFields,
	CardRequiredNested,
}

// CardRequiredFields reports a card that lacks members which every card of its dialect has.
var CardRequiredFields = &analyzer.Rule{
	ID:       "card-required-fields",
	Title:    "required members of the agent card missing",
	Family:   "card",
	Category: analyzer.AgentCard,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	On:       analyzer.CardSeen,
	Bindings: onAll,
	Cites: slices.Concat(
		cite("5.5", before1...),
		cite("4.4.1", a2a.V1_0),
	),
	Doc: `The agent card is how clients learn to talk to an agent. Typed clients fail to read a card without the members that its
version requires, and then nothing else of the agent is ever tried.`,
	Fix:    `Add the members that the message names. Empty lists and empty objects have to be written too.`,
	Silent: `Cards that carry the members of two versions, if those of one are complete. protocolVersion of 0.2 and 0.3 cards has a rule of its own.`,
	Check: func(p *analyzer.Pass) {
		p.Applied()
		missing, in := fewest(p.Card, false)
		if len(missing) > 0 {
			p.Report(p.Place, "the card lacks "+quoted(missing), "expected them in a card of "+in.String())
		}
	},
}

// CardRequiredNested reports the same for the objects inside a card.
var CardRequiredNested = &analyzer.Rule{
	ID:       "card-required-nested",
	Title:    "required members of an object in the agent card missing",
	Family:   "card",
	Category: analyzer.AgentCard,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	On:       analyzer.CardSeen,
	Bindings: onAll,
	Cites: slices.Concat(
		cite("5.5", before1...),
		cite("4.4", a2a.V1_0),
	),
	Doc: `Skills, interfaces, the provider and security schemes have members of their own that are required. Typed clients fail to read
the whole card for one that is missing.`,
	Fix:    `Add the members that the message names to the object that it names.`,
	Silent: `Cards that carry the members of two versions, if those of one are complete; extensions without a URI, which have a rule of their own.`,
	Check: func(p *analyzer.Pass) {
		p.Applied()
		missing, in := fewest(p.Card, true)
		if len(missing) > 0 {
			p.Report(p.Place, "the card lacks "+quoted(missing), "expected them in a card of "+in.String())
		}
	},
}

// fewest returns what a card lacks in the dialect, of those it may be in, in which it lacks least. A path with more than
// one step is nested.
func fewest(card *a2a.Card, nested bool) ([]string, a2a.Dialect) {
	var least []string
	in, first := a2a.V1_0, true
	for d := range card.Shapes.All() {
		missing := lacks(card, d, nested)
		if first || len(missing) < len(least) {
			least, in, first = missing, d, false
		}
	}
	return least, in
}

func lacks(card *a2a.Card, d a2a.Dialect, nested bool) []string {
	var missing []string
	for _, f := range a2a.RequiredFields(d) {
		if strings.Contains(f.Path[1:], "/") != nested || strings.Contains(f.Path, "/extensions/") {
			continue
		}
		parent, name := f.Path[:strings.LastIndexByte(f.Path, '/')], f.Path[strings.LastIndexByte(f.Path, '/')+1:]
		for at, object := range objectsAt(card.Value, "", strings.Split(parent, "/")[1:]) {
			if v := object.Get(name); !v.Exists() || v.IsNull() || meansNothing(name, v) {
				missing = append(missing, at+"/"+name)
			}
		}
	}
	return missing
}

// meansNothing reports whether a required string is there and empty although its value has to mean something.
func meansNothing(name string, v a2a.Value) bool {
	switch name {
	case "url", "name", "id", "protocolVersion", "protocolBinding":
		return v.Is("")
	}
	return false
}

// objectsAt yields the objects that a path with "*" leads to, each with its pointer.
func objectsAt(v a2a.Value, at string, path []string) iter.Seq2[string, a2a.Value] {
	return func(yield func(string, a2a.Value) bool) {
		if len(path) == 0 {
			if v.Kind() == a2a.Object {
				yield(at, v)
			}
			return
		}
		if path[0] != "*" {
			objectsAt(v.Get(path[0]), at+"/"+path[0], path[1:])(yield)
			return
		}
		for i, e := range v.Elems() {
			for p, o := range objectsAt(e, a2a.Ptr(at, i), path[1:]) {
				if !yield(p, o) {
					return
				}
			}
		}
	}
}

func quoted(pointers []string) string {
	names := make([]string, 0, len(pointers))
	for _, p := range pointers {
		names = append(names, analyzer.QuoteText(strings.TrimPrefix(p, "/")))
	}
	return strings.Join(names, ", ")
}
