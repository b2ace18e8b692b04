package refagent

// An operation is what a client asks for, named as A2A 1.0 §5.3 names it.
type operation string

const (
	sendMessage      operation = "SendMessage"
	streamMessage    operation = "SendStreamingMessage"
	getTask          operation = "GetTask"
	listTasks        operation = "ListTasks"
	cancelTask       operation = "CancelTask"
	subscribeTask    operation = "SubscribeToTask"
	createPushConfig operation = "CreateTaskPushNotificationConfig"
	getPushConfig    operation = "GetTaskPushNotificationConfig"
	listPushConfigs  operation = "ListTaskPushNotificationConfigs"
	deletePushConfig operation = "DeleteTaskPushNotificationConfig"
	getExtendedCard  operation = "GetExtendedAgentCard"
)

// A request is one operation with its parameters, free of dialect and binding. Only what the operation has is set.
type request struct {
	op            operation
	tenant        string
	taskID        string
	configID      string
	message       message
	accepts       []string // output modes
	immediate     bool     // answer before the task is terminal or interrupted
	history       *int     // nil if the client sets no limit
	metadata      object
	push          *pushConfig // with a message, or to be created
	list          listing
	authorization string // the Authorization header
	traceparent   string // the header of that name
	base          string // URL under which the client reached the agent
}

// A reply is what an operation gives: exactly one of its fields is set, or none where there is nothing to say.
type reply struct {
	task    *task
	message *message
	page    *page
	config  *pushConfig
	configs []pushConfig // not nil
	card    object
	stream  *stream
}

// A stream is the events that a streaming operation gives.
type stream struct {
	first event
	rest  *feed // nil if nothing follows
}

// A dialect turns the JSON of one protocol version into requests, and replies into JSON. It has no state.
type dialect interface {
	// operation returns what a JSON-RPC method asks for.
	operation(method string) (operation, bool)
	// decode reads the parameters of an operation: the params of JSON-RPC, or path, query and body of HTTP+JSON.
	decode(op operation, params object) (*request, *failure)
	// result returns the JSON of a reply that is no stream.
	result(op operation, r reply) any
	// event returns the JSON of one event, without the binding's envelope.
	event(e event) any
	// code returns the JSON-RPC code of a failure.
	code(f *failure) int
	// details returns what an error says beyond code and message, or nil.
	details(f *failure) []any
	// notification returns the body of a push notification, its media type, or ok false if none is due.
	// The task is as it stood after the event.
	notification(e event, t task) (body any, mediaType string, ok bool)
	// authorization returns the value of the Authorization header of a push notification, or nothing.
	authorization(c pushConfig) string
}

// isPush says whether an operation is one on push notification configs.
func (op operation) isPush() bool {
	return op == createPushConfig || op == getPushConfig || op == listPushConfigs || op == deletePushConfig
}
