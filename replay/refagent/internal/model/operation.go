package model

import "a2atap/replay/refagent/internal/jsonvalue"

// An Operation is what a client asks for, named as A2A 1.0 §5.3 names it.
type Operation string

const (
	SendMessage      Operation = "SendMessage"
	StreamMessage    Operation = "SendStreamingMessage"
	GetTask          Operation = "GetTask"
	ListTasks        Operation = "ListTasks"
	CancelTask       Operation = "CancelTask"
	SubscribeTask    Operation = "SubscribeToTask"
	CreatePushConfig Operation = "CreateTaskPushNotificationConfig"
	GetPushConfig    Operation = "GetTaskPushNotificationConfig"
	ListPushConfigs  Operation = "ListTaskPushNotificationConfigs"
	DeletePushConfig Operation = "DeleteTaskPushNotificationConfig"
	GetExtendedCard  Operation = "GetExtendedAgentCard"
)

// A Request is one operation with its parameters, free of dialect and binding. Only what the operation has is set.
type Request struct {
	Op            Operation
	Tenant        string
	TaskID        string
	ConfigID      string
	Message       Message
	Accepts       []string // output modes
	Immediate     bool     // answer before the task is terminal or interrupted
	History       *int     // nil if the client sets no limit
	Metadata      jsonvalue.Object
	Push          *PushConfig // with a message, or to be created
	List          Listing
	Authorization string // the Authorization header
	User          string // the caller; empty unless the agent separates users
	Traceparent   string // the header of that name
	Base          string // URL under which the client reached the agent
}

// A Reply is the result of an operation: exactly one of its fields is set, or none for an empty result.
type Reply struct {
	Task    *Task
	Message *Message
	Page    *Page
	Config  *PushConfig
	Configs []PushConfig // not nil
	Card    jsonvalue.Object
	Stream  *Stream
}

// A Stream is the events that a streaming operation gives.
type Stream struct {
	First Event
	Rest  *Feed // nil if nothing follows
}

// A Dialect turns the JSON of one protocol version into requests, and replies into JSON. It has no state.
type Dialect interface {
	// Operation returns the operation of a JSON-RPC method.
	Operation(method string) (Operation, bool)
	// Decode reads the parameters of an operation: the params of JSON-RPC, or path, query and body of HTTP+JSON.
	Decode(op Operation, params jsonvalue.Object) (*Request, *Failure)
	// Result returns the JSON of a reply that is not a stream.
	Result(op Operation, r Reply) any
	// Event returns the JSON of one event, without the binding's envelope.
	Event(e Event) any
	// Code returns the JSON-RPC code of a failure.
	Code(f *Failure) int
	// Details returns an error's details in addition to code and message, or nil.
	Details(f *Failure) []any
	// Notification returns the body of a push notification, its media type, or ok false if none is due. The task is in
	// its state after the event.
	Notification(e Event, t Task) (body any, mediaType string, ok bool)
	// Authorization returns the value of the Authorization header of a push notification, or nothing.
	Authorization(c PushConfig) string
}

// IsPush reports whether an operation is one on push notification configs.
func (op Operation) IsPush() bool {
	return op == CreatePushConfig || op == GetPushConfig || op == ListPushConfigs || op == DeletePushConfig
}
