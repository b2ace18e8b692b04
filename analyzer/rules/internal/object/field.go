package object

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// Fields is the family of rules about the members of protocol objects: their names and the kinds of their values.
var Fields = rule.Family{
	Name:     "field",
	Category: analysis.Lifecycle,
	Side:     a2a.Agent,
	Bindings: rule.OnAll,
	Either:   true,
	On:       analysis.EntitySeen,
}.Of(
	metadataObject,
	jsonCamelcase,
	enumNameString,
	fieldType,
	fieldNullRequired,
	legacyFieldEmitted,
	unknownField,
)

var metadataObject = &analysis.Rule{
	ID:     "metadata-object",
	Title:  "metadata is not an object",
	Level:  analysis.Must,
	If:     analysis.HasMetadata,
	Cites:  rule.Cite("6.1", rule.Before1...).And("4.1", a2a.V1_0),
	Stands: "0.1.0:417 0.2.6:types:188 0.3.0:types:488 1.0.1:proto:183",
	Doc: `Metadata is a map from names to values of any type. Typed receivers read it as a map, and refuse the whole
message if it is a text or a list.`,
	Fix:    `Put the value into an object under a name, preferably one that begins with the URI of an extension.`,
	Silent: `The contents of metadata, and metadata that is null.`,
	Check: func(p *analysis.Pass) {
		v := p.Entity.Member("metadata")
		if !v.Exists() {
			return
		}
		switch p.Entity.Type {
		case a2a.TaskEntity, a2a.MessageEntity, a2a.PartEntity, a2a.ArtifactEntity, a2a.StatusUpdateEntity,
			a2a.ArtifactUpdateEntity, a2a.ParamsEntity:
		default:
			return
		}
		p.Applied()
		if v.Kind() != a2a.Object {
			p.Report(p.Here("metadata"), "metadata is "+analysis.Quote(v), "expected an object")
		}
	},
}

var jsonCamelcase = &analysis.Rule{
	ID:     "json-camelcase",
	Title:  "member name in snake_case",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	On:     analysis.EntitySeen | analysis.CardSeen,
	If:     analysis.PlainNames,
	Odd:    a2a.SnakeMember,
	Cites:  rule.Cite("3.2.3", a2a.V0_3).And("5.5", a2a.V1_0),
	Covers: []string{"card-required-fields", "card-required-nested"},
	Stands: "0.3.0:102 1.0.1:1204",
	Doc: `JSON names are in camelCase: messageId, not message_id. Receivers that look for these names do not find the
member, and treat it as missing.`,
	Fix: `Write the JSON names of the protocol: in Python, use MessageToDict without preserving_proto_field_name, or
models with their aliases.`,
	Silent: `0.3 over JSON-RPC, where another rule reports the member as missing; names inside metadata, data and
other free objects; names that the protocol does not have. Only the first from each side of an exchange is reported.`,
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.CardSeen {
			reportSnakeCard(p)
			return
		}
		if !p.Entity.Modern() && !p.Entity.Proto() {
			return
		}
		p.Applied()
		for m := range p.Entity.Odd(a2a.SnakeMember) {
			p.Report(p.Here(m.Name.Text()), "the member is named "+analysis.Quote(m.Name),
				"expected "+analysis.QuoteText(m.Slot.Name))
		}
	},
}

// reportSnakeCard reports a card of 1.0 with a member in snake_case. One finding covers the whole card: its missing
// members are present under another name.
func reportSnakeCard(p *analysis.Pass) {
	if !p.Card.Shapes.Has(a2a.V1_0) {
		return
	}
	p.Applied()
	name := snakeMember(p.Card.Value)
	if name == "" {
		name = snakeMember(p.Card.Get("capabilities"))
	}
	for _, list := range [...]string{"supportedInterfaces", "skills"} {
		for _, v := range p.Card.Get(list).Elems() {
			if name == "" {
				name = snakeMember(v)
			}
		}
	}
	if name != "" {
		p.Report(p.Place, "the card has the member "+analysis.QuoteText(name), "expected camelCase names")
	}
}

// snakeMember returns the name of the first member of an object of a card that is one of 1.0 in snake_case, or "".
func snakeMember(v a2a.Value) string {
	for name := range v.Pairs() {
		for _, known := range [...]string{
			"supported_interfaces", "documentation_url", "icon_url", "security_schemes", "security_requirements",
			"default_input_modes",
			"default_output_modes", "push_notifications", "extended_agent_card", "protocol_binding", "protocol_version",
			"input_modes", "output_modes",
		} {
			if name.Is(known) {
				return known
			}
		}
	}
	return ""
}

var enumNameString = &analysis.Rule{
	ID:       "enum-name-string",
	Title:    "state or role not in the spelling of 1.0",
	Level:    analysis.Must,
	Bindings: rule.OnJSON,
	Once:     analysis.PerExchange,
	On:       analysis.StatusSeen | analysis.MessageSeen | analysis.FrameSeen,
	Cites:    rule.Cite("5.5", a2a.V1_0),
	Covers:   []string{"version-semantics-mixed"},
	Stands:   "1.0.1:1215",
	Doc: `1.0 writes states and roles by their full names in capitals: TASK_STATE_COMPLETED, ROLE_AGENT. A client of
1.0 does not know "completed" or the number 3, and cannot read the message.`,
	Fix: `Write TASK_STATE_… and ROLE_… names. "canceled" is TASK_STATE_CANCELED, with one L.`,
	Silent: `Values that no version has, which task-state-enum and msg-role-enum report. In a history, messages of the
client, which were checked when they were sent. Only the first from each side of an exchange is reported.`,
	Check: func(p *analysis.Pass) {
		name := "state"
		switch {
		case p.Entity.Type == a2a.MessageEntity:
			name = "role"
		case p.Entity.Type == a2a.ParamsEntity && p.Exchange.Call.Operation == a2a.ListTasks:
			name = "status"
		case p.Entity.Type != a2a.StatusEntity:
			return
		}
		v := p.Entity.Member(name)
		if !v.Exists() || v.Is("") {
			return
		}
		p.Applied()
		switch {
		case v.Kind() == a2a.Number:
			p.Report(p.Here(name), name+" is the number "+analysis.Quote(v), "expected a name")
		case name != "role" && !isState(p, v) && inOtherSpelling(v):
			p.Report(p.Here(name), name+" is "+analysis.Quote(v)+whoseSpelling(p, v),
				"expected "+analysis.QuoteText(a2a.StateOf(v.Text()).Spelling(a2a.V1_0)),
				analysis.ForIf(holdsOlderObject(p), analysis.OlderObjects))
		case name == "role" && !v.Is("ROLE_USER") && !v.Is("ROLE_AGENT") && a2a.RoleOf(v.Text()) != a2a.NoRole:
			p.Report(p.Here(name), name+" is "+analysis.Quote(v)+whoseSpelling(p, v),
				"expected "+analysis.QuoteText(a2a.RoleOf(v.Text()).Spelling(a2a.V1_0)),
				analysis.ForIf(holdsOlderObject(p), analysis.OlderObjects))
		}
	},
}

var fieldType = &analysis.Rule{
	ID:     "field-type",
	Title:  "member of the wrong JSON type",
	Level:  analysis.Must,
	Odd:    a2a.MistypedMember,
	Cites:  rule.Cite("6", rule.Before1...).And("4", a2a.V1_0),
	Stands: "0.1.0:387 0.2.6:286 0.3.0:495 1.0.1:768",
	Doc: `Each member of the protocol's objects has one type. Typed receivers refuse the whole message if a number
replaces a text, or a text replaces a list.`,
	Fix:    `Write the type that the finding names. Ids are strings, even if they look like numbers.`,
	Silent: `Members that another rule covers, null, and unknown members. 1.0 also accepts an integer in a string.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		for m := range p.Entity.Odd(a2a.MistypedMember) {
			p.Report(p.Here(m.Name.Text()), m.Slot.Name+" is "+analysis.Quote(m.Value), "expected "+m.Slot.Shape.String())
		}
	},
}

var fieldNullRequired = &analysis.Rule{
	ID:     "field-null-required",
	Title:  "member is null",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	Odd:    a2a.NullMember,
	Cites:  rule.Cite("6", rule.Before1...).And("5.7", a2a.V1_0),
	Stands: "0.1.0:387 0.2.6:286 0.3.0:495 1.0.1:1263",
	Doc: `A required member needs a value, and null is not a value: typed receivers refuse the message as if the
member were missing. In 0.2 and 0.3 the schemas do not allow null for optional members either.`,
	Fix: `Write the value, or leave an optional member out: in Python, model_dump(exclude_none=True).`,
	Silent: `Required members that another rule covers, which treats null as missing; optional members in 0.1 and 1.0,
where null is allowed. For optional members in 0.2 and 0.3 the finding is a note. Only the first of each severity from
each side of an exchange is reported. null inside metadata and data is a value.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		for m := range p.Entity.Odd(a2a.NullMember) {
			switch required := m.Slot.Required.Intersect(p.Dialects) == p.Dialects; {
			case required && m.Slot.Shape != a2a.AnyShape && p.Entity.Author == a2a.Agent:
				p.Report(p.Here(m.Name.Text()), m.Slot.Name+" is null", "expected "+m.Slot.Shape.String())
			case m.Slot.Required.Intersect(p.Dialects).Empty() && !p.Dialects.Has(a2a.V0_1) && !p.Entity.Modern():
				p.Report(p.Here(m.Name.Text()), m.Slot.Name+" is null", "expected the member to be left out",
					analysis.AtMost(analysis.Note))
			}
		}
	},
}

var legacyFieldEmitted = &analysis.Rule{
	ID:       "legacy-field-emitted",
	Title:    "member of an older version in an object of 1.0",
	Category: analysis.Interop,
	Level:    analysis.Should,
	Once:     analysis.PerExchange,
	On:       analysis.EntitySeen | analysis.CardSeen,
	Odd:      a2a.LegacyMember,
	Cites:    rule.Cite("A.2.1", a2a.V1_0),
	Covers:   []string{"version-semantics-mixed"},
	Stands:   "1.0.1:3515",
	Doc: `1.0 has dropped or renamed the member. Receivers of 1.0 ignore it, so its value is lost; receivers that
support both versions may take the message for one of the old version.`,
	Fix: `Leave out "kind", "type" and "final"; write returnImmediately for blocking, taskPushNotificationConfig for
pushNotificationConfig, raw or url for file, mediaType for mimeType.`,
	Silent: `Cards that carry the members of two versions; the contents of metadata and data; members of a message,
task or update whose role or state is spelled as in an older version, which another rule reports. Only the first from
each side of an exchange is reported.`,
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.CardSeen {
			reportLegacyCapability(p)
			return
		}
		p.Applied()
		if p.Entity.Oddities()&a2a.LegacyMember == 0 || otherSpelling(p) {
			return
		}
		for m := range p.Entity.Odd(a2a.LegacyMember) {
			p.Report(p.Here(m.Name.Text()), p.Entity.Type.String()+" has the member "+analysis.Quote(m.Name),
				"expected it to be left out in 1.0",
				analysis.ForIf(m.Name.Is("kind") && holdsOlderObject(p), analysis.OlderObjects))
		}
	},
}

// holdsOlderObject reports whether the object of an answer or an event of 1.0 has the kind that objects of 0.2 and 0.3
// have.
func holdsOlderObject(p *analysis.Pass) bool {
	return p.Answer != nil && isKind(p.Answer.Payload.Value.Get("kind"))
}

// reportLegacyCapability reports a capability that a card of 1.0 alone cannot have.
func reportLegacyCapability(p *analysis.Pass) {
	if p.Card.Shapes != a2a.Of(a2a.V1_0) {
		return
	}
	p.Applied()
	if p.Card.Get("capabilities").Has("stateTransitionHistory") {
		p.Report(p.Place.In("capabilities", "stateTransitionHistory"),
			`the capabilities have the member "stateTransitionHistory"`, "expected it to be left out in 1.0")
	}
}

var unknownField = &analysis.Rule{
	ID:     "unknown-field",
	Title:  "unknown member outside metadata",
	Level:  analysis.Advice,
	Once:   analysis.PerExchange,
	Odd:    a2a.UnknownMember,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("6", rule.Before1...).And("5.7", a2a.V1_0),
	Stands: "0.1.0:387 0.2.6:286 0.3.0:495 1.0.1:1275",
	Doc: `No version of the protocol has this member here. Receivers ignore it, or refuse the message if they are
strict. The member may be misspelled, or in the wrong object.`,
	Fix: `Check the spelling and the object. Put custom members into metadata.`,
	Silent: `Members of older versions and names in snake_case, which other rules report; names with characters other
than letters, digits and underscores; exchanges with an extension, and agents whose card declares one or was not seen.
Only the first from each side of an exchange is reported.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		if p.Entity.Oddities()&a2a.UnknownMember == 0 || hasExtensions(p.Exchange) || extendable(p) {
			return
		}
		for m := range p.Entity.Odd(a2a.UnknownMember) {
			if isWord(content(m.Name)) {
				p.Report(p.Here(m.Name.Text()), p.Entity.Type.String()+" has the member "+analysis.Quote(m.Name),
					"expected members of the protocol, and others in metadata")
				return
			}
		}
	},
}

// isWord reports whether a name has letters and digits alone. Other names were probably chosen with care.
func isWord(name []byte) bool {
	for _, c := range name {
		if (c|0x20 < 'a' || c|0x20 > 'z') && !isDigit(c) {
			return false
		}
	}
	return len(name) > 0
}

// extendable reports whether an extension may add members: the card of the agent declares one, or was not seen.
func extendable(p *analysis.Pass) bool {
	cards := card.Of(p).Before(p.Exchange)
	for _, card := range cards {
		if card.Get("capabilities").Get("extensions").Elem(0).Exists() {
			return true
		}
	}
	return len(cards) == 0
}
