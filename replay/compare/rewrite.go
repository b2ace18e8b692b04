package compare

import (
	"encoding/json"
	"net/url"
	"strings"

	"a2atap/proxy/a2a"
)

// A Substitute returns the replacement of a value. The text is Site.Text; for a RequestID the replacement must also be
// JSON. It reports false to keep the value.
type Substitute func(role Role, text string) (replacement string, ok bool)

// RewriteJSON returns a JSON text with the values at its sites substituted. All other bytes stay unchanged. A text
// that is not JSON is returned unchanged.
func RewriteJSON(data []byte, call *a2a.Call, substitute Substitute) []byte {
	doc := a2a.Parse(data)
	if doc.Err != nil || doc.InvalidUTF8 >= 0 {
		return data
	}
	return splice(data, doc.Root, call, substitute)
}

// splice returns the text with the sites below root substituted.
func splice(data []byte, root a2a.Value, call *a2a.Call, substitute Substitute) []byte {
	var out []byte
	done := 0
	for site := range Sites(root, call) {
		text, ok := substituted(site, substitute)
		if !ok {
			continue
		}
		start := site.Value.Offset()
		out = append(append(out, data[done:start]...), text...)
		done = start + len(site.Value.Raw())
	}
	if done == 0 {
		return data
	}
	return append(out, data[done:]...)
}

// substituted returns the JSON that replaces a site.
func substituted(site Site, substitute Substitute) ([]byte, bool) {
	was := site.Text()
	now, ok := was, false
	switch site.Role {
	case ResourceName:
		now, ok = rewriteSegments(was, true, plainSegment, substitute)
	default:
		now, ok = substitute(site.Role, was)
	}
	if !ok || now == was {
		return nil, false
	}
	if site.Role == RequestID {
		return []byte(now), json.Valid([]byte(now))
	}
	quoted, err := json.Marshal(now)
	return quoted, err == nil
}

// RewriteTarget returns the target of a request, in origin form, with the segments of its path and the values of its
// query substituted. Parts that stay keep their spelling.
func RewriteTarget(target string, call *a2a.Call, substitute Substitute) string {
	path, query, hasQuery := strings.Cut(target, "?")
	if now, ok := rewriteSegments(path, call.Binding == a2a.HTTPJSON, escapedSegment, substitute); ok {
		path = now
	}
	if !hasQuery {
		return path
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, found := strings.Cut(pair, "=")
		text, err := url.QueryUnescape(value)
		if !found || err != nil {
			continue
		}
		if now, ok := substitute(queryRole(name), text); ok && now != text {
			pairs[i] = name + "=" + url.QueryEscape(now)
		}
	}
	return path + "?" + strings.Join(pairs, "&")
}

func queryRole(name string) Role {
	switch name {
	case "contextId":
		return ContextID
	case "pageToken":
		return PageToken
	case "taskId", "id":
		return TaskID
	}
	return NoRole
}

// A spelling is the way in which the segments of a path are escaped.
type spelling struct {
	read  func(string) (string, error)
	write func(string) string
}

var (
	escapedSegment = spelling{url.PathUnescape, url.PathEscape}
	plainSegment   = spelling{ // resource names are not URLs
		func(s string) (string, error) { return s, nil }, func(s string) string { return s },
	}
)

// rewriteSegments substitutes the segments of a path. With routes, the segment after "tasks" is the id of a task, and
// the one after "pushNotificationConfigs" the id of a config.
func rewriteSegments(path string, routes bool, spelt spelling, substitute Substitute) (string, bool) {
	segments := strings.Split(path, "/")
	changed := false
	for i, segment := range segments {
		role, verb := NoRole, ""
		if i > 0 && routes {
			role = segmentRole(segments[i-1])
		}
		if role == TaskID {
			segment, verb = cutVerb(segment)
		}
		text, err := spelt.read(segment)
		if err != nil || text == "" {
			continue
		}
		if now, ok := substitute(role, text); ok && now != text {
			segments[i] = spelt.write(now) + verb
			changed = true
		}
	}
	return strings.Join(segments, "/"), changed
}

func segmentRole(before string) Role {
	switch before {
	case "tasks", "task":
		return TaskID
	case "pushNotificationConfigs", "pushNotifications":
		return ConfigID
	}
	return NoRole
}

// cutVerb removes the verb from the last segment of "tasks/ID:cancel". Any other colon belongs to the id.
func cutVerb(segment string) (id, verb string) {
	for _, verb := range []string{":cancel", ":subscribe"} {
		if id, ok := strings.CutSuffix(segment, verb); ok {
			return id, verb
		}
	}
	return segment, ""
}
