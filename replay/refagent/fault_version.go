package refagent

// Faults of the version that an agent answers in, and of those that it knows.
var versionFaults = []Fault{
	{
		Slug: "ver-unsupported-error", agents: with10,
		Doc: "A version that nobody knows is refused as an internal error.",
		hooks: onAnswer(func(c *call) bool { return isRPCFailure(c) && c.failure.code == codeVersion },
			editError(func(o object) object {
				return o.with("code", codeInternal).without("data")
			})),
	},
	{
		Slug: "ver-supported-refused", agents: with10,
		Doc:   "Lists of tasks are refused, since the version that the card declares is not supported.",
		hooks: admitNone(calls(listTasks), func() *failure { return fail(codeVersion, "A2A version 1.0 is not supported") }),
	},
	{
		Slug: "ver-semantics", agents: only10,
		Doc:   "Messages of 1.0 over JSON-RPC are answered in 0.3.",
		hooks: func() hooks { return hooks{reply: answerIn(v03{}, sendMessage)} },
	},
	{
		Slug: "ver-empty-means-03", agents: only03, Also: []string{"rpc-method-known"},
		Doc:   "Messages of 0.3 are answered in 1.0.",
		hooks: func() hooks { return hooks{reply: answerIn(v10{}, sendMessage)} },
	},
	{
		Slug: "version-semantics-mixed", agents: []string{"spec01"}, Also: []string{"unknown-field"},
		Doc:   "Parts in answers of 0.1 say kind, as later versions have it, for type.",
		hooks: onAnswer(isRPCResult, func(_ *call, out *answer) { out.body = sayKind(out.body) }),
	},
}

// sayKind renames the discriminator of all parts in a JSON tree.
func sayKind(v any) any {
	switch v := v.(type) {
	case object:
		renamed := make(object, len(v))
		for i, m := range v {
			renamed[i] = member{m.name, sayKind(m.value)}
			if m.name == "type" {
				renamed[i].name = "kind"
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
func answerIn(d dialect, op operation) func(*call, *reply) {
	return func(c *call, _ *reply) {
		if c.op == op && c.binding == jsonRPC {
			c.dialect = d
		}
	}
}
