package a2a

import "strings"

// A route is the end of a path that HTTP+JSON gives a meaning to (A2A 0.3 §3.5.6, 1.0 §5.3 and §11.3, and the proto
// files).
type route struct {
	operation   Operation // NoOperation if the HTTP method is not one of the route's
	start       int       // where in the path it begins
	task        string    // task id, unescaped
	config      string    // push config id, unescaped
	dialects    Dialects  // that have it, whatever stands before it
	distinctive bool      // no other protocol is likely to have it
	message     bool      // it sends a message
}

// findRoute looks for a route at the end of an escaped path. A slash after it does not count.
func findRoute(method, path string) (route, bool) {
	path = strings.TrimSuffix(path, "/")
	var seg [4]string // from the end
	var start [4]int
	n := 0
	for end := len(path); n < len(seg) && end > 0; n++ {
		i := strings.LastIndexByte(path[:end], '/')
		if i < 0 {
			break
		}
		seg[n], start[n] = path[i+1:end], i
		end = i
	}
	switch {
	case n >= 4 && isPushList(seg[1]) && isTaskList(seg[3]):
		r := pushRoute(seg[1], seg[3], seg[2], start[3])
		r.config = unescapePath(seg[0])
		r.operation = byMethod(method, verb{"GET", GetPushConfig}, verb{"DELETE", DeletePushConfig})
		return r, true
	case n >= 3 && isPushList(seg[0]) && isTaskList(seg[2]):
		r := pushRoute(seg[0], seg[2], seg[1], start[2])
		r.operation = byMethod(method, verb{"POST", CreatePushConfig}, verb{"GET", ListPushConfigs})
		return r, true
	case n >= 2 && seg[1] == "tasks" && !isMessageVerb(seg[0]):
		r := taskRoute(method, seg[0])
		r.start = start[1]
		return r, true
	case n >= 1:
		return lastSegmentRoute(method, seg[0], seg[1], start)
	}
	return route{}, false
}

func isTaskList(segment string) bool { return segment == "tasks" || segment == "task" }

func isPushList(segment string) bool {
	return segment == "pushNotificationConfigs" || segment == "pushNotifications"
}

func isMessageVerb(segment string) bool {
	segment = unescapePath(segment)
	return segment == "message:send" || segment == "message:stream"
}

// pushRoute returns a route below "tasks/{id}/pushNotificationConfigs". The proto files of 0.x misspell both lists.
func pushRoute(list, tasks, task string, start int) route {
	in := kindDialects | onlyV1_0
	if list == "pushNotifications" || tasks == "task" {
		in = kindDialects
	}
	return route{start: start, task: unescapePath(task), dialects: in, distinctive: true}
}

// taskRoute returns the route "tasks/{id}", with or without a verb. A colon that no known verb follows is part of the
// id, and so is one that is escaped.
func taskRoute(method, segment string) route {
	r := route{dialects: kindDialects | onlyV1_0}
	if i := strings.LastIndexByte(segment, ':'); i >= 0 {
		switch segment[i+1:] {
		case "cancel":
			r.task, r.operation = unescapePath(segment[:i]), byMethod(method, verb{"POST", CancelTask})
			return r
		case "subscribe": // the prose says POST, the proto file GET
			r.task = unescapePath(segment[:i])
			r.operation = byMethod(method, verb{"POST", SubscribeToTask}, verb{"GET", SubscribeToTask})
			return r
		}
	}
	r.task, r.operation = unescapePath(segment), byMethod(method, verb{"GET", GetTask})
	return r
}

// lastSegmentRoute returns a route of one segment, or of a segment that needs the one before it.
func lastSegmentRoute(method, last, before string, start [4]int) (route, bool) {
	r := route{start: start[0], dialects: kindDialects | onlyV1_0}
	switch unescapePath(last) {
	case "message:send":
		r.operation, r.distinctive = byMethod(method, verb{"POST", SendMessage}), true
		r.message = true
	case "message:stream":
		r.operation, r.distinctive = byMethod(method, verb{"POST", SendStreamingMessage}), true
		r.message = true
	case "tasks":
		r.operation = byMethod(method, verb{"GET", ListTasks})
	case "extendedAgentCard":
		r.operation, r.dialects, r.distinctive = byMethod(method, verb{"GET", GetExtendedCard}), onlyV1_0, true
	case "card":
		r.operation, r.dialects = byMethod(method, verb{"GET", GetExtendedCard}), kindDialects
		return r, before == "v1"
	case "authenticatedExtendedCard": // 0.2.1 to 0.2.6 §9.1: beside the JSON-RPC URL
		r.operation, r.dialects, r.distinctive = byMethod(method, verb{"GET", GetExtendedCard}), Of(V0_2), true
		r.start = start[1]
		return r, before == "agent"
	default:
		return route{}, false
	}
	return r, true
}

// A verb is what a route asks under one HTTP method.
type verb struct {
	method    string
	operation Operation
}

func byMethod(method string, verbs ...verb) Operation {
	for _, v := range verbs {
		if v.method == method {
			return v.operation
		}
	}
	return NoOperation
}

// RoutePrefix returns what stands before the route in the escaped path of an HTTP+JSON call, without a slash at its
// end, and whether there is a route. Without a card it is not known where an interface ends and its tenant begins, nor
// whether "v1" belongs to the interface or to the route of 0.x; it is left to the route.
func RoutePrefix(path string) (prefix string, ok bool) {
	r, ok := findRoute("", path)
	return strings.TrimSuffix(path[:r.start], "/v1"), ok
}

// RouteMethods returns the HTTP methods that the route at the end of an escaped path takes in any dialect; none if
// there is no route.
func RouteMethods(path string) []string {
	var methods []string
	for _, method := range [...]string{"GET", "POST", "DELETE"} {
		if r, ok := findRoute(method, path); ok && r.operation != NoOperation {
			methods = append(methods, method)
		}
	}
	return methods
}

// looksLikeRoute reports whether a path below a known interface is meant for A2A although it is not one of its routes.
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
