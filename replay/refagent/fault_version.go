package refagent

// Faults of the version that an agent answers in, and of those that it knows.
var versionFaults = []Fault{
	{
		Slug: "ver-unsupported-error", agents: with10,
		Doc: "A version that nobody knows is refused as an internal error.",
		hooks: onAnswer(func(c *call) bool { return isRPCFailure(c) && c.failure.code == codeVersion }, editError(func(o object) object {
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
}

// answerIn puts results of an operation over JSON-RPC into another dialect.
func answerIn(d dialect, op operation) func(*call, *reply) {
	return func(c *call, _ *reply) {
		if c.op == op && c.binding == jsonRPC {
			c.dialect = d
		}
	}
}
