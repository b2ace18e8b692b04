package reach

import (
	"bytes"
	"net/url"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// maxQuoted bounds the bytes of an answer in which RouteInID looks for an id.
const maxQuoted = 4 << 10

// RouteInID returns the path after the task's id in a call over HTTP+JSON, such as ":subscribe" or
// "/pushNotificationConfigs", if the error in its answer quotes both as one id. The agent then has no route for the
// operation, and its route for tasks takes the rest of the path for an id. An answer that only repeats the path does
// not show that.
func RouteInID(o *analysis.Observation) (rest string, ok bool) {
	x := o.Exchange
	if x.Call.Binding != a2a.HTTPJSON || o.Answer.Err == nil || x.Call.TaskID == "" {
		return "", false
	}
	if rest = afterID(x); rest == "" {
		return "", false
	}
	body := string(bytes.ReplaceAll(o.Body[:min(len(o.Body), maxQuoted)], []byte(`\/`), []byte("/")))
	whole, _ := url.PathUnescape(x.Path)
	text := strings.ReplaceAll(strings.ReplaceAll(body, x.Path, ""), whole, "")
	before, after, quoted := strings.Cut(text, x.Call.TaskID+rest)
	if !quoted {
		before, after, quoted = strings.Cut(text, x.Call.TaskID+escapeRoute.Replace(rest))
	}
	if name, isPath := strings.CutSuffix(before, "/"); isPath { // a name such as tasks/ID, or the end of another path
		above, isName := strings.CutSuffix(name, "tasks")
		quoted = quoted && isName && !strings.HasSuffix(above, "/")
	}
	speaksOfTask := o.Answer.Err.Name == a2a.TaskNotFound || strings.Contains(strings.ToLower(before+after), "task")
	return rest, quoted && speaksOfTask
}

// escapeRoute escapes the text after an id as if it were part of the id.
var escapeRoute = strings.NewReplacer(":", "%3A", "/", "%2F")

// afterID returns the text after the task's id in the route of a call, up to the next slash; empty without any.
func afterID(x *analysis.Exchange) string {
	_, named, _ := strings.Cut(x.Call.Route, "/")
	path, err := url.PathUnescape(named)
	rest, ok := strings.CutPrefix(path, x.Call.TaskID)
	if err != nil || !ok || len(rest) < 2 {
		return ""
	}
	if i := strings.IndexByte(rest[1:], '/'); i >= 0 {
		rest = rest[:i+1]
	}
	return rest
}
