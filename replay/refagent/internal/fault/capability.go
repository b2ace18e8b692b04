package fault

import (
	"strings"

	"a2atap/replay/refagent/internal/dialect"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of what the card offers or requires, and the agent does otherwise.
var capabilityFaults = []Fault{
	{
		Slug: "cap-streaming-unsupported", agents: only10,
		Also: []string{"req-capability-streaming", "req-capability-extended"},
		Doc:  "The card says that the agent does not stream, and it does.",
		hooks: func() wire.Hooks {
			h := admitNone(knownClient, func() *model.Failure {
				return model.Fail(model.CodeUnsupported,
					"This agent has no extended card")
			})()
			h.Card = editCard(func(o jsonvalue.Object) jsonvalue.Object {
				return withCapability(withCapability(o, "streaming", false), "extendedAgentCard", false)
			})
			return h
		},
	},
	{
		Slug: "cap-streaming-unsupported-0x", agents: []string{"spec03", "spec02", "spec01"},
		Also:  []string{"req-capability-streaming"},
		Doc:   "The card says that the agent does not stream, and it does.",
		hooks: func() wire.Hooks { return wire.Hooks{Card: offer("streaming", false)} },
	},
	{
		Slug: "cap-streaming-refused", agents: []string{"spec", "spec03", "spec02"},
		Doc: "The card says that the agent streams, and it refuses to.",
		hooks: admitNone(calls(model.StreamMessage),
			func() *model.Failure { return model.Fail(model.CodeUnsupported, "Streaming is not supported") }),
	},
	{
		Slug: "cap-extended-undeclared", agents: only10, Also: []string{"req-capability-extended"},
		Doc:   "The card does not mention the extended card that there is.",
		hooks: func() wire.Hooks { return wire.Hooks{Card: offer("extendedAgentCard", false)} },
	},
	{
		Slug: "cap-extended-declared", agents: with10,
		Doc: "The card advertises an extended card, and requests for it are refused as not supported.",
		hooks: func() wire.Hooks {
			h := admitNone(knownClient, func() *model.Failure {
				return model.Fail(model.CodeUnsupported,
					"This agent has no extended card")
			})()
			h.Card = offer("extendedAgentCard", true)
			return h
		},
	},
	{
		Slug: "ext-uri-version", agents: anyAgent,
		Doc: "The card declares an extension whose URI has no version.",
		hooks: func() wire.Hooks {
			return wire.Hooks{Card: offer("extensions", extensions("urn:example:seats", false))}
		},
	},
	{
		Slug: "ext-required-missing", agents: with10, Also: []string{"ext-required-missing-client", "ext-response-echo"},
		Doc:   "The card requires an extension, and messages without it are answered.",
		hooks: requireSeats,
	},
	{
		Slug: "ext-required-missing-code", agents: with10,
		Also: []string{"ext-required-missing", "ext-required-missing-client"},
		Doc: "The card requires an extension, and messages without it are refused as about something to cancel; " +
			"other calls are answered.",
		hooks: func() wire.Hooks {
			h := requireSeats()
			h.Admit = admitNone(calls(model.SendMessage),
				func() *model.Failure { return model.Fail(model.CodeTaskNotCancelable, "There is nothing to cancel") })().Admit
			return h
		},
	},
	{
		Slug: "ext-required-missing-0x", agents: only03, Also: []string{"ext-required-missing-client", "ext-response-echo"},
		Doc:   "The card requires an extension, and messages without it are answered.",
		hooks: requireSeats,
	},
	{
		Slug: "ext-response-echo", agents: anyAgent,
		Doc:   "The card declares an extension, and no answer ever lists it.",
		hooks: func() wire.Hooks { return declareSeats(false) },
	},
	{
		Slug: "ext-response-unrequested", agents: anyAgent,
		Doc:   "Results list an extension that nobody has asked for.",
		hooks: onAnswer(isResult, listExtension("urn:example:meals:1")),
	},
	{
		Slug: "ext-no-fallback", agents: anyAgent, Also: []string{"ext-response-unrequested"},
		Doc:   "Results list another version of an extension than clients ask for.",
		hooks: onAnswer(isResult, listExtension(strings.Replace(seats, "v1", "v2", 1))),
	},
}

// knownClient fits requests for the extended card that authenticate: the others are refused for that.
func knownClient(c *wire.Call) bool {
	return c.Op == model.GetExtendedCard && c.Request.Authorization != ""
}

// seats is an extension that no agent has.
const seats = "https://a2atap.example/extensions/seats/v1"

func requireSeats() wire.Hooks { return declareSeats(true) }

// declareSeats makes hooks by which both cards declare an extension.
func declareSeats(required bool) wire.Hooks {
	return wire.Hooks{Card: offer("extensions", extensions(seats, required)), Reply: func(_ *wire.Call, r *model.Reply) {
		if r.Card != nil {
			r.Card = withCapability(r.Card, "extensions", extensions(seats, required))
		}
	}}
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

// offer makes the card say something of a capability.
func offer(name string, value any) func(*wire.Answer) {
	return editCard(func(o jsonvalue.Object) jsonvalue.Object { return withCapability(o, name, value) })
}

func withCapability(o jsonvalue.Object, name string, value any) jsonvalue.Object {
	c, _ := o.Get("capabilities")
	return o.With("capabilities", c.(jsonvalue.Object).With(name, value))
}
