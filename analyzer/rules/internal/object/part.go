package object

import (
	"fmt"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// Parts is the family of rules about the shape of parts: their declared kinds, and their contents.
var Parts = rule.Family{
	Name:     "part",
	Category: analysis.Lifecycle,
	Side:     a2a.Agent,
	On:       analysis.PartSeen,
	Either:   true,
}.Of(
	partObject,
	partDiscriminator,
	partDiscriminatorV01,
	partKindContentMatch,
	partExactlyOne,
	partDataObject,
)

var partObject = &analysis.Rule{
	ID:       "part-object",
	Title:    "part is not an object",
	Level:    analysis.Must,
	On:       analysis.MessageSeen | analysis.ArtifactSeen,
	Bindings: rule.OnAll,
	Cites:    rule.Cite("6.5", rule.Before1...).And("4.1.6", a2a.V1_0),
	Stands:   "0.1.0:510 0.2.6:332 0.3.0:541 1.0.1:proto:224",
	Doc: `Each part of a message or artifact is an object that says what it holds. If one is a bare text or null,
typed receivers refuse the whole message.`,
	Fix: `Wrap a text: {"text":"…"} in 1.0, {"kind":"text","text":"…"} in 0.2 and 0.3, {"type":"text","text":"…"} in 0.1.`,
	Silent: `Parts that are not a list, which another rule reports. In a history, messages of the client, which were
checked when they were sent.`,
	Check: func(p *analysis.Pass) {
		parts, name := partsOf(p)
		for i, part := range parts.Elems() {
			p.Applied()
			if part.Kind() != a2a.Object {
				p.Report(element(p, name, i), "the part is "+analysis.Quote(part), "expected an object")
			}
		}
	},
}

var partDiscriminator = &analysis.Rule{
	ID:       "part-discriminator",
	Title:    "part without a known kind",
	Level:    analysis.Must,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("6.5", a2a.V0_2, a2a.V0_3),
	Covers:   []string{"unknown-field", "version-semantics-mixed", "field-type"},
	Stands:   "0.2.6:types:451 0.3.0:types:817",
	Doc: `The member "kind" says whether a part is text, a file or data. Typed receivers use it to decide how to read
the part, and refuse the whole message if it is missing or has another value.`,
	Fix: `Write "kind":"text", "kind":"file" or "kind":"data" into every part.`,
	Silent: `The rest of the part. "type" instead of "kind" is a warning: examples of 0.2.0 and 0.2.1 print it so. In
a history, messages of the client, which were checked when they were sent. A message whose role is spelled as in 1.0
is reported for that instead.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		kind, typ := p.Entity.Member("kind"), p.Entity.Member("type")
		switch {
		case partKindOf(kind) != "", !kind.Exists() && otherSpelling(p):
		case kind.Exists():
			p.Report(p.Here(), "the part has kind "+analysis.Quote(kind), `expected "text", "file" or "data"`)
		case partKindOf(typ) != "":
			p.Report(p.Here(), "the part has type "+analysis.Quote(typ)+" and no kind, as in examples of 0.2.0 and 0.2.1",
				`expected "kind" instead of "type"`, analysis.AtMost(analysis.Warning))
		default:
			p.Report(p.Here(), "the part has no kind", `expected "text", "file" or "data"`, analysis.For(analysis.KindOmitted))
		}
	},
}

// partKindOf returns the kind of part that a discriminator names, or "" if it names none.
func partKindOf(v a2a.Value) string {
	for _, kind := range [...]string{"text", "file", "data"} {
		if v.Is(kind) {
			return kind
		}
	}
	return ""
}

var partDiscriminatorV01 = &analysis.Rule{
	ID:       "part-discriminator-v01",
	Title:    "kind of a 0.1 part is unclear",
	Level:    analysis.Must,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("6.5", a2a.V0_1),
	Covers:   []string{"unknown-field", "version-semantics-mixed", "field-type"},
	Stands:   "0.1.0:510",
	Doc: `In 0.1 the member "type" says whether a part is text, a file or data. If it is missing, and so are members
with these names, a receiver does not know what the part is.`,
	Fix: `Write "type":"text", "type":"file" or "type":"data" into every part.`,
	Silent: `A missing type if one of the members text, file and data shows it: the first schemas have a default for
it.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		switch typ := p.Entity.Member("type"); {
		case partKindOf(typ) != "":
		case typ.Exists():
			p.Report(p.Here(), "the part has type "+analysis.Quote(typ), `expected "text", "file" or "data"`)
		case !p.Entity.Member("text").Exists() && !p.Entity.Member("file").Exists() && !p.Entity.Member("data").Exists():
			p.Report(p.Here(), "the part has neither a type nor content that shows it", `expected "text", "file" or "data"`)
		}
	},
}

var partKindContentMatch = &analysis.Rule{
	ID:       "part-kind-content-match",
	Title:    "part lacks the content that its kind promises",
	Level:    analysis.Must,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("6.5", rule.Before1...),
	Covers:   []string{"unknown-field", "version-semantics-mixed", "field-type"},
	Stands:   "0.1.0:527 0.2.6:types:395 0.3.0:types:744",
	Doc: `A part of kind "text" has a member text, one of kind "file" a member file, and one of kind "data" a member
data. Otherwise the receiver reads an empty part, or fails.`,
	Fix:    `Put the content into the member that the part's kind names.`,
	Silent: `Parts without a known kind, which another rule reports; an empty text; additional members.`,
	Check: func(p *analysis.Pass) {
		kind := partKindOf(p.Entity.Member("kind"))
		if kind == "" {
			kind = partKindOf(p.Entity.Member("type"))
		}
		if kind == "" {
			return
		}
		p.Applied()
		if !p.Entity.Member(kind).Exists() {
			p.Report(p.Here(), fmt.Sprintf("the part says %q and has no member of that name", kind),
				fmt.Sprintf("expected %q", kind))
		}
	},
}

var partExactlyOne = &analysis.Rule{
	ID:       "part-exactly-one",
	Title:    "part without exactly one content",
	Level:    analysis.Must,
	Bindings: rule.OnAll,
	Cites:    rule.Cite("4.1.6", a2a.V1_0),
	Covers:   []string{"legacy-field-emitted", "unknown-field", "version-semantics-mixed"},
	Stands:   "1.0.1:proto:225",
	Doc: `A 1.0 part holds exactly one of text, raw, url and data, and that member determines what the part is.
Without any there is nothing to read; with two, protocol buffer parsers refuse the message.`,
	Fix: `Write exactly one of the four. For two contents, send two parts. A file of older versions becomes raw or
url, together with mediaType and filename.`,
	Silent: `Members that are null count as missing, except data, which may be null. In a history, messages of the
client, which were checked when they were sent.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		first, second := "", ""
		for _, name := range [...]string{"text", "raw", "url", "data"} {
			v := p.Entity.Get(name)
			switch {
			case !v.Exists(), v.IsNull() && name != "data":
			case first == "":
				first = name
			case second == "":
				second = name
			}
		}
		switch {
		case first == "":
			p.Report(p.Here(), "the part has none of text, raw, url and data", "expected exactly one of them")
		case second != "":
			p.Report(p.Here(), fmt.Sprintf("the part has both %s and %s", first, second),
				"expected exactly one of text, raw, url and data")
		}
	},
}

var partDataObject = &analysis.Rule{
	ID:       "part-data-object",
	Title:    "data of a part is not an object",
	Level:    analysis.Must,
	Bindings: rule.OnAll,
	Cites:    rule.Cite("6.5", a2a.V0_2, a2a.V0_3),
	Stands:   "0.2.6:types:444 0.3.0:types:806",
	Doc: `Before 1.0 the data of a part is an object. Typed receivers read it as a map, and fail on a number, a text
or a list.`,
	Fix:    `Put the value into an object under a name: {"kind":"data","data":{"items":[…]}}. 1.0 takes any value.`,
	Silent: `The contents of data. A list is a note: texts up to 0.2.5 allow it. Parts of another kind.`,
	Check: func(p *analysis.Pass) {
		data, kind := p.Entity.Member("data"), p.Entity.Member("kind")
		if !data.Exists() || kind.Exists() && !kind.Is("data") {
			return
		}
		p.Applied()
		switch data.Kind() {
		case a2a.Object:
		case a2a.Array:
			p.Report(p.Here("data"), "data is a list", "expected an object", analysis.AtMost(analysis.Note))
		default:
			p.Report(p.Here("data"), "data is "+analysis.Quote(data), "expected an object")
		}
	},
}
