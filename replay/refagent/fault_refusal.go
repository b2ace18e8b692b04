package refagent

// Faults of refusals for the wrong reason, and of what a task's history says of itself.
var refusalFaults = []Fault{
	{
		Slug: "id-task-history-consistent", agents: withTask,
		Doc: "The agent's own messages in a history name another task.",
		hooks: func() hooks {
			return hooks{reply: func(c *call, r *reply) {
				if r.task == nil {
					return
				}
				history := append([]message(nil), r.task.history...)
				for i := range history {
					if history[i].role == roleAgent {
						history[i].taskID = "another-task"
					}
				}
				r.task.history = history
			}}
		},
	},
	{
		Slug: "error-internal-for-named-case", agents: withTask,
		Doc: "A task that is not found cannot be canceled for an internal error.",
		hooks: func() hooks {
			return hooks{refuse: func(c *call, f *failure) *failure {
				if c.op == cancelTask && f.code == codeTaskNotFound {
					return fail(codeInternal, "Something went wrong")
				}
				return f
			}}
		},
	},
	{
		Slug: "push-valid-config-refused", agents: only03,
		Doc: "Push configs are refused for want of a member that nobody else knows.",
		hooks: func() hooks {
			return hooks{admit: func(c *call) *failure {
				if c.op != createPushConfig {
					return nil
				}
				return invalidParams(violation{"retries", "is missing"})
			}}
		},
	},
}
