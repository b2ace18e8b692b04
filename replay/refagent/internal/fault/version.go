package fault

import (
	"a2atap/replay/refagent/internal/dialect"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of the version that an agent answers in, and of those that it knows.
var versionFaults = []AgentFault{
	of(with10, "ver-unsupported-error", "An unknown version is refused with an internal error.",
		onAnswer(func(c *wire.Call) bool { return isRPCFailure(c) && c.Failure.Code == model.CodeVersion },
			editError(func(o jsonvalue.Object) jsonvalue.Object {
				return o.With("code", model.CodeInternal).Without("data")
			}))),
	of(with10, "ver-supported-refused",
		"Lists of tasks are refused with an error that the card's version is not supported.",
		admitNone(calls(model.ListTasks), model.CodeVersion, "A2A version 1.0 is not supported")),
	of(only10, "ver-semantics", "Messages of 1.0 over JSON-RPC are answered in 0.3.",
		onReply(answerIn(dialect.V03{}, model.SendMessage))),
	of(only03, "ver-empty-means-03", "Messages of 0.3 are answered in 1.0.",
		onReply(answerIn(dialect.V10{}, model.SendMessage)), "rpc-method-known"),
	of([]string{"spec01"}, "version-semantics-mixed",
		"Parts in 0.1 answers have the member kind of later versions instead of type.",
		onAnswer(isRPCResult, func(_ *wire.Call, out *wire.Answer) { out.Body = sayKind(out.Body) }), "unknown-field"),
}

// sayKind renames the discriminator of all parts in a JSON tree.
func sayKind(v any) any {
	switch v := v.(type) {
	case jsonvalue.Object:
		renamed := make(jsonvalue.Object, len(v))
		for i, m := range v {
			renamed[i] = jsonvalue.Member{m.Name, sayKind(m.Value)}
			if m.Name == "type" {
				renamed[i].Name = "kind"
			}
		}
		return renamed
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = sayKind(e)
		}
		return list
	}
	return v
}

// answerIn puts results of an operation over JSON-RPC into another dialect.
func answerIn(d model.Dialect, op model.Operation) func(*wire.Call, *model.Reply) {
	return func(c *wire.Call, _ *model.Reply) {
		if c.Op == op && c.Binding == wire.JSONRPC {
			c.Dialect = d
		}
	}
}
