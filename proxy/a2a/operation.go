package a2a

import (
	"fmt"
	"strings"

	"a2atap/proxy/spelling"
)

// A Binding is how A2A travels over a transport.
type Binding uint8

// The bindings.
const (
	NoBinding Binding = iota // plain HTTP: card fetches and notifications
	JSONRPC
	HTTPJSON
	GRPC
)

var bindingNames = [...]string{NoBinding: "http", JSONRPC: "jsonrpc", HTTPJSON: "http+json", GRPC: "grpc"}

// String returns "http", "jsonrpc", "http+json" or "grpc".
func (b Binding) String() string {
	if int(b) < len(bindingNames) {
		return bindingNames[b]
	}
	return "unknown"
}

// ParseBinding returns the binding for its name in a card ("JSONRPC", "HTTP+JSON", "GRPC") or from String, in any case,
// and whether the name is known. Custom bindings are unknown.
func ParseBinding(name string) (Binding, bool) {
	for b, known := range bindingNames {
		if strings.EqualFold(name, known) {
			return Binding(b), true
		}
	}
	return NoBinding, false
}

// Bindings is a set of bindings.
type Bindings uint8

// BindingsOf returns the set of the bindings given.
func BindingsOf(bindings ...Binding) Bindings {
	var set Bindings
	for _, b := range bindings {
		set |= 1 << b
	}
	return set
}

// Has reports whether b is in the set.
func (s Bindings) Has(b Binding) bool { return s&(1<<b) != 0 }

// A Side is one of those who can break a rule.
type Side uint8

// The sides of an exchange.
const (
	Client   Side = iota // sends requests
	Agent                // answers them
	Receiver             // takes notifications at a webhook
	Nobody               // known to have broken the exchange
)

// String returns "client", "agent", "receiver" or "nobody".
func (s Side) String() string {
	switch s {
	case Client:
		return "client"
	case Agent:
		return "agent"
	case Receiver:
		return "receiver"
	case Nobody:
		return "nobody"
	}
	return "unknown"
}

// An Operation is what a request asks for, in any binding and dialect.
type Operation uint8

// The operations, by their names in A2A 1.0 §3.1.
const (
	NoOperation Operation = iota // not known, or no A2A call
	SendMessage
	SendStreamingMessage
	GetTask
	ListTasks
	CancelTask
	SubscribeToTask
	CreatePushConfig
	GetPushConfig
	ListPushConfigs
	DeletePushConfig
	GetExtendedCard
	GetCard // the public card is fetched
	Webhook // a notification is delivered
)

// An operationRow has the names of one operation in each dialect; an empty method means that the dialect lacks it.
type operationRow struct {
	name    string // in 1.0
	methods [4]string
	rpc     string // over gRPC of 0.3, if it is another name
	streams bool
}

// A2A 0.1 §7, 0.2 §7, 0.3 §3.5.6 and §7, 1.0 §5.3 and §9.4.
var operations = [...]operationRow{
	NoOperation: {},
	SendMessage: {
		name:    "SendMessage",
		methods: [4]string{"tasks/send", "message/send", "message/send", "SendMessage"},
	},
	SendStreamingMessage: {
		name:    "SendStreamingMessage",
		methods: [4]string{"tasks/sendSubscribe", "message/stream", "message/stream", "SendStreamingMessage"},
		streams: true,
	},
	GetTask:   {name: "GetTask", methods: [4]string{"tasks/get", "tasks/get", "tasks/get", "GetTask"}},
	ListTasks: {name: "ListTasks", methods: [4]string{"", "", "", "ListTasks"}},
	CancelTask: {
		name:    "CancelTask",
		methods: [4]string{"tasks/cancel", "tasks/cancel", "tasks/cancel", "CancelTask"},
	},
	SubscribeToTask: {
		name:    "SubscribeToTask",
		methods: [4]string{"tasks/resubscribe", "tasks/resubscribe", "tasks/resubscribe", "SubscribeToTask"},
		rpc:     "TaskSubscription",
		streams: true,
	},
	CreatePushConfig: {
		name: "CreateTaskPushNotificationConfig",
		methods: [4]string{
			"tasks/pushNotification/set", "tasks/pushNotificationConfig/set",
			"tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig",
		},
	},
	GetPushConfig: {
		name: "GetTaskPushNotificationConfig",
		methods: [4]string{
			"tasks/pushNotification/get", "tasks/pushNotificationConfig/get",
			"tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig",
		},
	},
	ListPushConfigs: {
		name: "ListTaskPushNotificationConfigs",
		methods: [4]string{
			"", "tasks/pushNotificationConfig/list", "tasks/pushNotificationConfig/list",
			"ListTaskPushNotificationConfigs",
		},
		rpc: "ListTaskPushNotificationConfig",
	},
	DeletePushConfig: {
		name: "DeleteTaskPushNotificationConfig",
		methods: [4]string{
			"", "tasks/pushNotificationConfig/delete", "tasks/pushNotificationConfig/delete",
			"DeleteTaskPushNotificationConfig",
		},
	},
	GetExtendedCard: {
		name:    "GetExtendedAgentCard",
		methods: [4]string{"", "", "agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"},
		rpc:     "GetAgentCard",
	},
	GetCard: {name: "GetAgentCard"},
	Webhook: {name: "PushNotification"},
}

// A methodSpelling is a further name of an operation. One without dialects is never taken for a JSON-RPC method: people
// write it in filters.
type methodSpelling struct {
	method    string
	operation Operation
	dialects  Dialects
}

var oddMethods = [...]methodSpelling{
	{"agent/authenticatedExtendedCard", GetExtendedCard, onlyV0_3}, // so spelt in 0.3 §11.1.3
	{"ListTaskPushNotificationConfig", ListPushConfigs, onlyV1_0},  // 1.0.0-rc
	{"tasks/list", ListTasks, kindDialects},                        // unreleased, and shared with other protocols
	{"TaskSubscription", SubscribeToTask, noDialects},              // gRPC before 1.0
	{"CreateTaskPushNotification", CreatePushConfig, noDialects},   // gRPC before 0.2.5
	{"GetTaskPushNotification", GetPushConfig, noDialects},
	{"ListTaskPushNotification", ListPushConfigs, noDialects},
	{"CreatePushConfig", CreatePushConfig, noDialects}, // short forms
	{"GetPushConfig", GetPushConfig, noDialects},
	{"ListPushConfigs", ListPushConfigs, noDialects},
	{"DeletePushConfig", DeletePushConfig, noDialects},
	{"GetExtendedCard", GetExtendedCard, noDialects},
	{"GetCard", GetCard, noDialects},
	{"Webhook", Webhook, noDialects},
}

// String returns the name of the operation in A2A 1.0, such as "SubscribeToTask". For fetches of the public card and
// for notifications, which are not operations there, it returns "GetAgentCard" and "PushNotification", and for
// NoOperation "".
func (o Operation) String() string { return o.row().name }

func (o Operation) row() *operationRow {
	if int(o) < len(operations) {
		return &operations[o]
	}
	return &operations[NoOperation]
}

// Streams reports whether the operation is answered with an event stream.
func (o Operation) Streams() bool { return o.row().streams }

// Sends reports whether the operation sends a message.
func (o Operation) Sends() bool { return o == SendMessage || o == SendStreamingMessage }

// Push reports whether the operation is about push notification configs.
func (o Operation) Push() bool { return o >= CreatePushConfig && o <= DeletePushConfig }

// MethodName returns the JSON-RPC method of the operation in a dialect, or "" where the dialect has none.
func (o Operation) MethodName(d Dialect) string {
	if int(d) < len(o.row().methods) {
		return o.row().methods[d]
	}
	return ""
}

// OperationOf returns the operation for its name in any dialect: a JSON-RPC method, a name of 1.0, or a short name of
// this package, in any case. It returns NoOperation for other names. It is for names that people write; DecodeRequest
// accepts methods only as the specification spells them.
func OperationOf(name string) Operation {
	if o, _ := methodOf(name); o != NoOperation {
		return o
	}
	for o := SendMessage; int(o) < len(operations); o++ {
		if strings.EqualFold(name, operations[o].name) {
			return o
		}
		for _, method := range operations[o].methods {
			if method != "" && strings.EqualFold(name, method) {
				return o
			}
		}
	}
	for _, odd := range oddMethods {
		if strings.EqualFold(name, odd.method) {
			return odd.operation
		}
	}
	return NoOperation
}

// ParseOperation is OperationOf with an error for other names; the error suggests the operation that was probably
// meant.
func ParseOperation(name string) (Operation, error) {
	o := OperationOf(name)
	if o != NoOperation {
		return o, nil
	}
	var known []string
	for o := SendMessage; int(o) < len(operations); o++ {
		known = append(known, operations[o].name)
	}
	return o, fmt.Errorf("unknown operation %q; write a name such as SendMessage or GetTask%s", name,
		spelling.Hint(name, known))
}

// methodOf returns the operation of a JSON-RPC method exactly as written, and the dialects that have it.
func methodOf(method string) (Operation, Dialects) {
	m := methods[method]
	return m.operation, m.dialects
}

// methods has the results of methodOf, by method.
var methods = func() map[string]methodSpelling {
	all := make(map[string]methodSpelling)
	for o := SendMessage; o <= GetExtendedCard; o++ {
		for d, method := range operations[o].methods {
			if method != "" {
				all[method] = methodSpelling{method, o, all[method].dialects | 1<<d}
			}
		}
	}
	for _, odd := range oddMethods {
		if odd.dialects != noDialects {
			all[odd.method] = odd
		}
	}
	return all
}()
