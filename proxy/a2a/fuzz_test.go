package a2a

import (
	"net/http"
	"testing"
)

func seedBodies(f *testing.F) []string {
	f.Helper()
	return []string{
		rpc("tasks/send", `{"id":"t","message":{"role":"user","parts":[{"type":"text","text":"x"}]}}`),
		rpc("message/stream",
			`{"message":{"kind":"message","messageId":"m","role":"user",`+
				`"parts":[{"kind":"file","file":{"uri":"u"}}]}}`),
		rpc("SendMessage",
			`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":null}]},`+
				`"configuration":{"taskPushNotificationConfig":{"url":"u"}}}`),
		rpc("tasks/pushNotificationConfig/set", `{"taskId":"t","pushNotificationConfig":{"url":"u"}}`),
		result(`{"kind":"task","id":"t","contextId":"c","status":{"state":"completed"}}`),
		result(`{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_FAILED","message":{"content":[{}]}}}}`),
		`[` + rpc("tasks/get", `{"id":1}`) + `,null]`,
		`{"error":{"code":404,"details":[{"@type":"google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND"}]}}`,
		`{"task":{"artifacts":[{"index":0}]}}`,
		`{"name":"tasks/t/pushNotificationConfigs/p","pushNotificationConfig":{}}`,
		card0_1, card0_3, card1_0, cardHybrid, `{"kind":"task"}`, `{"kind":7,"status":[]}`, ``, `null`, `{"jsonrpc":`,
		"\xEF\xBB\xBF{}",
	}
}

func FuzzDecodeRequest(f *testing.F) {
	for i, body := range seedBodies(f) {
		f.Add([]string{"POST", "GET", "DELETE"}[i%3],
			[]string{
				"/", "/v1/message:send", "/tasks/a%2Fb:cancel", "/x/tasks/t/pushNotificationConfigs/p?tenant=%zz",
				"http://h/.well-known/agent.json",
			}[i%5], []string{"", "1.0", "0.3"}[i%3], []byte(body))
	}
	f.Fuzz(func(t *testing.T, method, target, version string, body []byte) {
		header := http.Header{"A2a-Version": {version}}
		for _, known := range []Known{
			{},
			{
				Bindings: BindingsOf(JSONRPC, HTTPJSON), Dialects: allDialects, REST: Of(V1_0),
				Bases: []Base{{Path: "", Dialects: Of(V0_3)}, {Path: "/x", Dialects: Of(V1_0), Tenant: "tasks"}},
			},
		} {
			c := DecodeRequest(Request{Method: method, Target: target, Header: header.Get, Body: body}, known)
			if !c.A2A() && (!c.Dialects.Empty() || c.TaskID != "" || c.Doc.Root.Exists()) {
				t.Fatalf("what is no A2A says something: %+v", c)
			}
			if c.Streams != c.Operation.Streams() {
				t.Fatalf("%v: Streams = %v", c.Operation, c.Streams)
			}
			if method == "OPTIONS" && c.A2A() {
				t.Fatal("a preflight is a call")
			}
			c.PushConfig.URL()
			c.PushConfig.TaskID()
			checkWalk(t, func(w *Walker) { w.Request(&c) })
		}
	})
}

func FuzzDecodeAnswer(f *testing.F) {
	for i, body := range seedBodies(f) {
		f.Add(uint8(i%3), uint8(i%14), uint8(1<<(i%4)), 200+100*(i%4), []byte(body))
	}
	f.Fuzz(func(t *testing.T, binding, operation, in uint8, status int, body []byte) {
		c := Call{
			Binding: Binding(binding % 4), Operation: Operation(operation % 14),
			Dialects: Dialects(in) & allDialects,
		}
		a := DecodeAnswer(&c, status, "application/json", body)
		checkAnswer(t, a)
		checkWalk(t, func(w *Walker) { w.Payload(&a.Payload, &c, c.Dialects) })
		checkAnswer(t, DecodeAnswer(nil, status, "", body))
		if p := DecodeWebhook(body); p.Kind != NoPayload && p.Value.Pointer() != p.Pointer {
			t.Fatalf("the notification is at %q, Pointer says %q", p.Value.Pointer(), p.Pointer)
		}
	})
}

func FuzzDecodeEvent(f *testing.F) {
	for i, body := range seedBodies(f) {
		f.Add(uint8(i%3), uint8(1<<(i%4)), []byte(body))
	}
	f.Fuzz(func(t *testing.T, binding, in uint8, data []byte) {
		c := Call{Binding: Binding(binding % 4), Operation: SendStreamingMessage, Dialects: Dialects(in) & allDialects}
		a := DecodeEvent(&c, data)
		checkAnswer(t, a)
		checkWalk(t, func(w *Walker) { w.Payload(&a.Payload, &c, c.Dialects) })
	})
}

// checkAnswer holds an answer against itself and asks its payload everything.
func checkAnswer(t *testing.T, a Answer) {
	t.Helper()
	p := a.Payload
	if p.Kind != NoPayload && p.Value.Exists() && p.Value.Pointer() != p.Pointer {
		t.Fatalf("the payload is at %q, Pointer says %q", p.Value.Pointer(), p.Pointer)
	}
	if p.Kind == ErrorPayload && a.Err == nil {
		t.Fatal("an error without Err")
	}
	if p.Contrary.At.Exists() && !p.Contrary.Dialects.Intersect(p.Dialects).Empty() {
		t.Fatalf("%q contradicts %q", p.Contrary.Dialects, p.Dialects)
	}
	if a.Err != nil {
		_ = a.Err.String()
	}
	task, status, artifact := Task{p.Value}, StatusUpdate{p.Value}, ArtifactUpdate{p.Value}
	task.State()
	task.StatusMessage().Role()
	status.TaskID()
	status.Final()
	artifact.LastChunk()
	for _, part := range artifact.Artifact().Parts().All() {
		if part.PartKind() != part.anyKind() {
			t.Fatalf("%s is of kind %d, and by all members of kind %d", part.Raw(), part.PartKind(), part.anyKind())
		}
		part.Data()
	}
	for one := range p.Tasks() {
		one.ID()
	}
	for config := range p.PushConfigs() {
		config.TaskID()
		config.Schemes()
	}
}

func FuzzDecodeCard(f *testing.F) {
	for _, body := range seedBodies(f) {
		f.Add([]byte(body))
	}
	f.Add([]byte(`{"securitySchemes":{"a":{"oauth2SecurityScheme":{"flows":{"password":{}}}},"b":{"type":"apiKey"}},` +
		`"skills":[{}],"supportedInterfaces":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := DecodeCard(Parse(data).Root)
		if c.Shapes != c.Legacy && c.Shapes != c.Legacy|onlyV1_0 {
			t.Fatalf("shapes %q, legacy %q", c.Shapes, c.Legacy)
		}
		for _, i := range c.Interfaces {
			if c.At(i.Pointer).Text() != i.URL {
				t.Fatalf("%q is not at %s", i.URL, i.Pointer)
			}
		}
		for d := range allDialects.All() {
			for _, pointer := range c.MissingNested(d) {
				if v := c.At(pointer); v.Exists() && !v.IsNull() && len(Parse(data).Duplicates) == 0 {
					t.Fatalf("%s is not missing", pointer)
				}
			}
			c.MissingFields(d)
		}
		c.Credentials()
	})
}
