package fault

import (
	"sync"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of push notification configs.
var pushFaults = []AgentFault{
	{
		Slug: "push-unsupported-error", agents: only10,
		Doc:   "The card offers no push notifications, but every operation on their configs succeeds.",
		Also:  []string{"req-capability-push"}, // of a client that asks all the same
		hooks: denyPushEverywhere,
	},
	{
		Slug: "push-unsupported-error-0x", agents: only03,
		Doc:   "The card offers no push notifications, but every operation on their configs succeeds.",
		Also:  []string{"req-capability-push"}, // of a client that asks all the same
		hooks: denyPushEverywhere,
	},
	of(anyAgeTask, "push-create-echo", "A created config is returned with another URL.",
		onConfig(model.CreatePushConfig, func(c *model.PushConfig) { c.URL += "/elsewhere" })),
	{
		Slug: "push-create-id", agents: only10,
		Doc:   "A created config is returned without its id.",
		Also:  []string{"req-push-get-id", "req-push-delete-id", "rest-route-known"}, // of a client that has no id to send
		hooks: onResult(model.CreatePushConfig, func(v any) any { return v.(jsonvalue.Object).Without("id") }),
	},
	of(anyAgeTask, "result-object", "The creation of a config is answered with a string.",
		onResult(model.CreatePushConfig, func(any) any { return "done" })),
	of(only03, "push-create-id-kept", "A created config is returned with another id than the client's.",
		onConfig(model.CreatePushConfig, func(c *model.PushConfig) { c.ID += "-ours" })),
	of(only10, "push-get-details", "A config that is read has no URL.",
		onResult(model.GetPushConfig, func(v any) any { return v.(jsonvalue.Object).Without("url") })),
	of(only10, "push-get-missing", "A config that was deleted can still be read.", keepDeleted(model.GetPushConfig)),
	of(withTask, "push-get-id-match", "A config that is read has another id than requested.",
		onConfig(model.GetPushConfig, func(c *model.PushConfig) { c.ID += "-other" })),
	of(only03, "push-list-shape", "The configs of a task are listed as an object of 1.0.",
		onResult(model.ListPushConfigs, func(v any) any { return jsonvalue.Object{{"configs", v}} })),
	of(only10, "push-list-shape-v1", "The configs of a task are listed as an array of 0.3.",
		onResult(model.ListPushConfigs, func(v any) any {
			configs, _ := v.(jsonvalue.Object).Get("configs")
			return configs
		})),
	of(only10, "push-list-complete", "The list of a task's configs is always empty.",
		onReply(func(c *wire.Call, r *model.Reply) {
			if c.Op == model.ListPushConfigs {
				r.Configs = []model.PushConfig{}
			}
		})),
	of(only10, "push-list-no-deleted", "A config that was deleted is still listed.", keepDeleted(model.ListPushConfigs)),
	of(only03, "push-delete-result", "The deletion of a config is answered with true.",
		onResult(model.DeletePushConfig, func(any) any { return true })),
	of(only10, "push-delete-idempotent", "Deleting a config a second time fails.", refuseSecondDelete),
}

// denyPushEverywhere makes both cards deny push notifications.
var denyPushEverywhere = onCards(capability("pushNotifications", false))

// onConfig makes hooks that edit the config that an operation returns.
func onConfig(op model.Operation, edit func(c *model.PushConfig)) func() wire.Hooks {
	return onReply(func(c *wire.Call, r *model.Reply) {
		if c.Op == op && r.Config != nil {
			edit(r.Config)
		}
	})
}

// onResult makes hooks that edit an operation's JSON result, regardless of its envelope.
func onResult(op model.Operation, edit func(v any) any) func() wire.Hooks {
	return onEachResult(op, func(_ *wire.Call, v any) any { return edit(v) })
}

// onEachResult is onResult for edits that depend on the call.
func onEachResult(op model.Operation, edit func(c *wire.Call, v any) any) func() wire.Hooks {
	return onAnswer(both(isResult, calls(op)), func(c *wire.Call, out *wire.Answer) {
		if !isRPC(c) {
			out.Body = edit(c, out.Body)
			return
		}
		o := out.Body.(jsonvalue.Object)
		result, _ := o.Get("result")
		out.Body = o.With("result", edit(c, result))
	})
}

// keepDeleted makes hooks that remember all configs, and include deleted ones in the results of an operation.
func keepDeleted(op model.Operation) func() wire.Hooks {
	return func() wire.Hooks {
		var mu sync.Mutex
		kept := make(map[string]model.PushConfig)
		return wire.Hooks{
			Refuse: func(c *wire.Call, f *model.Failure) *model.Failure {
				mu.Lock()
				defer mu.Unlock()
				if _, known := kept[c.Request.TaskID+"/"+c.Request.ConfigID]; known && c.Op == model.GetPushConfig &&
					op == model.GetPushConfig {
					return nil
				}
				return f
			},
			Reply: func(c *wire.Call, r *model.Reply) {
				mu.Lock()
				defer mu.Unlock()
				switch {
				case c.Op == model.CreatePushConfig:
					kept[r.Config.TaskID+"/"+r.Config.ID] = *r.Config
				case c.Op == model.GetPushConfig && op == model.GetPushConfig:
					if config, known := kept[c.Request.TaskID+"/"+c.Request.ConfigID]; known {
						r.Config = &config
					}
				case c.Op == model.ListPushConfigs && op == model.ListPushConfigs:
					r.Configs = addMissing(r.Configs, kept, c.Request.TaskID)
				}
			},
		}
	}
}

// addMissing adds the kept configs of a task that are not in a list.
func addMissing(list []model.PushConfig, kept map[string]model.PushConfig, task string) []model.PushConfig {
	there := make(map[string]bool)
	for _, c := range list {
		there[c.ID] = true
	}
	for _, c := range kept {
		if c.TaskID == task && !there[c.ID] {
			list = append(list, c)
		}
	}
	return list
}

// refuseSecondDelete makes hooks that remember which configs were deleted.
func refuseSecondDelete() wire.Hooks {
	var mu sync.Mutex
	gone := make(map[string]bool)
	return wire.Hooks{
		Admit: func(c *wire.Call) *model.Failure {
			mu.Lock()
			defer mu.Unlock()
			if c.Op == model.DeletePushConfig && gone[c.Request.TaskID+"/"+c.Request.ConfigID] {
				return model.InvalidParam("id", "names no config")
			}
			return nil
		},
		Reply: func(c *wire.Call, r *model.Reply) {
			mu.Lock()
			defer mu.Unlock()
			switch c.Op {
			case model.CreatePushConfig:
				delete(gone, r.Config.TaskID+"/"+r.Config.ID)
			case model.DeletePushConfig:
				gone[c.Request.TaskID+"/"+c.Request.ConfigID] = true
			}
		},
	}
}
