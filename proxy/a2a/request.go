package a2a

import "strings"

// DecodeRequest decodes the call in a request. Its dialects are those that the request alone shows: the protocol gives
// priority to the method, then the body, then the version that the client names, then the path. Known reports whether
// the URL is known to serve A2A. That decides doubtful cases: tasks/list, the path /tasks/7, an unreadable body.
//
// DecodeRequest returns the zero Call for requests that are not A2A: any OPTIONS or HEAD; other protocols over
// JSON-RPC, such as MCP, which shares the methods tasks/get, tasks/list and tasks/cancel; and requests without any sign
// of A2A.
func DecodeRequest(r Request, known Known) Call {
	switch r.Method {
	case "OPTIONS", "HEAD", "CONNECT", "TRACE":
		return Call{}
	}
	path, query := splitTarget(r.Target)
	c := Call{Query: query}
	c.Version = c.version(&r)
	if c.decodeGRPC(&r, path) {
		return c
	}
	switch {
	case r.Doc != nil:
		c.Doc = *r.Doc
	case len(r.Body) > 0:
		c.Doc = Parse(r.Body)
	}
	if !c.decode(&r, path, &known) {
		return Call{}
	}
	c.Streams = c.Operation.Streams()
	return c
}

func (c *Call) decode(r *Request, path string, known *Known) bool {
	if r.ForWebhook && (!known.Bindings.Has(JSONRPC) || !c.decodeRPC(r, known)) {
		return c.decodeDelivery(r)
	}
	if r.Method == "GET" && (known.Card || IsCardPath(path)) {
		c.Operation, c.Evidence = GetCard, Hint
		c.Dialects = cardPathDialects(path)
		return true
	}
	if r.Method == "POST" && len(known.Bases) > 0 && !known.Bindings.Has(JSONRPC) && c.Doc.Root.Has("jsonrpc") {
		// The card defines the address, so the body is wrong there.
		if posted := *c; posted.decodeREST(r, path, known) && posted.Operation != NoOperation {
			*c = posted
			return true
		}
	}
	if (r.Method != "GET" || len(r.Body) > 0) && c.decodeRPC(r, known) {
		c.readAddress(path)
		return true
	}
	if c.decodeREST(r, path, known) {
		return true
	}
	if r.Method != "POST" {
		return false
	}
	if c.decodeNotification(r) {
		return true
	}
	if known.Bindings.Has(JSONRPC) && !isMCP(r, c.Doc.Root) && !hasForeignMethod(c.Doc.Root) {
		c.Binding, c.Dialects = JSONRPC, known.Dialects
		c.ID = c.Doc.Root.Get("id")
		return true
	}
	return false
}

// version returns the version that the client names (A2A 1.0 §3.6.1).
func (c *Call) version(r *Request) string {
	if v := strings.TrimSpace(r.header("A2A-Version")); v != "" {
		return v
	}
	if c.Query == "" {
		return ""
	}
	v, _ := queryValue(c.Query, "A2A-Version")
	return strings.TrimSpace(v)
}

// decodeDelivery decodes a request to a webhook as a notification, whatever its contents.
func (c *Call) decodeDelivery(r *Request) bool {
	if !IsNotification(r.Method, &c.Doc) {
		return false
	}
	if c.decodeNotification(r) {
		return true
	}
	c.Operation, c.TaskID = Webhook, TaskIDIn(c.Doc.Root)
	return true
}

// IsNotification reports whether a request to a known webhook is a notification: a POST that is not a challenge, or
// another method with the contents of a notification.
func IsNotification(method string, doc *Doc) bool {
	if method == "POST" {
		return !isChallenge(doc.Root)
	}
	switch p := ReadWebhook(doc); p.Kind {
	case TaskPayload, MessagePayload, StatusPayload, ArtifactPayload:
		return !p.Dialects.Empty() || p.Value.Get("status").Has("state")
	}
	return false
}

// isChallenge reports whether a request asks the receiver of a webhook to prove that it wants notifications.
func isChallenge(root Value) bool {
	for _, name := range [...]string{"challenge", "validationToken", "validation_token", "verificationToken"} {
		if root.Get(name).Kind() == String {
			return true
		}
	}
	return false
}

// maxSought bounds the values that TaskIDIn looks at.
const maxSought = 1000

// TaskIDIn returns the first task id in a value of any shape, as taskId or task_id, or as the id of a member task, or
// "".
func TaskIDIn(v Value) string {
	left := maxSought
	return soughtIn(v, false, &left)
}

func soughtIn(v Value, isTask bool, left *int) string {
	for name, m := range v.Members() {
		if *left--; *left < 0 {
			return ""
		}
		switch {
		case name == "taskId", name == "task_id", name == "id" && (isTask || v.Get("status").Has("state")):
			if id := m.Text(); id != "" {
				return id
			}
		}
		if id := soughtIn(m, name == "task", left); id != "" {
			return id
		}
	}
	for _, m := range v.Elems() {
		if *left--; *left < 0 {
			return ""
		}
		if id := soughtIn(m, false, left); id != "" {
			return id
		}
	}
	return ""
}

// decodeNotification recognizes a notification to an unknown webhook by its body, if the body can be nothing else.
func (c *Call) decodeNotification(r *Request) bool {
	root := c.Doc.Root
	p := decodeNotification(root)
	switch p.Kind {
	case TaskPayload:
		t := Task{p.Value}
		bare := !p.Wrapped && !root.Get("kind").Is("task")
		marked := hasPrefix(t.Status().StateValue(), "TASK_STATE_") || t.Has("contextId") || t.Has("sessionId") ||
			r.header("X-A2A-Notification-Token") != ""
		if t.ID() == "" || t.StateText() == "" || bare && !marked {
			return false
		}
		c.TaskID, c.ContextID = t.ID(), t.ContextID()
	case MessagePayload:
		m := Message{p.Value}
		if !isMessage(p.Value) || m.Role() == UserRole && r.header("X-A2A-Notification-Token") == "" { // a user's is one to an agent
			return false
		}
		c.TaskID, c.ContextID, c.MessageID = m.TaskID(), m.ContextID(), m.ID()
	case StatusPayload:
		u := StatusUpdate{p.Value}
		if u.TaskID() == "" || u.StateText() == "" && !isEarlyNotification(root) {
			return false
		}
		c.TaskID, c.ContextID = u.TaskID(), u.ContextID()
	case ArtifactPayload:
		u := ArtifactUpdate{p.Value}
		if u.TaskID() == "" || u.Artifact().Kind() != Object {
			return false
		}
		c.TaskID, c.ContextID = u.TaskID(), u.ContextID()
	default:
		return false
	}
	c.Operation, c.Dialects, c.Evidence = Webhook, p.Dialects, Decisive
	return true
}

// isMessage reports whether a value is certainly an A2A message: it has a role that A2A knows, and parts.
func isMessage(v Value) bool {
	m := Message{v}
	return m.Role() != NoRole && m.Parts().Kind() == Array
}
