package a2a

import (
	"testing"

	"a2atap/proxy/expect"
)

func TestDecodeWebhook(t *testing.T) {
	tests := []struct {
		body string
		want held
	}{
		{`{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}}`, held{TaskPayload, "/task", "1.0", true, ""}},
		{
			`{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"}}`,
			held{TaskPayload, "", "0.2/0.3", false, ""},
		},
		{`{"id":"t","status":{"state":"completed"}}`, held{TaskPayload, "", "0.1", false, ""}},
		{
			`{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}`,
			held{TaskPayload, "", "0.2/0.3", false, ""},
		},
		{`{"eventType":"x","taskId":"t","status":"completed","summary":"y"}`, held{StatusPayload, "", "", false, ""}},
		{`{"event":"x"}`, held{UnknownPayload, "", "", false, ""}},
		{`null`, held{NullPayload, "", "", false, ""}},
		{`[]`, held{UnknownPayload, "", "", false, ""}},
		{`x`, held{NoPayload, "", "", false, ""}},
	}
	for _, test := range tests {
		expect.Same(t, test.body, test.want, payloadOf(DecodeWebhook([]byte(test.body))))
	}
}
