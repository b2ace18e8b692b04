package refagent

// The cards of versions before 1.0: of 0.1, and of 0.2 and 0.3 (A2A 0.3 §5.5).

// before10 is what the cards of 0.2 and 0.3 have in common.
func before10(a *servedCard, base, version, name, transport string) object {
	return object{
		{"protocolVersion", version},
		{"name", name},
		{"description", "Shows every way in which a task can go."},
		{"url", base},
		{"preferredTransport", transport},
		{"version", cardVersion},
		{"capabilities", object{{"streaming", true}, {"pushNotifications", a.push}}},
		{"defaultInputModes", texts("text/plain")},
		{"defaultOutputModes", texts(specOutputs...)},
		{"skills", values(spec03CardSkills, cardSkill.json)},
	}
}

func spec03Card(a *servedCard, base string) object {
	return before10(a, base, "0.3.0", "AgentBin Spec Agent (v0.3)", "JSONRPC")
}

func spec03RESTCard(a *servedCard, base string) object {
	return before10(a, base, "0.3.0", "AgentBin Spec Agent (v0.3, HTTP+JSON)", "HTTP+JSON")
}

func spec03ProtoCard(a *servedCard, base string) object {
	return before10(a, base, "0.3.0", "AgentBin Spec Agent (v0.3, HTTP+JSON as its proto)", "HTTP+JSON")
}

func spec02Card(a *servedCard, base string) object {
	return before10(a, base, "0.2.6", "AgentBin Spec Agent (v0.2)", "JSONRPC")
}

// spec01Card is a card of 0.1 (A2A 0.1 §5.5).
func spec01Card(a *servedCard, base string) object {
	return object{
		{"name", "AgentBin Spec Agent (v0.1)"},
		{"description", "Shows every way in which a task can go."},
		{"url", base},
		{"version", cardVersion},
		{"capabilities", object{{"streaming", true}, {"pushNotifications", a.push}, {"stateTransitionHistory", false}}},
		{"authentication", object{{"schemes", texts("public")}}},
		{"defaultInputModes", texts("text/plain")},
		{"defaultOutputModes", texts(specOutputs...)},
		{"skills", values(spec03CardSkills, cardSkill.json)},
	}
}

// legacyCard is the card of the dialect, which names the modes of each skill.
func legacyCard(a *servedCard, base string) object {
	modes := func(s cardSkill) any {
		outputs := texts("text/plain")
		if s.id == "data-types" {
			outputs = texts(specOutputs...)
		}
		return s.json().(object).with("inputModes", texts("text/plain")).with("outputModes", outputs)
	}
	return object{
		{"name", "AgentBin Spec Agent (before v0.1)"},
		{"description", "Shows every way in which a task can go."},
		{"url", base},
		{"version", cardVersion},
		{
			"capabilities",
			object{{"streaming", true}, {"pushNotifications", a.push}, {"stateTransitionHistory", true}},
		},
		{"defaultInputModes", texts("text/plain")},
		{"defaultOutputModes", texts(specOutputs...)},
		{"skills", values(specCardSkills, modes)},
	}
}
