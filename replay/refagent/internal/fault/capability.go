package fault

import (
	"strings"

	"a2atap/replay/refagent/internal/dialect"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults where the agent's behavior contradicts the card's capabilities or requirements.
var capabilityFaults = []AgentFault{
	of(only10, "cap-streaming-unsupported", "The card says that the agent does not stream, but it does.",
		func() wire.Hooks {
			h := noExtendedCard()
			h.Card = editCard(func(o jsonvalue.Object) jsonvalue.Object {
				return withCapability(withCapability(o, "streaming", false), "extendedAgentCard", false)
			})
			return h
		}, "req-capability-streaming", "req-capability-extended"),
	of([]string{"spec03", "spec02", "spec01", "legacy"}, "cap-streaming-unsupported-0x",
		"The card says that the agent does not stream, but it does.",
		onCard(offer("streaming", false)), "req-capability-streaming"),
	of([]string{"spec", "spec03", "spec03-rest", "spec03-proto", "spec02"}, "cap-streaming-refused",
		"The card says that the agent streams, but it refuses to.", admitNone(calls(model.StreamMessage),
			model.CodeUnsupported, "Streaming is not supported")),
	of(only10, "cap-extended-undeclared", "The card does not mention the existing extended card.",
		onCard(offer("extendedAgentCard", false)), "req-capability-extended"),
	of(with10, "cap-extended-declared",
		"The card advertises an extended card, but requests for it are refused as not supported.", func() wire.Hooks {
			h := noExtendedCard()
			h.Card = offer("extendedAgentCard", true)
			return h
		}),
	of(anyAgent, "ext-uri-version", "The card declares an extension whose URI has no version.",
		onCard(offer("extensions", extensions("urn:example:seats", false)))),
	of(with10, "ext-required-missing", "The card requires an extension, but messages without it are answered.",
		requireSeats, "ext-required-missing-client", "ext-response-echo"),
	of(with10, "ext-required-missing-code",
		"The card requires an extension, and messages without it are refused with TaskNotCancelableError; "+
			"other calls are answered.", func() wire.Hooks {
			h := requireSeats()
			h.Admit = admitNone(calls(model.SendMessage), model.CodeTaskNotCancelable, "There is nothing to cancel")().Admit
			return h
		}, "ext-required-missing", "ext-required-missing-client"),
	of(only03, "ext-required-missing-0x", "The card requires an extension, but messages without it are answered.",
		requireSeats, "ext-required-missing-client", "ext-response-echo"),
	of(anyAgent, "ext-response-echo", "The card declares an extension, but no answer ever lists it.",
		func() wire.Hooks { return declareSeats(false) }),
	of(anyAgent, "ext-response-unrequested", "Results list an extension that was not requested.",
		onAnswer(isResult, listExtension("urn:example:meals:1"))),
	of(anyAgent, "ext-no-fallback", "The card declares an extension, but results list another version of it.",
		func() wire.Hooks {
			h := declareSeats(false)
			h.Answer = onAnswer(isResult, listExtension(strings.Replace(seats, "v1", "v2", 1)))().Answer
			return h
		}, "ext-response-unrequested"),
}

// noExtendedCard makes hooks that refuse the extended card as not supported.
var noExtendedCard = admitNone(knownClient, model.CodeUnsupported, "This agent has no extended card")

// knownClient fits requests for the extended card that authenticate: others are refused for that reason.
func knownClient(c *wire.Call) bool {
	return c.Op == model.GetExtendedCard && c.Request.Authorization != ""
}

// seats is an extension that no agent has.
const seats = "https://a2atap.example/extensions/seats/v1"

func requireSeats() wire.Hooks { return declareSeats(true) }

// declareSeats makes hooks by which both cards declare an extension.
func declareSeats(required bool) wire.Hooks {
	return onCards(capability("extensions", extensions(seats, required)))()
}

// listExtension makes answers list an extension as active.
func listExtension(uri string) func(*wire.Call, *wire.Answer) {
	return func(c *wire.Call, out *wire.Answer) {
		name := "A2A-Extensions"
		if _, old := c.Dialect.(dialect.V03); old {
			name = "X-A2A-Extensions"
		}
		out.Header.Set(name, uri)
	}
}

func extensions(uri string, required bool) []any {
	return []any{jsonvalue.Object{{"uri", uri}, {"required", required}}}
}

// offer makes the card declare a capability.
func offer(name string, value any) func(*wire.Answer) {
	return editCard(capability(name, value))
}

// capability sets a capability in a card.
func capability(name string, value any) editor {
	return func(o jsonvalue.Object) jsonvalue.Object { return withCapability(o, name, value) }
}

func withCapability(o jsonvalue.Object, name string, value any) jsonvalue.Object {
	c, _ := o.Get("capabilities")
	return o.With("capabilities", c.(jsonvalue.Object).With(name, value))
}
