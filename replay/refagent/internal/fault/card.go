package fault

import (
	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of the card, and of what it promises.
var cardFaults = []Fault{
	{
		Slug: "push-supported-but-refused", agents: anyAgent,
		Doc: "The card offers push notifications, but every operation on them is refused as not supported.",
		hooks: func() wire.Hooks {
			return wire.Hooks{Card: editCard(offerPush), Admit: func(c *wire.Call) *model.Failure {
				if c.Op.IsPush() {
					return model.PushNotSupported()
				}
				return nil
			}}
		},
	},
	{
		Slug: "hook-auth", agents: only10,
		Doc: "Push notifications are sent without the credentials that the client has asked for.",
		hooks: func() wire.Hooks {
			return wire.Hooks{Deliver: func(d *engine.Delivery) { d.Header.Del("Authorization") }}
		},
	},
	{
		Slug: "card-required-fields", agents: anyAgent,
		Doc: "The card has no version.",
		hooks: func() wire.Hooks {
			return wire.Hooks{Card: editCard(func(o jsonvalue.Object) jsonvalue.Object { return o.Without("version") })}
		},
	},
	{
		Slug: "card-field-type", agents: anyAgent,
		Doc:   "The card's description is a list.",
		hooks: func() wire.Hooks { return wire.Hooks{Card: editCard(with("description", []any{"An agent"}))} },
	},
}

func editCard(edit func(jsonvalue.Object) jsonvalue.Object) func(*wire.Answer) {
	return func(out *wire.Answer) { out.Body = edit(out.Body.(jsonvalue.Object)) }
}

func offerPush(o jsonvalue.Object) jsonvalue.Object {
	c, _ := o.Get("capabilities")
	return o.With("capabilities", c.(jsonvalue.Object).With("pushNotifications", true))
}

// Faults of the addresses and versions that a card declares.
var cardURLFaults = []Fault{
	{
		Slug: "card-required-nested", agents: anyAgent,
		Doc:   "The first skill of the card has no name.",
		hooks: onCards(onFirstSkill(func(o jsonvalue.Object) jsonvalue.Object { return o.Without("name") })),
	},
	{
		Slug: "card-interfaces-nonempty", agents: with10,
		Doc:   "The card has no interface.",
		hooks: onCards(func(o jsonvalue.Object) jsonvalue.Object { return o.With("supportedInterfaces", []any{}) }),
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
		hooks: onCards(func(o jsonvalue.Object) jsonvalue.Object { return o.With("protocolVersion", "") }),
	},
	{
		Slug: "card-protocol-version-patch", agents: with10,
		Doc:   "An interface of the card names a patch version.",
		hooks: onCards(addInterface("https://a2atap.example/a2a", "HTTP+JSON", "1.0.1")),
	},
	{
		Slug: "card-protocol-version-format", agents: with10,
		Doc:   "An interface of the card names a version that is no number.",
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
		hooks: onCards(func(o jsonvalue.Object) jsonvalue.Object { return o.Without("preferredTransport") }),
	},
	{
		Slug: "card-transport-conflict", agents: only03,
		Doc: "The card lists its main URL for another transport than the preferred one.",
		hooks: onCards(func(o jsonvalue.Object) jsonvalue.Object {
			return o.With("additionalInterfaces", []any{transportAt(o, "GRPC")})
		}),
	},
	{
		Slug: "card-capability-vs-traffic", agents: onlyEcho, Also: []string{"req-interface-url"},
		Doc: "The card declares HTTP+JSON only, and the agent speaks JSON-RPC at the same URL.",
		hooks: onCards(func(o jsonvalue.Object) jsonvalue.Object {
			interfaces, _ := o.Get("supportedInterfaces")
			return o.With("supportedInterfaces", interfaces.([]any)[1:])
		}),
	},
	{
		Slug: "card-additional-complete", agents: only03,
		Doc: "The card lists a further interface, and not the main one.",
		hooks: onCards(func(o jsonvalue.Object) jsonvalue.Object {
			return o.With("additionalInterfaces",
				[]any{jsonvalue.Object{{"url", "https://a2atap.example/a2a"}, {"transport", "HTTP+JSON"}}})
		}),
	},
}

// onlyEcho is for faults of an agent whose card says nothing of an extended one.
var onlyEcho = []string{"echo"}

// onCards makes hooks that edit the public card and the extended one alike.
func onCards(edit func(jsonvalue.Object) jsonvalue.Object) func() wire.Hooks {
	return func() wire.Hooks {
		return wire.Hooks{Card: editCard(edit), Reply: func(_ *wire.Call, r *model.Reply) {
			if r.Card != nil {
				r.Card = edit(r.Card)
			}
		}}
	}
}

// onFirstSkill edits the first skill of a card.
func onFirstSkill(edit func(jsonvalue.Object) jsonvalue.Object) func(jsonvalue.Object) jsonvalue.Object {
	return func(o jsonvalue.Object) jsonvalue.Object {
		skills, _ := o.Get("skills")
		list := append([]any(nil), skills.([]any)...)
		list[0] = edit(list[0].(jsonvalue.Object))
		return o.With("skills", list)
	}
}

// addInterface adds an interface behind the others of a 1.0 card.
func addInterface(url, binding, version string) func(jsonvalue.Object) jsonvalue.Object {
	return func(o jsonvalue.Object) jsonvalue.Object {
		interfaces, _ := o.Get("supportedInterfaces")
		list := append([]any(nil), interfaces.([]any)...)
		return o.With("supportedInterfaces",
			append(list, jsonvalue.Object{{"url", url}, {"protocolBinding", binding}, {"protocolVersion", version}}))
	}
}

// addTransports gives a 0.3 card a list of its main interface and one at another URL.
func addTransports(url string) func(jsonvalue.Object) jsonvalue.Object {
	return func(o jsonvalue.Object) jsonvalue.Object {
		return o.With("additionalInterfaces",
			[]any{transportAt(o, "JSONRPC"), jsonvalue.Object{{"url", url}, {"transport", "HTTP+JSON"}}})
	}
}

func transportAt(o jsonvalue.Object, transport string) jsonvalue.Object {
	url, _ := o.Get("url")
	return jsonvalue.Object{{"url", url}, {"transport", transport}}
}
