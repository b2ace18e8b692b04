package cards

import (
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/wire"
)

// The cards of versions before 1.0: of 0.1, and of 0.2 and 0.3 (A2A 0.3 §5.5).

// before10 returns the common parts of the cards of 0.2 and 0.3.
func before10(a *Subject, base, version, name string) jsonvalue.Object {
	card := jsonvalue.Object{
		{"protocolVersion", version},
		{"name", name},
		{"description", "Shows every way in which a task can go."},
		{"url", address(base, a.Bindings[0])},
		{"preferredTransport", string(a.Bindings[0])},
		{"version", Version},
		{"capabilities", jsonvalue.Object{{"streaming", true}, {"pushNotifications", a.Push}}},
		{"defaultInputModes", jsonvalue.Texts("text/plain")},
		{"defaultOutputModes", jsonvalue.Texts(specOutputs...)},
		{"skills", jsonvalue.Values(spec03CardSkills, Skill.JSON)},
	}
	if len(a.Bindings) == 1 {
		return card
	}
	return card.With("additionalInterfaces", jsonvalue.Values(a.Bindings, func(b wire.Binding) any {
		return jsonvalue.Object{{"url", address(base, b)}, {"transport", string(b)}}
	}))
}

// Spec03Card is the card of spec03.
func Spec03Card(a *Subject, base string) jsonvalue.Object {
	return before10(a, base, "0.3.0", "AgentBin Spec Agent (v0.3)")
}

// Spec03RESTCard is the card of spec03-rest.
func Spec03RESTCard(a *Subject, base string) jsonvalue.Object {
	return before10(a, base, "0.3.0", "AgentBin Spec Agent (v0.3, HTTP+JSON)")
}

// Spec03ProtoCard is the card of spec03-proto.
func Spec03ProtoCard(a *Subject, base string) jsonvalue.Object {
	return before10(a, base, "0.3.0", "AgentBin Spec Agent (v0.3, HTTP+JSON as its proto)")
}

// Spec02Card is the card of spec02.
func Spec02Card(a *Subject, base string) jsonvalue.Object {
	return before10(a, base, "0.2.6", "AgentBin Spec Agent (v0.2)")
}

// Spec01Card is a card of 0.1 (A2A 0.1 §5.5).
func Spec01Card(a *Subject, base string) jsonvalue.Object {
	return jsonvalue.Object{
		{"name", "AgentBin Spec Agent (v0.1)"},
		{"description", "Shows every way in which a task can go."},
		{"url", base},
		{"version", Version},
		{"capabilities", jsonvalue.Object{
			{"streaming", true},
			{"pushNotifications", a.Push},
			{"stateTransitionHistory", false},
		}},
		{"authentication", jsonvalue.Object{{"schemes", jsonvalue.Texts("public")}}},
		{"defaultInputModes", jsonvalue.Texts("text/plain")},
		{"defaultOutputModes", jsonvalue.Texts(specOutputs...)},
		{"skills", jsonvalue.Values(spec03CardSkills, Skill.JSON)},
	}
}

// LegacyCard is the card of the dialect, which names the modes of each skill.
func LegacyCard(a *Subject, base string) jsonvalue.Object {
	modes := func(s Skill) any {
		outputs := jsonvalue.Texts("text/plain")
		if s.ID == "data-types" {
			outputs = jsonvalue.Texts(specOutputs...)
		}
		return s.JSON().(jsonvalue.Object).With("inputModes", jsonvalue.Texts("text/plain")).With("outputModes", outputs)
	}
	return jsonvalue.Object{
		{"name", "AgentBin Spec Agent (before v0.1)"},
		{"description", "Shows every way in which a task can go."},
		{"url", base},
		{"version", Version},
		{
			"capabilities",
			jsonvalue.Object{{"streaming", true}, {"pushNotifications", a.Push}, {"stateTransitionHistory", true}},
		},
		{"defaultInputModes", jsonvalue.Texts("text/plain")},
		{"defaultOutputModes", jsonvalue.Texts(specOutputs...)},
		{"skills", jsonvalue.Values(specCardSkills, modes)},
	}
}
