package fault

import (
	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of the card, and of its promises.
var cardFaults = []AgentFault{
	of(anyAgent, "push-supported-but-refused",
		"The card offers push notifications, but every operation on them is refused as not supported.",
		func() wire.Hooks {
			h := admitNoneAs(isPushOperation, *model.PushNotSupported())()
			h.Card = offer("pushNotifications", true)
			return h
		}),
	of(only10, "hook-auth", "Push notifications are sent without the credentials in the client's config.",
		always(wire.Hooks{Deliver: func(d *engine.Delivery) { d.Header.Del("Authorization") }})),
	of(anyAgent, "card-required-fields", "The card has no version.",
		onCard(editCard(without("version")))),
	of(anyAge, "card-field-type", "The card's description is a list.",
		onCard(editCard(with("description", []any{"An agent"})))),
}

func editCard(edit editor) func(*wire.Answer) {
	return func(out *wire.Answer) { out.Body = edit(out.Body.(jsonvalue.Object)) }
}

// Faults of the addresses and versions that a card declares.
var cardURLFaults = []AgentFault{
	of(anyAge, "card-required-nested", "The first skill of the card has no name.",
		onCards(onFirstSkill(without("name")))),
	of(with10, "card-interfaces-nonempty", "The card has no interface.",
		onCards(with("supportedInterfaces", []any{}))),
	of(with10, "card-url-absolute", "The URL of an additional interface in the card is a path.",
		onCards(addInterface("/a2a", "HTTP+JSON", "1.0"))),
	of(only03, "card-url-absolute", "The URL of an additional interface in the card is a path.", onCards(addTransports("/a2a"))),
	of(with10, "card-url-https", "The card names an interface on a public host, without TLS.",
		onCards(addInterface("http://agents.a2atap.travel/a2a", "HTTP+JSON", "1.0"))),
	of(only03, "card-url-https", "The card names an interface on a public host, without TLS.",
		onCards(addTransports("http://agents.a2atap.travel/a2a"))),
	of(only03, "card-protocol-version-present", "The card has an empty protocolVersion.",
		onCards(with("protocolVersion", ""))),
	of(with10, "card-protocol-version-patch", "An interface of the card names a patch version.",
		onCards(addInterface("https://a2atap.example/a2a", "HTTP+JSON", "1.0.1"))),
	of(with10, "card-protocol-version-format", "An interface of the card names a version that is not a number.",
		onCards(addInterface("https://a2atap.example/a2a", "HTTP+JSON", "v1"))),
	of(with10, "card-binding-known", "An interface of the card has a custom binding that is not a URI.",
		onCards(addInterface("wss://a2atap.example/a2a", "WEBSOCKET", "1.0"))),
	of(only03, "card-preferred-transport", "The card does not name the transport of its URL.",
		onCards(without("preferredTransport")),
		"card-url-absolute"), // of gRPC, which has host and port
	of(only03, "card-transport-conflict", "The card lists its main URL with another transport than the preferred one.",
		onCards(func(o jsonvalue.Object) jsonvalue.Object {
			return o.With("additionalInterfaces", []any{transportAt(o, "GRPC")})
		})),
	of(onlyEcho, "card-capability-vs-traffic",
		"The card declares only HTTP+JSON, but the agent also serves JSON-RPC at the same URL.",
		onCards(func(o jsonvalue.Object) jsonvalue.Object {
			interfaces, _ := o.Get("supportedInterfaces")
			return o.With("supportedInterfaces", interfaces.([]any)[1:])
		}), "req-interface-url"),
	of(only03, "card-additional-complete", "The card lists an additional interface, and not the main one.",
		onCards(with("additionalInterfaces",
			[]any{jsonvalue.Object{{"url", "https://a2atap.example/a2a"}, {"transport", "HTTP+JSON"}}}))),
}

// onlyEcho is for faults of an agent whose card does not mention an extended card.
var onlyEcho = []string{"echo"}

// onCards makes hooks that edit the public card and the extended one alike.
func onCards(edit editor) func() wire.Hooks {
	return func() wire.Hooks {
		return wire.Hooks{Card: editCard(edit), Reply: func(_ *wire.Call, r *model.Reply) {
			if r.Card != nil {
				r.Card = edit(r.Card)
			}
		}}
	}
}

// onFirstSkill edits the first skill of a card.
func onFirstSkill(edit editor) editor {
	return func(o jsonvalue.Object) jsonvalue.Object {
		skills, _ := o.Get("skills")
		list := append([]any(nil), skills.([]any)...)
		list[0] = edit(list[0].(jsonvalue.Object))
		return o.With("skills", list)
	}
}

// addInterface adds an interface behind the others of a 1.0 card.
func addInterface(url, binding, version string) editor {
	return func(o jsonvalue.Object) jsonvalue.Object {
		interfaces, _ := o.Get("supportedInterfaces")
		list := append([]any(nil), interfaces.([]any)...)
		return o.With("supportedInterfaces",
			append(list, jsonvalue.Object{{"url", url}, {"protocolBinding", binding}, {"protocolVersion", version}}))
	}
}

// addTransports gives a 0.3 card a list of its main interface and one at another URL.
func addTransports(url string) editor {
	return func(o jsonvalue.Object) jsonvalue.Object {
		own, _ := textOf(o, "preferredTransport")
		return o.With("additionalInterfaces",
			[]any{transportAt(o, own), jsonvalue.Object{{"url", url}, {"transport", "HTTP+JSON"}}})
	}
}

func transportAt(o jsonvalue.Object, transport string) jsonvalue.Object {
	url, _ := o.Get("url")
	return jsonvalue.Object{{"url", url}, {"transport", transport}}
}
