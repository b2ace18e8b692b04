package a2a

import (
	"strconv"
	"strings"
)

// An EntityType is which object of the protocol an Entity is.
type EntityType uint8

// The types of objects that a Walker finds.
const (
	NoEntity             EntityType = iota
	TaskEntity                      //
	StatusEntity                    // a TaskStatus
	MessageEntity                   //
	PartEntity                      //
	FileEntity                      // the member "file" of a part before 1.0
	ArtifactEntity                  //
	StatusUpdateEntity              // a TaskStatusUpdateEvent
	ArtifactUpdateEntity            // a TaskArtifactUpdateEvent
	WrapperEntity                   // around one of the above: StreamResponse, SendMessageResponse of 1.0, or the like
	TaskListEntity                  // the answer to ListTasks of 1.0
	ParamsEntity                    // the parameters of a request, unless they are one of the following
	ConfigurationEntity             // the configuration of a send
	PushContainerEntity             // the task id and the push config, before 1.0
	PushConfigEntity                //
	AuthenticationEntity            // of a push config
	PushConfigListEntity            // the answer to ListPushConfigs of 1.0, and of the proto JSON before

	entityTypes = iota
)

var entityNames = [...]string{
	NoEntity:             "nothing",
	TaskEntity:           "Task",
	StatusEntity:         "TaskStatus",
	MessageEntity:        "Message",
	PartEntity:           "Part",
	FileEntity:           "file",
	ArtifactEntity:       "Artifact",
	StatusUpdateEntity:   "TaskStatusUpdateEvent",
	ArtifactUpdateEntity: "TaskArtifactUpdateEvent",
	WrapperEntity:        "response",
	TaskListEntity:       "list of tasks",
	ParamsEntity:         "parameters",
	ConfigurationEntity:  "send configuration",
	PushContainerEntity:  "TaskPushNotificationConfig",
	PushConfigEntity:     "push notification config",
	AuthenticationEntity: "authentication",
	PushConfigListEntity: "list of push notification configs",
}

// String returns the name of the object in the specification, such as "TaskStatus", or words for it.
func (t EntityType) String() string {
	if int(t) < len(entityNames) {
		return entityNames[t]
	}
	return entityNames[NoEntity]
}

// A Holder is the kind of object that contains an entity: for a part, a message or an artifact.
type Holder uint8

// The holders.
const (
	InRequest  Holder = iota // the client sends it
	InResult                 // the subject of an answer, event or notification; no message or artifact of a task
	InStatus                 // the message in a status, and its parts
	InHistory                // a message of a history, and its parts
	InArtifact               // an artifact, and its parts
)

// An Entity is an object at a typed position of the protocol, so not inside metadata, data, or params of extensions or
// errors, which are free. Its Value is always a JSON object. Any other value at such a position is not visited: rules
// check it together with the object that contains it.
type Entity struct {
	Value
	Type   EntityType
	In     Holder
	Within EntityType // the type of Owner; NoEntity at the top
	Owner  Value      // the object that has it as a member, or in a list that is a member
	Index  int        // in that list; 0 outside a list
	Author Side       // the author: of a history's messages, the agent wrote only those in its own role

	walker     *Walker
	odd        Oddity
	classified bool
}

// Pointer returns the JSON Pointer of the object, much faster than Value.Pointer. It is valid during the visit only.
func (o *Entity) Pointer() string {
	var b strings.Builder
	b.WriteString(o.walker.base)
	for _, s := range o.walker.path[:o.walker.depth] {
		b.WriteByte('/')
		if s.name != "" {
			b.WriteString(s.name)
		} else {
			b.WriteString(strconv.Itoa(s.index))
		}
	}
	return b.String()
}

// Echoed reports whether the object is part of a message that the client had sent and the agent repeats.
func (o *Entity) Echoed() bool { return o.In == InHistory && o.Author == Client }

// WrittenBy sets the author of the object and of its contents, if the visitor knows better than the walk.
func (o *Entity) WrittenBy(s Side) {
	o.Author, o.walker.author = s, s
}

// A Walker visits the typed objects of a message one after another, outer ones first, in time linear in the message and
// without allocating. It is for one goroutine and may be reused.
type Walker struct {
	// Visit is called for each object. The object is valid only during the call, its Value as long as any other Value.
	// Visit reports whether to visit the objects inside, too.
	Visit func(*Entity) bool

	entity Entity
	base   string
	path   [12]step // deeper than types nest
	depth  int
	author Side
	in     Dialects
	modern bool // 1.0
	proto  bool // the names of the proto JSON of 0.x are possible

	operation Operation
	names     [entityTypes]names
}

// A step is one token of a JSON Pointer.
type step struct {
	name  string // needs no escapes; empty for an index
	index int
}

// Request visits the objects in a request's parameters.
func (w *Walker) Request(c *Call) {
	if c.Binding == NoBinding || !w.begin(Client, c, c.Dialects) {
		return
	}
	if !w.modern && c.Operation == ListTasks { // no version before 1.0 has it
		return
	}
	if w.base = ""; c.Binding == JSONRPC {
		w.base = "/params"
	}
	o := Entity{Value: c.Params, Type: ParamsEntity, In: InRequest}
	if c.Operation == CreatePushConfig {
		o.Type = w.pushType()
	}
	w.walk(o)
}

// Payload visits the protocol object in an answer, event or notification of one of the dialects. Answers to an
// operation that no dialect has are untyped, and before 1.0 the forms of task lists and notifications are undefined.
func (w *Walker) Payload(p *Payload, c *Call, in Dialects) {
	if !w.begin(Agent, c, in) || !w.modern && (c.Operation == Webhook || p.Kind == TaskListPayload) {
		return
	}
	o := Entity{Value: p.Value, In: InResult}
	if p.Wrapped {
		w.base = p.Pointer[:strings.LastIndexByte(p.Pointer, '/')]
		o.Owner, o.Within = p.Wrapper, WrapperEntity
		if !w.visit(&Entity{Value: p.Wrapper, Type: WrapperEntity, In: InResult}) {
			return
		}
	}
	if p.Kind == UnknownPayload {
		w.brokenWrapper(p)
		return
	}
	w.base = p.Pointer
	switch p.Kind {
	case TaskPayload:
		o.Type = TaskEntity
	case MessagePayload:
		o.Type = MessageEntity
	case StatusPayload:
		o.Type = StatusUpdateEntity
	case ArtifactPayload:
		o.Type = ArtifactUpdateEntity
	case TaskListPayload:
		o.Type = TaskListEntity
	case PushConfigPayload:
		o.Type = w.pushType()
	case PushConfigListPayload:
		o.Type = PushConfigListEntity
	}
	w.walk(o)
}

// brokenWrapper visits an object that would be the wrapper of a Task, a Message or an update if its content were one.
func (w *Walker) brokenWrapper(p *Payload) {
	if w.operation != Webhook && w.operation != SubscribeToTask && !w.operation.Sends() || !w.modern && !w.proto {
		return
	}
	for i := range wrappers {
		if v := p.Value.Get(wrappers[i].name); v.Exists() && !v.IsNull() {
			w.base = p.Pointer
			w.visit(&Entity{Value: p.Value, Type: WrapperEntity, In: InResult})
			return
		}
	}
}

// begin prepares the walker for a message, and reports whether the message has types: a call of an operation in 1.0 or
// earlier.
func (w *Walker) begin(author Side, c *Call, in Dialects) bool {
	w.depth, w.author, w.operation, w.in = 0, author, c.Operation, in
	w.modern = in == onlyV1_0
	w.proto = c.Binding != JSONRPC && !w.modern
	return c.Operation != NoOperation && c.Batch == nil && !in.Empty() && (w.modern || !in.Has(V1_0))
}

// pushType returns the type that push operations return: 1.0 has no container.
func (w *Walker) pushType() EntityType {
	if w.modern {
		return PushConfigEntity
	}
	return PushContainerEntity
}

// historyType returns the type of the entries in a task's history.
func (w *Walker) historyType(o *Entity) EntityType {
	if w.in.Has(V0_1) && hasStatusHistory(o.Value) {
		return StatusEntity
	}
	return MessageEntity
}

// walk visits an object and its contents.
func (w *Walker) walk(o Entity) {
	if o.Value.Kind() == Array { // lists of push configs before 1.0
		if o.Type == PushConfigListEntity && !w.modern {
			w.elements(&o, o.Value, PushContainerEntity, o.In)
		}
		return
	}
	if o.Value.Kind() != Object || o.Type == NoEntity {
		return
	}
	if !w.visit(&o) {
		return
	}
	switch o.Type {
	case TaskEntity:
		w.member(&o, "status", StatusEntity, o.In)
		w.list(&o, "artifacts", ArtifactEntity, InArtifact)
		w.list(&o, "history", w.historyType(&o), InHistory)
	case StatusEntity:
		w.member(&o, w.either(&o, "message", "update"), MessageEntity, InStatus)
	case MessageEntity, ArtifactEntity:
		w.list(&o, w.either(&o, "parts", "content"), PartEntity, o.In)
	case PartEntity:
		if !w.modern {
			w.member(&o, "file", FileEntity, o.In)
		}
	case StatusUpdateEntity:
		w.member(&o, "status", StatusEntity, o.In)
	case ArtifactUpdateEntity:
		w.member(&o, "artifact", ArtifactEntity, InArtifact)
	case TaskListEntity:
		w.list(&o, "tasks", TaskEntity, o.In)
	default:
		w.parameters(&o)
	}
}

// parameters visits the members of a parameters object.
func (w *Walker) parameters(o *Entity) {
	switch o.Type {
	case ParamsEntity:
		if !w.operation.Sends() {
			return
		}
		w.member(o, w.either(o, "message", "request"), MessageEntity, o.In)
		w.member(o, "configuration", ConfigurationEntity, o.In)
		if !w.modern { // 0.1
			w.member(o, "pushNotification", PushConfigEntity, o.In)
		}
	case ConfigurationEntity:
		if w.modern {
			w.member(o, "taskPushNotificationConfig", PushConfigEntity, o.In)
		} else {
			w.member(o, w.either(o, "pushNotificationConfig", "pushNotification"), PushConfigEntity, o.In)
		}
	case PushContainerEntity:
		w.container(o)
	case PushConfigEntity:
		w.member(o, "authentication", AuthenticationEntity, o.In)
	case PushConfigListEntity:
		w.list(o, "configs", w.pushType(), o.In)
	}
}

// container visits the push config in a container. Bodies of HTTP+JSON are found with one more object around it, or
// without any.
func (w *Walker) container(o *Entity) {
	switch inner := o.Get("config"); {
	case !w.proto || o.Has("pushNotificationConfig"):
		w.member(o, "pushNotificationConfig", PushConfigEntity, o.In)
	case inner.Has("pushNotificationConfig"):
		w.member(o, "config", PushContainerEntity, o.In)
	case inner.Has("url"):
		w.member(o, "config", PushConfigEntity, o.In)
	case o.Has("url"):
		w.member(o, "authentication", AuthenticationEntity, o.In)
	}
}

// either returns the name of a member whose name differs in the proto JSON of 0.x.
func (w *Walker) either(o *Entity, name, proto string) string {
	if w.proto {
		if v := o.Get(name); !v.Exists() || v.IsNull() {
			return proto
		}
	}
	return name
}

// member visits a member if it is an object.
func (w *Walker) member(o *Entity, name string, t EntityType, in Holder) {
	w.inside(o, step{name: name}, o.Get(name), t, in)
}

// list visits the elements of a member that is an array.
func (w *Walker) list(o *Entity, name string, t EntityType, in Holder) {
	list := o.Get(name)
	if list.Kind() != Array {
		return
	}
	w.path[w.depth] = step{name: name}
	w.depth++
	w.elements(o, list, t, in)
	w.depth--
}

func (w *Walker) elements(o *Entity, list Value, t EntityType, in Holder) {
	for i, v := range list.Elems() {
		w.inside(o, step{index: i}, v, t, in)
	}
}

func (w *Walker) inside(o *Entity, at step, v Value, t EntityType, in Holder) {
	if v.Kind() != Object {
		return
	}
	author := w.author
	if in == InHistory && t == MessageEntity {
		w.author = Client
		if role := v.Get("role"); role.Is("agent") || role.Is("ROLE_AGENT") {
			w.author = Agent
		}
	}
	w.path[w.depth] = at
	w.depth++
	w.walk(Entity{Value: v, Type: t, In: in, Within: o.Type, Owner: o.Value, Index: at.index})
	w.depth--
	w.author = author
}

// visit shows an entity, which has its author and place from the walk.
func (w *Walker) visit(o *Entity) bool {
	w.entity = *o
	w.entity.Author, w.entity.walker = w.author, w
	return w.Visit(&w.entity)
}
