package a2a

// A PayloadKind is which protocol object an answer, event or notification holds.
type PayloadKind uint8

// The kinds of payloads.
const (
	NoPayload             PayloadKind = iota // no payload: no body, no result, or an unreadable one
	TaskPayload                              //
	MessagePayload                           //
	StatusPayload                            // a task status update event
	ArtifactPayload                          // a task artifact update event
	CardPayload                              //
	TaskListPayload                          //
	PushConfigPayload                        //
	PushConfigListPayload                    //
	NullPayload                              // null instead of an object, or where no content is expected
	ErrorPayload                             // an error instead of a payload
	UnknownPayload                           // something else
)

var payloadNames = [...]string{
	NoPayload: "nothing", TaskPayload: "Task", MessagePayload: "Message", StatusPayload: "TaskStatusUpdateEvent",
	ArtifactPayload: "TaskArtifactUpdateEvent", CardPayload: "AgentCard", TaskListPayload: "list of tasks",
	PushConfigPayload: "push notification config", PushConfigListPayload: "list of push notification configs",
	NullPayload: "null", ErrorPayload: "error", UnknownPayload: "unknown object",
}

// String returns the name of the object in the specification, such as "TaskStatusUpdateEvent", or words for it.
func (k PayloadKind) String() string {
	if int(k) < len(payloadNames) {
		return payloadNames[k]
	}
	return payloadNames[UnknownPayload]
}

// A Payload is the protocol object that an answer, an event or a notification holds.
type Payload struct {
	Kind     PayloadKind
	Value    Value    // the object itself, out of its wrapper
	Pointer  string   // of Value
	Wrapper  Value    // the object around it; Absent unless Wrapped
	Wrapped  bool     // it was the member "task", "message", "statusUpdate" or "artifactUpdate" of another object
	Dialects Dialects // possible dialects by its own shape and spelling; empty if these do not show any
	Contrary Mark     // the first thing in it that contradicts Dialects; zero if nothing does
}

// A wrapper is a member that 1.0, and the proto JSON of 0.x, put around an object (A2A 1.0 §3.2.3).
type wrapper struct {
	name     string
	kind     PayloadKind
	inResult string // its pointer if it is in the result of JSON-RPC
}

var wrappers = [...]wrapper{
	{"task", TaskPayload, "/result/task"},
	{"message", MessagePayload, "/result/message"},
	{"statusUpdate", StatusPayload, "/result/statusUpdate"},
	{"artifactUpdate", ArtifactPayload, "/result/artifactUpdate"},
	{"status_update", StatusPayload, "/result/status_update"}, // names of the proto file, which parsers take too
	{"artifact_update", ArtifactPayload, "/result/artifact_update"},
	{"msg", MessagePayload, "/result/msg"}, // the proto JSON of 0.2.2 to 0.2.5
}

// within returns the pointer of the member in the value at base.
func (w *wrapper) within(base string) string {
	if base == "/result" {
		return w.inResult
	}
	return base + "/" + w.name
}

// kindOfObject returns the kind according to the discriminator of 0.2 and 0.3.
func kindOfObject(v Value) PayloadKind {
	kind := v.Get("kind")
	switch {
	case kind.Is("task"):
		return TaskPayload
	case kind.Is("message"):
		return MessagePayload
	case kind.Is("status-update"):
		return StatusPayload
	case kind.Is("artifact-update"):
		return ArtifactPayload
	}
	return NoPayload
}

// findObject finds the task, message or update in a value, in any dialect. base is the pointer of the value.
func findObject(v Value, base string) Payload {
	p := Payload{Value: v, Pointer: base}
	if p.Kind = kindOfObject(v); p.Kind != NoPayload {
		return p
	}
	if isBare(v) {
		p.Kind = kindOfBare(v)
		return p
	}
	for i := range wrappers {
		w := &wrappers[i]
		if inner := v.Get(w.name); inner.Kind() == Object {
			return Payload{Kind: w.kind, Value: inner, Pointer: w.within(base), Wrapper: v, Wrapped: true}
		}
	}
	p.Kind = kindOfBare(v)
	return p
}

// isBare reports whether an object is certainly a task or an update itself, not a wrapper, whatever other members it
// has. Agents of 0.1 put the message that was sent next to the status of a task.
func isBare(v Value) bool {
	return v.Get("status").Has("state") && (v.Has("id") || v.Has("taskId")) || v.Get("artifact").Kind() == Object
}

// kindOfBare identifies an object without a discriminator by its members. An object that may be a Task or a status
// update of 0.1 counts as a Task.
func kindOfBare(v Value) PayloadKind {
	has := v.Has
	switch {
	case has("artifact"):
		return ArtifactPayload
	case has("role") && (has("parts") || has("content")), has("messageId"):
		return MessagePayload
	case has("status") && (has("taskId") || has("final")):
		return StatusPayload
	case has("status") && has("id"),
		has("id") && (has("contextId") || has("sessionId") || has("artifacts") || has("history")):
		return TaskPayload
	case v.Get("status").Has("state"):
		return TaskPayload
	case has("final") && (has("id") || has("taskId")): // unique to this kind
		return StatusPayload
	}
	return UnknownPayload
}

// isUpdate0_1 reports whether a bare object in a stream is a status update of 0.1. Streams of 0.1 contain only updates,
// and an update without "final" looks like a Task.
func isUpdate0_1(v Value) bool {
	for _, name := range [...]string{"sessionId", "artifacts", "history", "contextId"} {
		if v.Has(name) {
			return false
		}
	}
	return v.Has("id") && v.Has("status") && !hasPrefix(v.Get("status").Get("state"), "TASK_STATE_")
}

// spelt1_0 reports whether the content is spelled as in 1.0: its state, its role, or the first part of its artifact.
func (p *Payload) spelt1_0() bool {
	if p.Kind == ArtifactPayload {
		part := ArtifactUpdate{p.Value}.Artifact().Parts().Elem(0)
		return first(part, "text", "raw", "url", "data").Exists() && !part.Has("kind") && !part.Has("type")
	}
	return hasPrefix(p.Value.Get("status").Get("state"), "TASK_STATE_") || hasPrefix(p.Value.Get("role"), "ROLE_")
}

// spelt0x reports whether the content is spelled as before 1.0: it has a discriminator, or its state or role is in
// lower case.
func (p *Payload) spelt0x() bool {
	if kindOfObject(p.Value) != NoPayload {
		return true
	}
	_, state := ParseState(p.Value.Get("status").Get("state").Text())
	_, role := ParseRole(p.Value.Get("role").Text())
	return (state || role) && !p.spelt1_0()
}

// Settle resolves a bare object that was taken for 0.1 only for lack of other evidence. It assigns the dialects that
// the call certainly used: an agent that uses features of 0.2 and 0.3 speaks one of these.
func (p *Payload) Settle(asked Dialects) {
	if p.Dialects == onlyV0_1 && !p.Wrapped && !asked.Empty() && asked.Intersect(kindDialects) == asked &&
		!(p.Kind == TaskPayload && has0_1Members(p.Value)) && !p.namesByID() {
		p.Dialects, p.Contrary = asked, Mark{}
	}
}

// namesByID reports whether an update names its task as only 0.1 does.
func (p *Payload) namesByID() bool {
	return (p.Kind == StatusPayload || p.Kind == ArtifactPayload) && p.Value.Has("id") && !p.Value.Has("taskId")
}

// weigh fills the dialects that the payload itself shows.
func (p *Payload) weigh(m marks, streams, sends bool) {
	switch p.Kind {
	case TaskPayload, MessagePayload, StatusPayload, ArtifactPayload:
	case CardPayload:
		legacy, modern := cardFaces(p.Value)
		p.Dialects = legacy | modern
		return
	default:
		return
	}
	if m.rpc {
		p.Dialects = m.in
		return
	}
	m.wrapped = p.Wrapped
	switch kind := p.Value.Get("kind"); {
	case !p.Wrapped && !m.rest && m.names1_0 && p.spelt1_0(), m.gets && m.names1_0 && p.spelt1_0():
		// Where 1.0 is asked for and written, "kind" is a leftover of an older version, and only the wrapper is
		// missing; a task that is read is bare in every version.
	case !p.Wrapped && kind.Kind() == String:
		m.add(byShape, kindDialects, kind)
	case p.Wrapped && m.older && !m.gets && p.spelt0x():
		m.add(byShape, kindDialects, p.Value) // 1.0 also wraps objects, but spells their contents differently
	case p.Wrapped && !m.rest && !m.gets:
		m.add(byShape, onlyV1_0, p.Value)
	case p.Wrapped && p.Value.Get("kind").Is("message"), p.Wrapped && p.Value.Get("kind").Is("task"):
		m.add(byShape, kindDialects, p.Value.Get("kind"))
	case !p.Wrapped && !m.rest && !m.names1_0:
		m.add(byShape, bareDialects(p.Kind, p.Value, streams || sends), p.Value)
	}
	switch p.Kind {
	case TaskPayload:
		m.task(Task{p.Value})
	case MessagePayload:
		m.message(Message{p.Value})
	case StatusPayload:
		m.status(StatusUpdate{p.Value}.Status())
	case ArtifactPayload:
		m.artifact(ArtifactUpdate{p.Value}.Artifact())
	}
	p.Dialects, p.Contrary = m.dialects()
}

// bareDialects returns the dialects of an object without "kind" and without a wrapper, over JSON-RPC: 0.1 has neither,
// nor contexts. Where 1.0 has bare tasks too, and where 0.1 shares its methods with 0.2 and 0.3, the object must have
// marks of 0.1.
func bareDialects(kind PayloadKind, v Value, sent bool) Dialects {
	for _, later := range [...]string{"contextId", "taskId", "messageId", "context_id", "task_id", "message_id"} {
		if v.Has(later) {
			return 0
		}
	}
	switch kind {
	case TaskPayload:
		if hasPrefix(v.Get("status").Get("state"), "TASK_STATE_") {
			return 0
		}
		if sent || has0_1Members(v) {
			return onlyV0_1
		}
	case StatusPayload, ArtifactPayload:
		if v.Has("id") && !hasPrefix(v.Get("status").Get("state"), "TASK_STATE_") {
			return onlyV0_1
		}
	}
	return 0
}

// has0_1Members reports whether a bare task has members that exist only in 0.1.
func has0_1Members(v Value) bool {
	if v.Has("sessionId") || hasStatusHistory(v) {
		return true
	}
	t := Task{v}
	artifact := Artifact{t.Get("artifacts").Elem(0)}
	if artifact.Has("index") && !artifact.Has("artifactId") {
		return true
	}
	for _, parts := range [...]Parts{
		artifact.Parts(), t.StatusMessage().Parts(),
		{Message{t.Get("history").Elem(0)}.Parts().Value},
	} {
		if parts.Elem(0).Get("type").Kind() == String {
			return true
		}
	}
	return false
}
