package a2a

import (
	"strings"
	"testing"

	"a2atap/proxy/expect"
)

// TestMethods compares every JSON-RPC method of every dialect with its operation.
func TestMethods(t *testing.T) {
	tests := []struct {
		method   string
		want     Operation
		dialects string
		streams  bool
	}{
		{"tasks/send", SendMessage, "0.1", false},
		{"tasks/sendSubscribe", SendStreamingMessage, "0.1", true},
		{"tasks/get", GetTask, "0.1/0.2/0.3", false},
		{"tasks/cancel", CancelTask, "0.1/0.2/0.3", false},
		{"tasks/resubscribe", SubscribeToTask, "0.1/0.2/0.3", true},
		{"tasks/pushNotification/set", CreatePushConfig, "0.1", false},
		{"tasks/pushNotification/get", GetPushConfig, "0.1", false},
		{"message/send", SendMessage, "0.2/0.3", false},
		{"message/stream", SendStreamingMessage, "0.2/0.3", true},
		{"tasks/pushNotificationConfig/set", CreatePushConfig, "0.2/0.3", false},
		{"tasks/pushNotificationConfig/get", GetPushConfig, "0.2/0.3", false},
		{"tasks/pushNotificationConfig/list", ListPushConfigs, "0.2/0.3", false},
		{"tasks/pushNotificationConfig/delete", DeletePushConfig, "0.2/0.3", false},
		{"agent/getAuthenticatedExtendedCard", GetExtendedCard, "0.3", false},
		{"agent/authenticatedExtendedCard", GetExtendedCard, "0.3", false},
		{"tasks/list", ListTasks, "0.2/0.3", false},
		{"SendMessage", SendMessage, "1.0", false},
		{"SendStreamingMessage", SendStreamingMessage, "1.0", true},
		{"GetTask", GetTask, "1.0", false},
		{"ListTasks", ListTasks, "1.0", false},
		{"CancelTask", CancelTask, "1.0", false},
		{"SubscribeToTask", SubscribeToTask, "1.0", true},
		{"CreateTaskPushNotificationConfig", CreatePushConfig, "1.0", false},
		{"GetTaskPushNotificationConfig", GetPushConfig, "1.0", false},
		{"ListTaskPushNotificationConfigs", ListPushConfigs, "1.0", false},
		{"ListTaskPushNotificationConfig", ListPushConfigs, "1.0", false},
		{"DeleteTaskPushNotificationConfig", DeletePushConfig, "1.0", false},
		{"GetExtendedAgentCard", GetExtendedCard, "1.0", false},
		{"sendMessage", NoOperation, "", false},
		{"message/Send", NoOperation, "", false},
		{"GetAgentCard", NoOperation, "", false},
		{"CreatePushConfig", NoOperation, "", false},
		{"", NoOperation, "", false},
	}
	for _, test := range tests {
		got, in := methodOf(test.method)
		if got != test.want || in.String() != test.dialects {
			t.Errorf("method %q is %v in %q, want %v in %q", test.method, got, in, test.want, test.dialects)
		}
		expect.Equal(t, "method "+test.method+": Streams", test.streams, got.Streams())
		if got == NoOperation {
			continue
		}
		for _, spelling := range []string{test.method, strings.ToUpper(test.method)} {
			expect.Equal(t, "OperationOf("+spelling+")", test.want, OperationOf(spelling))
		}
	}
}

func TestMethodNames(t *testing.T) {
	for o := NoOperation; o <= Webhook; o++ {
		for d := range allDialects.All() {
			name := o.MethodName(d)
			if name == "" {
				continue
			}
			if back, in := methodOf(name); back != o || !in.Has(d) {
				t.Errorf("%v in %v is %q, which is %v in %v", o, d, name, back, in)
			}
		}
		expect.Equal(t, "OperationOf("+o.String()+")", o, OperationOf(o.String()))
	}
	expect.Equal(t, "0.3 lists tasks by", "", ListTasks.MethodName(V0_3))
	if Operation(200).String() != "" || Operation(200).Streams() || SendMessage.MethodName(9) != "" {
		t.Error("what is out of range has a name")
	}
}

func TestBindings(t *testing.T) {
	for b, name := range map[Binding]string{
		NoBinding: "http", JSONRPC: "jsonrpc", HTTPJSON: "http+json",
		GRPC: "grpc",
	} {
		if b.String() != name {
			t.Errorf("binding %d is %q", b, b.String())
		}
		if got, ok := ParseBinding(strings.ToUpper(name)); got != b || !ok {
			t.Errorf("ParseBinding(%q) = %v, %v", name, got, ok)
		}
	}
	if _, ok := ParseBinding("https://example.com/bindings/mqtt"); ok {
		t.Error("a custom binding is one of ours")
	}
	set := BindingsOf(JSONRPC, HTTPJSON)
	if !set.Has(JSONRPC) || set.Has(NoBinding) {
		t.Errorf("set is %b", set)
	}
	for side, name := range map[Side]string{Client: "client", Agent: "agent", Receiver: "receiver"} {
		expect.Equal(t, "side", name, side.String())
	}
}
