package refagent

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"a2atap/replay/refagent/internal/dialect"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// A restRoute is an HTTP+JSON path with the operations of its verbs, and the parameters that the path binds.
type restRoute struct {
	verbs map[string]model.Operation
	bound jsonvalue.Object
}

var (
	sendRoute    = map[string]model.Operation{http.MethodPost: model.SendMessage}
	streamRoute  = map[string]model.Operation{http.MethodPost: model.StreamMessage}
	tasksRoute   = map[string]model.Operation{http.MethodGet: model.ListTasks}
	taskRoute    = map[string]model.Operation{http.MethodGet: model.GetTask}
	cancelRoute  = map[string]model.Operation{http.MethodPost: model.CancelTask}
	configsRoute = map[string]model.Operation{
		http.MethodGet:  model.ListPushConfigs,
		http.MethodPost: model.CreatePushConfig,
	}
	configRoute = map[string]model.Operation{
		http.MethodGet:    model.GetPushConfig,
		http.MethodDelete: model.DeletePushConfig,
	}
	cardRoute = map[string]model.Operation{http.MethodGet: model.GetExtendedCard}
	// The specification's text has POST, the proto GET; both are served.
	subscribeRoute = map[string]model.Operation{http.MethodGet: model.SubscribeTask, http.MethodPost: model.SubscribeTask}
)

// routes10 reads a path, still escaped, below the interface's URL (A2A 1.0 §11.3).
func routes10(path string) (restRoute, bool) {
	switch path {
	case "message:send":
		return restRoute{verbs: sendRoute}, true
	case "message:stream":
		return restRoute{verbs: streamRoute}, true
	case "tasks":
		return restRoute{verbs: tasksRoute}, true
	case "extendedAgentCard":
		return restRoute{verbs: cardRoute}, true
	}
	segments := strings.Split(path, "/")
	if segments[0] != "tasks" || slices.Contains(segments, "") {
		return restRoute{}, false
	}
	for i, s := range segments {
		if i == 1 && len(segments) == 2 {
			continue // may end in a verb
		}
		segments[i], _ = url.PathUnescape(s)
	}
	switch {
	case len(segments) == 2:
		return taskRoutes(segments[1])
	case len(segments) == 3 && segments[2] == "pushNotificationConfigs":
		return restRoute{configsRoute, jsonvalue.Object{{"taskId", segments[1]}}}, true
	case len(segments) == 4 && segments[2] == "pushNotificationConfigs":
		return restRoute{configRoute, jsonvalue.Object{{"taskId", segments[1]}, {"id", segments[3]}}}, true
	}
	return restRoute{}, false
}

// taskRoutes parses an id that a verb may follow. Only a literal colon before a known verb separates; ids may contain
// colons.
func taskRoutes(segment string) (restRoute, bool) {
	verbs := taskRoute
	if id, ok := strings.CutSuffix(segment, ":cancel"); ok {
		segment, verbs = id, cancelRoute
	} else if id, ok := strings.CutSuffix(segment, ":subscribe"); ok {
		segment, verbs = id, subscribeRoute
	}
	id, err := url.PathUnescape(segment)
	return restRoute{verbs, jsonvalue.Object{{"id", id}}}, err == nil && id != ""
}

// A restBinding implements an agent's HTTP+JSON binding.
type restBinding struct {
	dialect model.Dialect
	routes  func(path string) (restRoute, bool)         // below the interface's URL, still escaped
	failed  func(d model.Dialect, f *model.Failure) any // the body of an error
	ownType bool                                        // answers bear A2A's own media type
}

// rest10 is HTTP+JSON as 1.0 has it.
var rest10 = &restBinding{dialect: dialect.V10{}, routes: routes10, failed: failed10, ownType: true}

// failed10 is google.rpc.Status as JSON (A2A 1.0 §11.6).
func failed10(d model.Dialect, f *model.Failure) any {
	return jsonvalue.Object{{"error", jsonvalue.Object{
		{"code", f.HttpStatus()},
		{"status", f.StatusName()},
		{"message", f.Message},
	}.
		List("details", d.Details(f))}}
}
