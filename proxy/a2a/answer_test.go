package a2a

import (
	"testing"

	"a2atap/proxy/expect"
)

// held is what an answer holds.
type held struct {
	Kind     PayloadKind
	Pointer  string
	Dialects string
	Wrapped  bool
	Contrary string // dialects of what contradicts
}

func payloadOf(p Payload) held {
	return held{p.Kind, p.Pointer, p.Dialects.String(), p.Wrapped, p.Contrary.Dialects.String()}
}

// result returns a JSON-RPC response.
func result(value string) string { return `{"jsonrpc":"2.0","id":1,"result":` + value + `}` }

var (
	send0_1  = Call{Binding: JSONRPC, Operation: SendMessage, Dialects: Of(V0_1)}
	send0_3  = Call{Binding: JSONRPC, Operation: SendMessage, Dialects: Of(V0_2, V0_3)}
	send1_0  = Call{Binding: JSONRPC, Operation: SendMessage, Dialects: Of(V1_0)}
	get0_x   = Call{Binding: JSONRPC, Operation: GetTask, Dialects: Of(V0_2, V0_3)}
	get1_0   = Call{Binding: JSONRPC, Operation: GetTask, Dialects: Of(V1_0)}
	rest0_3  = Call{Binding: HTTPJSON, Operation: SendMessage, Dialects: Of(V0_2, V0_3)}
	rest1_0  = Call{Binding: HTTPJSON, Operation: SendMessage, Dialects: Of(V1_0), Version: "1.0"}
	restGet  = Call{Binding: HTTPJSON, Operation: GetTask, Dialects: Of(V1_0), Version: "1.0"}
	restPath = Call{Binding: HTTPJSON, Operation: GetTask, Dialects: Of(V1_0)}
	restCard = Call{Binding: HTTPJSON, Operation: GetTask, Dialects: Of(V1_0), surely1_0: true}
	stream01 = Call{Binding: JSONRPC, Operation: SendStreamingMessage, Dialects: Of(V0_1), Streams: true}
)

// TestAnswerDialects goes through the rows of evidence that an answer can show.
func TestAnswerDialects(t *testing.T) {
	tests := []struct {
		name string
		call Call
		body string
		want held
	}{
		{
			"5: 0.1", send0_1,
			result(`{"id":"t","sessionId":"s","status":{"state":"completed"},"artifacts":[{"index":0,` +
				`"parts":[{"type":"text","text":"x"}]}]}`),
			held{TaskPayload, "/result", "0.1", false, ""},
		},
		{
			"5: kind", send0_3, result(`{"kind":"task","id":"t","contextId":"c","status":{"state":"input-required"}}`),
			held{TaskPayload, "/result", "0.2/0.3", false, ""},
		},
		{
			"5: message", send0_3,
			result(`{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"data","data":{}}]}`),
			held{MessagePayload, "/result", "0.2/0.3", false, ""},
		},
		{
			"5: wrapper", send1_0,
			result(`{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`),
			held{TaskPayload, "/result/task", "1.0", true, ""},
		},
		{
			"5: wrapped message", send1_0,
			result(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"x"}]}}`),
			held{MessagePayload, "/result/message", "1.0", true, ""},
		},
		{
			"5: the wrapper has to hold an object", send1_0, result(`{"message":"text","task":null}`),
			held{UnknownPayload, "/result", "", false, ""},
		},
		{
			"5: 0.3 answered to 1.0", send1_0,
			result(`{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"}}`),
			held{TaskPayload, "/result", "0.2/0.3", false, ""},
		},
		{
			"5: 1.0 without its wrapper", send1_0, result(`{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}`),
			held{TaskPayload, "/result", "1.0", false, ""},
		},
		{
			"5: bare task with a context is no 0.1", send0_3,
			result(`{"id":"t","contextId":"c","status":{"state":"rejected"}}`),
			held{TaskPayload, "/result", "0.2/0.3", false, ""},
		},
		{
			"5 against 6", send0_3,
			result(`{"kind":"task","id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}`),
			held{TaskPayload, "/result", "0.2/0.3", false, "1.0"},
		},
		{
			"5 against 7", send1_0,
			result(`{"message":{"messageId":"m","role":"agent","parts":[{"kind":"text","text":"x"}]}}`),
			held{MessagePayload, "/result/message", "1.0", true, "0.2/0.3"},
		},
		{
			"2: mark of 0.1", get0_x,
			result(`{"id":"t","status":{"state":"completed"},"artifacts":[{"index":0,"parts":[]}]}`),
			held{TaskPayload, "/result", "0.1", false, ""},
		},
		{
			"2: no mark", get0_x, result(`{"id":"t","status":{"state":"completed"}}`),
			held{TaskPayload, "/result", "0.1/0.2/0.3", false, ""},
		},
		{
			"2: kind", get0_x, result(`{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"}}`),
			held{TaskPayload, "/result", "0.2/0.3", false, ""},
		},
		{
			"6: bare task of 1.0", get1_0,
			result(`{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}`),
			held{TaskPayload, "/result", "1.0", false, ""},
		},
		{"6: no state", get1_0, result(`{"id":"t"}`), held{TaskPayload, "/result", "", false, ""}},
		{
			"6: lower case under a method of 1.0 is not told", get1_0,
			result(`{"id":"t","contextId":"c","status":{"state":"completed"}}`),
			held{TaskPayload, "/result", "", false, ""},
		},
		{
			"6: two Ls over JSON-RPC", get1_0,
			result(`{"id":"t","contextId":"c","status":{"state":"TASK_STATE_CANCELLED"}}`),
			held{TaskPayload, "/result", "1.0", false, ""},
		},
		{
			"8: type in 0.2", get0_x,
			result(`{"id":"t","contextId":"c","status":{"message":{"parts":[{"type":"text","text":"x"}]}}}`),
			held{TaskPayload, "/result", "0.1/0.2", false, ""},
		},
		{
			"8: bare part", get0_x, result(`{"id":"t","contextId":"c","artifacts":[{"parts":[{"text":"x"}]}]}`),
			held{TaskPayload, "/result", "0.1/1.0", false, ""},
		},
		{
			"8: part of 1.0", get0_x,
			result(`{"id":"t","contextId":"c","artifacts":[{"parts":[{"raw":"","mediaType":"x/y"}]}]}`),
			held{TaskPayload, "/result", "1.0", false, ""},
		},
		{
			"REST: wrapper does not tell", rest1_0,
			`{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`,
			held{TaskPayload, "/task", "", true, ""},
		},
		{
			"REST: kind tells", rest1_0, `{"kind":"task","id":"t","contextId":"c","status":{"state":"working"}}`,
			held{TaskPayload, "", "0.2/0.3", false, ""},
		},
		{
			"REST: kind in a wrapper tells", rest1_0,
			`{"message":{"kind":"message","messageId":"m","role":"ROLE_AGENT","parts":[]}}`,
			held{MessagePayload, "/message", "0.2/0.3", true, ""},
		},
		{
			"REST: lower case tells", restPath, `{"id":"t","contextId":"c","status":{"state":"completed"}}`,
			held{TaskPayload, "", "0.2/0.3", false, ""},
		},
		{
			"REST: lower case tells nothing where the version is named", restGet,
			`{"id":"t","contextId":"c","status":{"state":"completed"}}`,
			held{TaskPayload, "", "", false, ""},
		},
		{
			"REST: lower case tells nothing where a card declares 1.0 alone", restCard,
			`{"id":"t","contextId":"c","status":{"state":"completed"}}`,
			held{TaskPayload, "", "", false, ""},
		},
		{
			"REST: nor do two Ls", restCard,
			`{"id":"t","contextId":"c","status":{"state":"TASK_STATE_CANCELLED"}}`,
			held{TaskPayload, "", "", false, ""},
		},
		{
			"REST: kind tells all the same", restCard,
			`{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"}}`,
			held{TaskPayload, "", "0.2/0.3", false, ""},
		},
		{
			"REST: two Ls tell", rest0_3,
			`{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_CANCELLED"}}}`,
			held{TaskPayload, "/task", "0.2/0.3", true, ""},
		},
		{
			"REST: two Ls under version 1.0 do not", restGet,
			`{"id":"t","contextId":"c","status":{"state":"TASK_STATE_CANCELLED"}}`,
			held{TaskPayload, "", "", false, ""},
		},
		{
			"REST: content tells", rest0_3,
			`{"message":{"messageId":"m","role":"ROLE_AGENT","content":[{"text":"x"}]}}`,
			held{MessagePayload, "/message", "0.2/0.3", true, ""},
		},
		{
			"REST: msg of 0.2", rest0_3, `{"msg":{"messageId":"m","role":"ROLE_AGENT","content":[{"text":"x"}]}}`,
			held{MessagePayload, "/msg", "0.2/0.3", true, ""},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := DecodeAnswer(&test.call, 200, "application/json", []byte(test.body))
			expect.Same(t, "", test.want, payloadOf(a.Payload))
			if got := a.Payload.Value.Pointer(); got != a.Payload.Pointer {
				t.Errorf("the payload is at %q, Pointer says %q", got, a.Payload.Pointer)
			}
		})
	}
}

func TestAnswerPayloads(t *testing.T) {
	call := func(b Binding, o Operation) Call { return Call{Binding: b, Operation: o, Dialects: Of(V1_0)} }
	tests := []struct {
		name   string
		call   Call
		status int
		body   string
		want   PayloadKind
	}{
		{
			"list", call(JSONRPC, ListTasks), 200,
			result(`{"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0}`),
			TaskListPayload,
		},
		{"list as array", call(HTTPJSON, ListTasks), 200, `[]`, TaskListPayload},
		{"list without tasks", call(JSONRPC, ListTasks), 200, result(`{}`), UnknownPayload},
		{
			"config", call(JSONRPC, CreatePushConfig), 200, result(`{"taskId":"t","id":"p","url":"u"}`),
			PushConfigPayload,
		},
		{"configs", call(HTTPJSON, ListPushConfigs), 200, `{"configs":[{"id":"p"}]}`, PushConfigListPayload},
		{
			"configs of 0.3", call(JSONRPC, ListPushConfigs), 200,
			result(`[{"taskId":"t","pushNotificationConfig":{"url":"u"}}]`), PushConfigListPayload,
		},
		{"deleted", call(JSONRPC, DeletePushConfig), 200, result(`null`), NullPayload},
		{"deleted with an object", call(JSONRPC, DeletePushConfig), 200, result(`{}`), UnknownPayload},
		{"deleted without body", call(HTTPJSON, DeletePushConfig), 204, ``, NoPayload},
		{"extended card", call(JSONRPC, GetExtendedCard), 200, result(`{"name":"n"}`), CardPayload},
		{"card", call(NoBinding, GetCard), 200, `{"name":"n"}`, CardPayload},
		{"card not found", call(NoBinding, GetCard), 404, `{"detail":"Not Found"}`, ErrorPayload},
		{"card not modified", call(NoBinding, GetCard), 304, ``, NoPayload},
		{"redirect", call(HTTPJSON, GetTask), 307, `{"id":"t","status":{}}`, NoPayload},
		{
			"task under a get", call(JSONRPC, GetTask), 200,
			result(`{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"}}}`), TaskPayload,
		},
		{"no result", call(JSONRPC, GetTask), 200, `{"jsonrpc":"2.0","id":1}`, NoPayload},
		{"result is a number", call(JSONRPC, GetTask), 200, result(`3`), UnknownPayload},
		{"no envelope", call(JSONRPC, GetTask), 200, `{"id":"t","status":{"state":"TASK_STATE_WORKING"}}`, TaskPayload},
		{"gateway", call(JSONRPC, GetTask), 502, `{"message":"bad gateway"}`, NoPayload},
		{"page", call(JSONRPC, GetTask), 200, `<html>`, NoPayload},
		{"error", call(JSONRPC, GetTask), 500, `{"error":{"code":-32603,"message":"x"}}`, ErrorPayload},
		{
			"result and error", call(JSONRPC, GetTask), 200,
			`{"jsonrpc":"2.0","id":1,"result":{"id":"t","status":{"state":"x"}},"error":{"code":1,"message":""}}`,
			TaskPayload,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := DecodeAnswer(&test.call, test.status, "application/json", []byte(test.body))
			expect.Equal(t, "payload", test.want, a.Payload.Kind)
			if (a.Payload.Kind == ErrorPayload) && a.Err == nil {
				t.Error("an error without Err")
			}
		})
	}
}

func TestEnvelopes(t *testing.T) {
	tests := []struct {
		body string
		want bool
	}{
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, true},
		{`{"jsonrpc":"2.0","id":1}`, true},
		{`{"id":1,"result":{}}`, true},
		{`{"id":null,"error":{"code":1}}`, true},
		{`{"error":{"code":-32001,"message":"x"}}`, true},
		{`{"result":{"id":"t"}}`, true},
		{`{"error":{"code":404,"message":"x"}}`, false},
		{`{"error":"unauthorized"}`, false},
		{`{"id":"t","status":{"state":"working"}}`, false},
		{`[]`, false},
		{`"x"`, false},
	}
	for _, test := range tests {
		a := DecodeAnswer(&get1_0, 200, "application/json", []byte(test.body))
		if a.IsEnvelope != test.want || a.Envelope.Exists() != test.want {
			t.Errorf("%s: IsEnvelope = %v", test.body, a.IsEnvelope)
		}
	}
	a := DecodeAnswer(&get1_0, 200, "", []byte(`{"jsonrpc":"2.0","id":9007199254740993,"result":{"id":"t"}}`))
	if string(a.ID.Raw()) != "9007199254740993" || a.Result.Pointer() != "/result" || a.Error.Exists() {
		t.Errorf("id %s, result at %q, error %v", a.ID.Raw(), a.Result.Pointer(), a.Error.Kind())
	}
}

func TestEvents(t *testing.T) {
	rest := Call{Binding: HTTPJSON, Operation: SendStreamingMessage, Dialects: Of(V1_0), Version: "1.0"}
	tests := []struct {
		name string
		call Call
		data string
		want held
	}{
		{
			"0.1 status", stream01, result(`{"id":"t","status":{"state":"working"},"final":false}`),
			held{StatusPayload, "/result", "0.1", false, ""},
		},
		{
			"0.1 status without final", stream01, result(`{"id":"t","status":{"state":"working"}}`),
			held{StatusPayload, "/result", "0.1", false, ""},
		},
		{
			"0.1 task", stream01, result(`{"id":"t","sessionId":"s","status":{"state":"working"}}`),
			held{TaskPayload, "/result", "0.1", false, ""},
		},
		{
			"0.1 artifact", stream01,
			result(`{"id":"t","artifact":{"index":0,"append":true,"parts":[{"type":"text","text":"x"}]}}`),
			held{ArtifactPayload, "/result", "0.1", false, ""},
		},
		{
			"0.3 status", send0_3,
			result(`{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"completed"},"final":true}`),
			held{StatusPayload, "/result", "0.2/0.3", false, ""},
		},
		{
			"0.3 artifact", send0_3,
			result(`{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"artifactId":"a",` +
				`"parts":[{"kind":"text","text":"x"}]}}`),
			held{ArtifactPayload, "/result", "0.2/0.3", false, ""},
		},
		{
			"0.3 status without kind", send0_3,
			result(`{"taskId":"t","contextId":"c","status":{"state":"rejected"},"final":true}`),
			held{StatusPayload, "/result", "0.2/0.3", false, ""},
		},
		{
			"1.0 status", send1_0,
			result(`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`),
			held{StatusPayload, "/result/statusUpdate", "1.0", true, ""},
		},
		{
			"1.0 over REST", rest,
			`{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"x"}]}}}`,
			held{ArtifactPayload, "/artifactUpdate", "", true, ""},
		},
		{
			"envelope over REST", rest, result(`{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"}}}`),
			held{TaskPayload, "/result/task", "", true, ""},
		},
		{
			"error", send1_0, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}`,
			held{ErrorPayload, "/error", "", false, ""},
		},
		{"error over REST", rest, `{"error":{"code":500,"message":"x"}}`, held{ErrorPayload, "/error", "", false, ""}},
		{"no JSON", send1_0, `ping`, held{NoPayload, "", "", false, ""}},
		{"nothing", send1_0, ``, held{NoPayload, "", "", false, ""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expect.Same(t, "", test.want, payloadOf(DecodeEvent(&test.call, []byte(test.data)).Payload))
		})
	}
	expect.Equal(t, "without a call the event",
		TaskPayload, DecodeEvent(nil, []byte(result(`{"kind":"task","id":"t"}`))).Payload.Kind)
}
