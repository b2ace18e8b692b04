package a2a

import "strings"

// A routeRow is an operation over HTTP+JSON: its method and the end of its path, below an interface's URL.
type routeRow struct {
	operation   Operation
	method      string
	path        string // {task} and {config} are escaped ids
	dialects    Dialects
	distinctive bool // no other protocol is likely to have the path
}

// routes has the routes of all operations. Longer or more specific routes come first; among the routes of one
// operation, clients should use the first (A2A 0.3 §3.5.6, 1.0 §5.3 and §11.3, and the proto files). In 0.x they are
// below "/v1".
var routes = [...]routeRow{
	{GetPushConfig, "GET", "/tasks/{task}/pushNotificationConfigs/{config}", sinceV0_2, true},
	{DeletePushConfig, "DELETE", "/tasks/{task}/pushNotificationConfigs/{config}", sinceV0_2, true},
	{CreatePushConfig, "POST", "/tasks/{task}/pushNotificationConfigs", sinceV0_2, true},
	{ListPushConfigs, "GET", "/tasks/{task}/pushNotificationConfigs", sinceV0_2, true},
	{SendMessage, "POST", "/message:send", sinceV0_2, true},
	{SendStreamingMessage, "POST", "/message:stream", sinceV0_2, true},
	{CancelTask, "POST", "/tasks/{task}:cancel", sinceV0_2, false},
	{SubscribeToTask, "POST", "/tasks/{task}:subscribe", sinceV0_2, false},
	{SubscribeToTask, "GET", "/tasks/{task}:subscribe", sinceV0_2, false}, // so the proto file
	{GetTask, "GET", "/tasks/{task}", sinceV0_2, false},
	{ListTasks, "GET", "/tasks", sinceV0_2, false},
	{GetExtendedCard, "GET", "/extendedAgentCard", onlyV1_0, true},
	{GetExtendedCard, "GET", "/card", kindDialects, false},
	{GetExtendedCard, "GET", "/agent/authenticatedExtendedCard", Of(V0_2), true}, // next to the JSON-RPC URL (0.2.1 to 0.2.6 §9.1)
}

// misspelled are the names of lists in the routes of push configs that the proto files of 0.x misspell.
var misspelled = map[string]string{"task": "tasks", "pushNotifications": "pushNotificationConfigs"}

// Route returns the HTTP method and the path of the operation over HTTP+JSON, below the URL of an interface. The path
// has {task} and {config} where escaped ids belong. It returns "" for an operation without a route.
func (o Operation) Route(d Dialect) (method, path string) {
	for i := range routes {
		row := &routes[i]
		switch {
		case row.operation != o || !row.dialects.Has(d):
		case d == V1_0:
			return row.method, row.path
		default:
			return row.method, "/v1" + row.path
		}
	}
	return "", ""
}

// A route is the end of a path that HTTP+JSON gives a meaning to.
type route struct {
	operation   Operation // NoOperation if the HTTP method is not one of the route's
	start       int       // where in the path it begins
	task        string    // task id, unescaped
	config      string    // push config id, unescaped
	dialects    Dialects  // that have it, regardless of the path before it
	distinctive bool      // no other protocol is likely to have it
	message     bool      // it sends a message
}

// findRoute looks for a route at the end of an escaped path. A slash after it does not count.
func findRoute(method, path string) (found route, ok bool) {
	path = strings.TrimSuffix(path, "/")
	for i := range routes {
		row := &routes[i]
		if i == 0 || row.path != routes[i-1].path {
			if ok {
				break
			}
			found, ok = row.match(path)
		}
		if ok && row.method == method {
			found.operation = row.operation
			break
		}
	}
	return found, ok
}

// match reads the end of an escaped path as the path of the row.
func (row *routeRow) match(path string) (r route, ok bool) {
	r = route{dialects: row.dialects, distinctive: row.distinctive, message: row.operation.Sends()}
	for rest := row.path; rest != ""; {
		var want, segment string
		rest, want = cutLast(rest)
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return r, false
		}
		path, segment = path[:i], path[i+1:]
		switch {
		case want[0] == '{':
			// A colon that is escaped, or not followed by a known verb, is part of the id.
			name, verb, _ := strings.Cut(want, "}")
			if segment, ok = strings.CutSuffix(segment, verb); !ok {
				return r, false
			}
			if name == "{task" {
				r.task = unescapePath(segment)
			} else {
				r.config = unescapePath(segment)
			}
		case unescapePath(segment) == want:
		case row.operation.Push() && misspelled[segment] == want:
			r.dialects = kindDialects
		default:
			return r, false
		}
	}
	r.start = len(path)
	// Other protocols have cards, too.
	return r, row.path != "/card" || strings.HasSuffix(path, "/v1")
}

// RoutePrefix returns the part before the route in the escaped path of an HTTP+JSON call, without a slash at its end,
// and whether the path has a route. Without a card, a2atap cannot know where an interface ends and its tenant begins,
// nor whether "v1" belongs to the interface or to the route of 0.x; RoutePrefix assigns "v1" to the route.
func RoutePrefix(path string) (prefix string, ok bool) {
	r, ok := findRoute("", path)
	return strings.TrimSuffix(path[:r.start], "/v1"), ok
}

// RouteMethods returns the HTTP methods that the route at the end of an escaped path accepts in any dialect, or nil
// without a route.
func RouteMethods(path string) []string {
	var methods []string
	for _, method := range [...]string{"GET", "POST", "DELETE"} {
		if r, ok := findRoute(method, path); ok && r.operation != NoOperation {
			methods = append(methods, method)
		}
	}
	return methods
}

// looksLikeRoute reports whether a path below a known interface is meant for A2A although it is not a valid route.
func looksLikeRoute(rest string) bool {
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "/v1"), "/")
	first, _, _ := strings.Cut(rest, "/")
	name, _, _ := strings.Cut(first, ":")
	switch name {
	case "message", "tasks", "task", "extendedAgentCard":
		return true
	}
	return false
}
