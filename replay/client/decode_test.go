package client

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// ignoreRaw compares what was read, not the bytes it was read from.
var ignoreRaw = cmp.Options{
	cmpopts.IgnoreFields(Event{}, "Raw", "Result"), cmpopts.IgnoreFields(Task{}, "Raw"),
	cmpopts.IgnoreFields(Message{}, "Raw"),
	cmpopts.IgnoreFields(StatusUpdate{}, "Raw"), cmpopts.IgnoreFields(ArtifactUpdate{}, "Raw"),
}

// The same event in both dialects.
var decodeTests = []struct {
	name     string
	v10, v03 string
	want     Event
}{
	{
		name: "task",
		v10: `{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"m2","role":"ROLE_AGENT",` +
			`"taskId":"t1","contextId":"c1","parts":[{"text":"where to?"}]},"timestamp":"2026-03-01T10:00:00Z"},"metadata":{"k":1},` +
			`"history":[{"messageId":"m1","role":"ROLE_USER","parts":[{"text":""}]}]}}`,
		v03: `{"kind":"task","id":"t1","contextId":"c1","status":{"state":"input-required","message":{"kind":"message","messageId":"m2","role":"agent",` +
			`"taskId":"t1","contextId":"c1","parts":[{"kind":"text","text":"where to?"}]},"timestamp":"2026-03-01T10:00:00Z"},"metadata":{"k":1},` +
			`"history":[{"messageId":"m1","role":"user","parts":[{"kind":"text","text":""}]}]}`,
		want: Event{Task: &Task{
			ID: "t1", ContextID: "c1", Metadata: json.RawMessage(`{"k":1}`),
			Status: Status{State: InputRequired, Timestamp: "2026-03-01T10:00:00Z", Message: &Message{
				ID: "m2", Role: Agent, TaskID: "t1", ContextID: "c1", Parts: []Part{{Text: "where to?"}},
			}},
			History: []Message{{ID: "m1", Role: User, Parts: []Part{{}}}},
		}},
	},
	{
		name: "message",
		v10:  `{"message":{"messageId":"m2","role":"ROLE_AGENT","contextId":"c1","parts":[{"data":{"answer":42}},{"data":null}]}}`,
		v03:  `{"kind":"message","messageId":"m2","role":"agent","contextId":"c1","parts":[{"kind":"data","data":{"answer":42}},{"kind":"data","data":null}]}`,
		want: Event{Message: &Message{
			ID: "m2", Role: Agent, ContextID: "c1",
			Parts: []Part{{Data: json.RawMessage(`{"answer":42}`)}, {Data: json.RawMessage(`null`)}},
		}},
	},
	{
		name: "status update",
		v10:  `{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"},"final":true}}`,
		v03:  `{"kind":"status-update","taskId":"t1","contextId":"c1","status":{"state":"completed"},"final":true}`,
		want: Event{Status: &StatusUpdate{TaskID: "t1", ContextID: "c1", Status: Status{State: Completed}, Final: true}},
	},
	{
		name: "artifact update",
		v10: `{"artifactUpdate":{"taskId":"t1","contextId":"c1","append":true,"lastChunk":true,"artifact":{"artifactId":"a1","name":"n","parts":[` +
			`{"raw":"iVBORw0KGgo","mediaType":"image/png","filename":"x.png"},{"url":"https://f.example/a","mediaType":"image/png"}]}}}`,
		v03: `{"kind":"artifact-update","taskId":"t1","contextId":"c1","append":true,"lastChunk":true,"artifact":{"artifactId":"a1","name":"n","parts":[` +
			`{"kind":"file","file":{"name":"x.png","mimeType":"image/png","bytes":"iVBORw0KGgo="}},{"kind":"file","file":{"uri":"https://f.example/a","mimeType":"image/png"}}]}}`,
		want: Event{Artifact: &ArtifactUpdate{
			TaskID: "t1", ContextID: "c1", Append: true, LastChunk: true,
			Artifact: Artifact{ID: "a1", Name: "n", Parts: []Part{
				{Bytes: []byte("\x89PNG\r\n\x1a\n"), MediaType: "image/png", Filename: "x.png"},
				{URL: "https://f.example/a", MediaType: "image/png"},
			}},
		}},
	},
	{
		name: "a state nobody knows, a name twice, a null",
		v10:  `{"task":{"id":"t0","id":"t1","status":{"state":"ASLEEP","message":null},"artifacts":null}}`,
		v03:  `{"kind":"task","id":"t1","status":{"state":"ASLEEP"}}`,
		want: Event{Task: &Task{ID: "t1", Status: Status{State: "ASLEEP"}}},
	},
}

func TestDecodeEvent(t *testing.T) {
	for _, tt := range decodeTests {
		t.Run(tt.name, func(t *testing.T) {
			for dialect, text := range map[string]string{"1.0": tt.v10, "0.3": tt.v03} {
				expect.Same(t, dialect, tt.want, must.Get(decodeEvent([]byte(text)))(t), ignoreRaw)
			}
		})
	}
	for _, text := range []string{
		``, `null`, `{}`, `[]`, `{"kind":"task"}`, `{"task":{"id":5}}`, `{"kind":"surprise","id":"t"}`,
		`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"raw":"*"}]}}`, `{"task":null}`,
	} {
		if e, err := decodeEvent([]byte(text)); err == nil {
			t.Errorf("%s: got %+v, want an error", text, e)
		}
	}
}

// The error of a value that cannot be read names its place.
func TestErrorNamesPlace(t *testing.T) {
	_, err := decodeEvent([]byte(`{"task":{"id":"t","artifacts":[{"artifactId":"a","parts":[{"text":"x"},{"raw":"*"}]}]}}`))
	expect.ErrorHas(t, "bytes", "/artifacts/0/parts/1: not base64", err)
}

func FuzzDecodeResult(f *testing.F) {
	for _, tt := range decodeTests {
		f.Add([]byte(tt.v10))
		f.Add([]byte(tt.v03))
	}
	for _, text := range []string{earlyTask, earlyStatus, earlyArtifact, earlyNotification, earlyCard} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := decodeResult(body)
		if err == nil && (r.Task == nil) == (r.Message == nil) {
			t.Errorf("%q: got %+v, want exactly one of task and message", body, r)
		}
		for _, p := range Protocols() {
			c := &Client{endpoint: Interface{Protocol: p}}
			if result, err := c.result(call{op: a2a.SendMessage}, 200, body); err == nil && result == nil {
				t.Errorf("%q over %s: got neither result nor error", body, p)
			}
			c.decodeStreamed(call{}, body) // must only not panic
			c.decodeSent(body)             // must only not panic
			c.decodePush(body)             // must only not panic
		}
		if e, err := ReadNotification(body); err == nil && e.Task == nil && e.Message == nil && e.Status == nil &&
			e.Artifact == nil {
			t.Errorf("%q: a notification of nothing", body)
		}
		decodePage(body)          // must only not panic
		decodePushConfigs(body)   // must only not panic
		decodeCard(body, "http:") // must only not panic
	})
}
