package refagent

import "sync"

// Faults of push notification configs.
var pushFaults = []Fault{
	{
		Slug: "push-unsupported-error", agents: only10,
		Doc:   "The card offers no push notifications, and every operation on their configs succeeds.",
		Also:  []string{"req-capability-push"}, // of a client that asks all the same
		hooks: denyPushEverywhere,
	},
	{
		Slug: "push-unsupported-error-0x", agents: only03,
		Doc:   "The card offers no push notifications, and every operation on their configs succeeds.",
		Also:  []string{"req-capability-push"}, // of a client that asks all the same
		hooks: denyPushEverywhere,
	},
	{
		Slug: "push-create-echo", agents: withTask,
		Doc:   "A config that is created is confirmed for another URL.",
		hooks: onConfig(createPushConfig, func(c *pushConfig) { c.url += "/elsewhere" }),
	},
	{
		Slug: "push-create-id", agents: only10,
		Doc:   "A config that is created is confirmed without its id.",
		Also:  []string{"req-push-get-id", "req-push-delete-id", "rest-route-known"}, // of a client that has no id to send
		hooks: onResult(createPushConfig, func(v any) any { return v.(object).without("id") }),
	},
	{
		Slug: "result-object", agents: withTask,
		Doc:   "A config that is created is confirmed with a text.",
		hooks: onResult(createPushConfig, func(any) any { return "done" }),
	},
	{
		Slug: "push-create-id-kept", agents: only03,
		Doc:   "A config that is created is confirmed under another id than the client chose.",
		hooks: onConfig(createPushConfig, func(c *pushConfig) { c.id += "-ours" }),
	},
	{
		Slug: "push-get-details", agents: only10,
		Doc:   "A config that is read comes without its URL.",
		hooks: onResult(getPushConfig, func(v any) any { return v.(object).without("url") }),
	},
	{
		Slug: "push-get-missing", agents: only10,
		Doc:   "A config that was deleted can still be read.",
		hooks: keepDeleted(getPushConfig),
	},
	{
		Slug: "push-get-id-match", agents: withTask,
		Doc:   "A config that is read has another id than was asked for.",
		hooks: onConfig(getPushConfig, func(c *pushConfig) { c.id += "-other" }),
	},
	{
		Slug: "push-list-shape", agents: only03,
		Doc:   "The configs of a task are listed as an object of 1.0.",
		hooks: onResult(listPushConfigs, func(v any) any { return object{{"configs", v}} }),
	},
	{
		Slug: "push-list-shape-v1", agents: only10,
		Doc: "The configs of a task are listed as an array of 0.3.",
		hooks: onResult(listPushConfigs, func(v any) any {
			configs, _ := v.(object).get("configs")
			return configs
		}),
	},
	{
		Slug: "push-list-complete", agents: only10,
		Doc: "The list of a task's configs is always empty.",
		hooks: func() hooks {
			return hooks{reply: func(c *call, r *reply) {
				if c.op == listPushConfigs {
					r.configs = []pushConfig{}
				}
			}}
		},
	},
	{
		Slug: "push-list-no-deleted", agents: only10,
		Doc:   "A config that was deleted is still listed.",
		hooks: keepDeleted(listPushConfigs),
	},
	{
		Slug: "push-delete-result", agents: only03,
		Doc:   "The deletion of a config is confirmed with true.",
		hooks: onResult(deletePushConfig, func(any) any { return true }),
	},
	{
		Slug: "push-delete-idempotent", agents: only10,
		Doc:   "A config that is gone cannot be deleted again.",
		hooks: refuseSecondDelete,
	},
}

func denyPush(o object) object {
	c, _ := o.get("capabilities")
	return o.with("capabilities", c.(object).with("pushNotifications", false))
}

// denyPushEverywhere says so in both cards.
func denyPushEverywhere() hooks {
	return hooks{card: editCard(denyPush), reply: func(_ *call, r *reply) {
		if r.card != nil {
			r.card = denyPush(r.card)
		}
	}}
}

// onConfig makes hooks that edit the config with which an operation is answered.
func onConfig(op operation, edit func(c *pushConfig)) func() hooks {
	return func() hooks {
		return hooks{reply: func(c *call, r *reply) {
			if c.op == op && r.config != nil {
				edit(r.config)
			}
		}}
	}
}

// onResult makes hooks that edit the JSON with which an operation is answered, whatever is around it.
func onResult(op operation, edit func(v any) any) func() hooks {
	return onAnswer(func(c *call) bool { return c.op == op && isResult(c) }, func(c *call, out *answer) {
		if !isRPC(c) {
			out.body = edit(out.body)
			return
		}
		o := out.body.(object)
		result, _ := o.get("result")
		out.body = o.with("result", edit(result))
	})
}

// keepDeleted makes hooks that remember all configs, and show those that are gone to an operation.
func keepDeleted(op operation) func() hooks {
	return func() hooks {
		var mu sync.Mutex
		kept := make(map[string]pushConfig)
		return hooks{
			refuse: func(c *call, f *failure) *failure {
				mu.Lock()
				defer mu.Unlock()
				if _, known := kept[c.request.taskID+"/"+c.request.configID]; known && c.op == getPushConfig &&
					op == getPushConfig {
					return nil
				}
				return f
			},
			reply: func(c *call, r *reply) {
				mu.Lock()
				defer mu.Unlock()
				switch {
				case c.op == createPushConfig:
					kept[r.config.taskID+"/"+r.config.id] = *r.config
				case c.op == getPushConfig && op == getPushConfig:
					if config, known := kept[c.request.taskID+"/"+c.request.configID]; known {
						r.config = &config
					}
				case c.op == listPushConfigs && op == listPushConfigs:
					r.configs = addMissing(r.configs, kept, c.request.taskID)
				}
			},
		}
	}
}

// addMissing adds the kept configs of a task that are not in a list.
func addMissing(list []pushConfig, kept map[string]pushConfig, task string) []pushConfig {
	there := make(map[string]bool)
	for _, c := range list {
		there[c.id] = true
	}
	for _, c := range kept {
		if c.taskID == task && !there[c.id] {
			list = append(list, c)
		}
	}
	return list
}

// refuseSecondDelete makes hooks that remember which configs were deleted.
func refuseSecondDelete() hooks {
	var mu sync.Mutex
	gone := make(map[string]bool)
	return hooks{
		admit: func(c *call) *failure {
			mu.Lock()
			defer mu.Unlock()
			if c.op == deletePushConfig && gone[c.request.taskID+"/"+c.request.configID] {
				return invalidParams(violation{"id", "names no config"})
			}
			return nil
		},
		reply: func(c *call, r *reply) {
			mu.Lock()
			defer mu.Unlock()
			switch c.op {
			case createPushConfig:
				delete(gone, r.config.taskID+"/"+r.config.id)
			case deletePushConfig:
				gone[c.request.taskID+"/"+c.request.configID] = true
			}
		},
	}
}
