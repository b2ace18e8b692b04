package refagent

// Faults of the addresses and versions that a card declares.
var cardURLFaults = []Fault{
	{
		Slug: "card-required-nested", agents: anyAgent,
		Doc:   "The first skill of the card has no name.",
		hooks: onCards(onFirstSkill(func(o object) object { return o.without("name") })),
	},
	{
		Slug: "card-interfaces-nonempty", agents: with10,
		Doc:   "The card has no interface.",
		hooks: onCards(func(o object) object { return o.with("supportedInterfaces", []any{}) }),
	},
	{
		Slug: "card-url-absolute", agents: with10,
		Doc:   "A further interface of the card is a path.",
		hooks: onCards(addInterface("/a2a", "HTTP+JSON", "1.0")),
	},
	{
		Slug: "card-url-absolute", agents: only03,
		Doc:   "A further interface of the card is a path.",
		hooks: onCards(addTransports("/a2a")),
	},
	{
		Slug: "card-url-https", agents: with10,
		Doc:   "The card names an interface on a public host, without TLS.",
		hooks: onCards(addInterface("http://agents.a2atap.travel/a2a", "HTTP+JSON", "1.0")),
	},
	{
		Slug: "card-url-https", agents: only03,
		Doc:   "The card names an interface on a public host, without TLS.",
		hooks: onCards(addTransports("http://agents.a2atap.travel/a2a")),
	},
	{
		Slug: "card-protocol-version-present", agents: only03,
		Doc:   "The card says that it is of no version.",
		hooks: onCards(func(o object) object { return o.with("protocolVersion", "") }),
	},
	{
		Slug: "card-protocol-version-patch", agents: with10,
		Doc:   "An interface of the card names a patch version.",
		hooks: onCards(addInterface("https://a2atap.example/a2a", "HTTP+JSON", "1.0.1")),
	},
	{
		Slug: "card-protocol-version-format", agents: with10,
		Doc:   "An interface of the card names a version that is not a number.",
		hooks: onCards(addInterface("https://a2atap.example/a2a", "HTTP+JSON", "v1")),
	},
	{
		Slug: "card-binding-known", agents: with10,
		Doc:   "An interface of the card is in a binding that has no URI.",
		hooks: onCards(addInterface("wss://a2atap.example/a2a", "WEBSOCKET", "1.0")),
	},
	{
		Slug: "card-preferred-transport", agents: only03,
		Doc:   "The card does not say what is spoken at its URL.",
		hooks: onCards(func(o object) object { return o.without("preferredTransport") }),
	},
	{
		Slug: "card-transport-conflict", agents: only03,
		Doc: "The card lists its main URL for another transport than the preferred one.",
		hooks: onCards(func(o object) object {
			return o.with("additionalInterfaces", []any{transportAt(o, "GRPC")})
		}),
	},
	{
		Slug: "card-capability-vs-traffic", agents: onlyEcho, Also: []string{"req-interface-url"},
		Doc: "The card declares HTTP+JSON only, and the agent speaks JSON-RPC at the same URL.",
		hooks: onCards(func(o object) object {
			interfaces, _ := o.get("supportedInterfaces")
			return o.with("supportedInterfaces", interfaces.([]any)[1:])
		}),
	},
	{
		Slug: "card-additional-complete", agents: only03,
		Doc: "The card lists a further interface, and not the main one.",
		hooks: onCards(func(o object) object {
			return o.with("additionalInterfaces",
				[]any{object{{"url", "https://a2atap.example/a2a"}, {"transport", "HTTP+JSON"}}})
		}),
	},
}

// onlyEcho is for faults of an agent whose card says nothing of an extended one.
var onlyEcho = []string{"echo"}

// onCards makes hooks that edit the public card and the extended one alike.
func onCards(edit func(object) object) func() hooks {
	return func() hooks {
		return hooks{card: editCard(edit), reply: func(_ *call, r *reply) {
			if r.card != nil {
				r.card = edit(r.card)
			}
		}}
	}
}

// onFirstSkill edits the first skill of a card.
func onFirstSkill(edit func(object) object) func(object) object {
	return func(o object) object {
		skills, _ := o.get("skills")
		list := append([]any(nil), skills.([]any)...)
		list[0] = edit(list[0].(object))
		return o.with("skills", list)
	}
}

// addInterface adds an interface behind the others of a 1.0 card.
func addInterface(url, binding, version string) func(object) object {
	return func(o object) object {
		interfaces, _ := o.get("supportedInterfaces")
		list := append([]any(nil), interfaces.([]any)...)
		return o.with("supportedInterfaces",
			append(list, object{{"url", url}, {"protocolBinding", binding}, {"protocolVersion", version}}))
	}
}

// addTransports gives a 0.3 card a list of its main interface and one at another URL.
func addTransports(url string) func(object) object {
	return func(o object) object {
		return o.with("additionalInterfaces",
			[]any{transportAt(o, "JSONRPC"), object{{"url", url}, {"transport", "HTTP+JSON"}}})
	}
}

func transportAt(o object, transport string) object {
	url, _ := o.get("url")
	return object{{"url", url}, {"transport", transport}}
}
