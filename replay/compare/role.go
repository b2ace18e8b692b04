package compare

import (
	"iter"
	"strings"

	"a2atap/proxy/a2a"
)

// A Role is what an identifier identifies.
type Role uint8

// The roles. NoRole is a value that the protocol gives no meaning to; it is carried only if it is Opaque.
const (
	NoRole       Role = iota
	TaskID            //
	ContextID         // or the session of 0.1
	ArtifactID        // unique within its task
	ConfigID          // of a push notification config, unique within its task
	PageToken         //
	MessageID         //
	RequestID         // of JSON-RPC: its text is the raw JSON, since 1 and "1" differ
	ResourceName      // "tasks/ID/pushNotificationConfigs/ID", as the proto files of 0.x name things
)

var roleNames = [...]string{
	"value", "task id", "context id", "artifact id", "push config id", "page token",
	"message id", "JSON-RPC id", "resource name",
}

// String returns the role's name, such as "task id".
func (r Role) String() string { return roleNames[r] }

// A Site is a place in a JSON text with a whole value that may have to be carried.
type Site struct {
	Role    Role
	Pointer string // JSON Pointer (RFC 6901) from the root that was given
	Value   a2a.Value
}

// Text returns the site's value as tables of values know it: raw JSON for a RequestID, the string's text otherwise.
func (s Site) Text() string {
	if s.Role == RequestID {
		return string(s.Value.Raw())
	}
	return s.Value.Text()
}

// Sites yields the places of a request or answer in the order of the text. The call is the request, or the one that the
// answer answers; it tells what a member called "id" means. Free text is never among them: neither the text of parts
// nor descriptions nor the messages of errors.
func Sites(root a2a.Value, call *a2a.Call) iter.Seq[Site] {
	return func(yield func(Site) bool) {
		w := siteWalker{call: call, yield: yield}
		w.value(root, "", NoRole, isParams(call, root))
	}
}

// isParams reports whether the root itself holds the parameters: the body of an HTTP+JSON request, or the message of
// gRPC.
func isParams(call *a2a.Call, root a2a.Value) bool {
	return call != nil && (call.Binding == a2a.HTTPJSON || call.Binding == a2a.GRPC) && call.Params.Exists() &&
		string(root.Raw()) == string(call.Params.Raw())
}

type siteWalker struct {
	call  *a2a.Call
	yield func(Site) bool
	free  int // how many members of free content are around the value at hand
}

// value walks one value. It reports whether to continue.
func (w *siteWalker) value(v a2a.Value, at string, role Role, params bool) bool {
	switch v.Kind() {
	case a2a.String:
		return w.yield(Site{role, at, v})
	case a2a.Number:
		return role != RequestID || w.yield(Site{role, at, v})
	case a2a.Array:
		for i, e := range v.Elems() {
			if !w.value(e, a2a.Ptr(at, i), role, false) {
				return false
			}
		}
	case a2a.Object:
		return w.object(v, at, params)
	}
	return true
}

func (w *siteWalker) object(o a2a.Value, at string, params bool) bool {
	envelope := w.free == 0 && o.Has("jsonrpc")
	for name, v := range o.Members() {
		if isFreeText(name) {
			continue
		}
		free := isFreeContent(name)
		if free {
			w.free++
		}
		ok := w.value(v, a2a.Ptr(at, name), w.role(o, name, v, envelope, params), envelope && name == "params")
		if free {
			w.free--
		}
		if !ok {
			return false
		}
	}
	return true
}

// isFreeText reports whether a member holds text for people, or bytes of a file.
func isFreeText(name string) bool {
	switch name {
	case "text", "raw", "bytes", "fileWithBytes", "description", "filename", "timestamp":
		return true
	}
	return false
}

// isFreeContent reports whether a member holds the agents' own content: the protocol gives names in it no meaning.
func isFreeContent(name string) bool {
	switch name {
	case "metadata", "data", "header", "error":
		return true
	}
	return false
}

func (w *siteWalker) role(o a2a.Value, name string, v a2a.Value, envelope, params bool) Role {
	if w.free > 0 {
		return NoRole
	}
	switch name {
	case "taskId", "referenceTaskIds":
		return TaskID
	case "contextId", "sessionId":
		return ContextID
	case "artifactId":
		return ArtifactID
	case "messageId":
		return MessageID
	case "pageToken", "nextPageToken":
		return PageToken
	case "pushNotificationConfigId":
		return ConfigID
	case "name", "parent":
		if strings.HasPrefix(v.Text(), "tasks/") {
			return ResourceName
		}
	case "id":
		if envelope {
			return RequestID
		}
		return w.idRole(o, params)
	}
	return NoRole
}

// idRole determines the role of "id" by the members next to it. Tasks have a status, and so does the status update of
// 0.1, whose id is also the task's; a push config has a URL.
func (w *siteWalker) idRole(o a2a.Value, params bool) Role {
	switch {
	case o.Has("status"), o.Has("artifact"), o.Has("pushNotificationConfig"):
		return TaskID
	case o.Has("url"):
		return ConfigID
	case !params || w.call == nil:
		return NoRole
	}
	switch w.call.Operation {
	case a2a.GetPushConfig, a2a.DeletePushConfig:
		if o.Has("taskId") { // 1.0 §3.1.8; in 0.x the id is the task's
			return ConfigID
		}
		return TaskID
	case a2a.GetTask, a2a.CancelTask, a2a.SubscribeToTask, a2a.CreatePushConfig, a2a.ListPushConfigs,
		a2a.SendMessage, a2a.SendStreamingMessage:
		return TaskID
	}
	return NoRole
}

// Opaque reports whether a value without a role looks generated: long enough to be unique, and neither a word nor a
// number, a time, an address or a version.
func Opaque(s string) bool {
	if len(s) < 12 || len(s) > 512 || strings.Contains(s, "://") || isTime(s) {
		return false
	}
	letters, digits := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			letters++
		case !strings.ContainsRune("-_.~+/=:", rune(c)):
			return false
		}
	}
	return letters > 0 && digits > 0 && !isWords(s)
}

// isTime reports whether the text begins with a date as in RFC 3339.
func isTime(s string) bool {
	return len(s) >= 10 && s[4] == '-' && s[7] == '-' && isDigits(s[:4]) && isDigits(s[5:7]) && isDigits(s[8:10])
}

// isWords reports whether the text is made of words and short numbers, such as "application/a2a+json" or "gpt-4-turbo":
// a chosen name.
func isWords(s string) bool {
	words, longest := 0, 0
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune("-_.~+/=:", r) }) {
		switch {
		case isDigits(part):
			if len(part) > 4 {
				return false
			}
		case isLetters(part):
			words++
			longest = max(longest, len(part))
		case len(part) > 4: // letters and digits mixed
			return false
		}
	}
	return words > 0 && longest >= 3
}

func isDigits(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return c < '0' || c > '9' })
}

func isLetters(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return c|0x20 < 'a' || c|0x20 > 'z' })
}
