package refagent

import (
	"net/http"
	"net/url"
	"strings"

	"a2atap/replay/refagent/internal/dialect"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// HTTP+JSON of 0.3 (A2A 0.3 §3.2.3, §3.5.6), in the two variants that agents use: the JSON of the JSON-RPC binding
// inside of wrappers, and the proto JSON of the gRPC definition.
var (
	rest03      = &restBinding{dialect: dialect.V03rest{}, routes: routes03(true), failed: failed03}
	rest03proto = &restBinding{dialect: dialect.V03proto{}, routes: routes03(false), failed: failed03}
)

// failed03 is the body of an error: 0.3 wants code and message, and leaves the shape free.
func failed03(d model.Dialect, f *model.Failure) any {
	return jsonvalue.Object{{"code", d.Code(f)}, {"message", f.Message}}
}

// routes03 returns the routes of 0.3. Only the text knows a list of tasks; the definition of gRPC does not.
func routes03(lists bool) func(path string) (restRoute, bool) {
	return func(path string) (restRoute, bool) {
		path, ok := strings.CutPrefix(path, "v1/")
		switch {
		case !ok:
			return restRoute{}, false
		case path == "message:send":
			return restRoute{verbs: sendRoute}, true
		case path == "message:stream":
			return restRoute{verbs: streamRoute}, true
		case path == "card":
			return restRoute{verbs: cardRoute}, true
		case path == "tasks" && lists:
			return restRoute{verbs: tasksRoute}, true
		}
		rest, ok := strings.CutPrefix(path, "tasks/")
		if !ok {
			return restRoute{}, false
		}
		segment, config, deeper := strings.Cut(rest, "/pushNotificationConfigs")
		if !deeper {
			return taskRoutes(segment)
		}
		task, err := url.PathUnescape(segment)
		if err != nil || task == "" || strings.Contains(segment, "/") {
			return restRoute{}, false
		}
		return configRoutes03(task, config)
	}
}

// configRoutes03 returns the routes of push configs; config is the part of the path after their collection.
func configRoutes03(task, config string) (restRoute, bool) {
	if config == "" {
		return restRoute{
			map[string]model.Operation{http.MethodGet: model.ListPushConfigs, http.MethodPost: model.CreatePushConfig},
			jsonvalue.Object{{"id", task}, {"taskId", task}},
		}, true
	}
	id, err := url.PathUnescape(strings.TrimPrefix(config, "/"))
	if err != nil || id == "" || !strings.HasPrefix(config, "/") || strings.Contains(id, "/") {
		return restRoute{}, false
	}
	return restRoute{configRoute, jsonvalue.Object{{"id", task}, {"pushNotificationConfigId", id}}}, true
}
