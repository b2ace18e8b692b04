package a2a

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/proxy/expect"
)

// countAt returns how many values a pointer with "*" for every element names.
func countAt(v Value, pointer string) int {
	before, after, star := strings.Cut(pointer, "/*")
	v = v.At(before)
	if !star {
		if v.Exists() {
			return 1
		}
		return 0
	}
	n := 0
	for _, e := range v.Elems() {
		n += countAt(e, after)
	}
	return n
}

// TestMinimalExchanges decodes one shortest valid exchange of each kind in each dialect, and holds what the views say.
func TestMinimalExchanges(t *testing.T) {
	send := ask("POST /",
		rpc("tasks/send",
			`{"id":"t1","sessionId":"s1","message":{"role":"user","parts":[{"type":"text","text":"hi"}]}}`), Known{})
	a := DecodeAnswer(&send, 200, "application/json",
		[]byte(result(`{"id":"t1","sessionId":"s1","status":{"state":"completed","timestamp":"2025-04-20T10:00:00Z"},`+
			`"artifacts":[{"index":0,"parts":[{"type":"text","text":"hello"}]}]}`)))
	task := Task{a.Payload.Value}
	if send.Dialects != Of(V0_1) || task.ID() != "t1" || task.SessionID() != "s1" || task.State() != Completed ||
		task.Status().Get("timestamp").Text() != "2025-04-20T10:00:00Z" {
		t.Errorf("0.1: %q, task %q in session %q is %v", send.Dialects, task.ID(), task.SessionID(), task.State())
	}
	for _, artifact := range task.Artifacts() {
		if index, ok := artifact.Index(); index != 0 || !ok || (Part{artifact.Parts().Elem(0)}).Text() != "hello" {
			t.Errorf("0.1: artifact is %s", artifact.Raw())
		}
	}

	stream := ask("POST /",
		rpc("tasks/sendSubscribe", `{"id":"t2","message":{"role":"user","parts":[{"text":"no type"}]}}`), Known{})
	e := DecodeEvent(&stream,
		[]byte(result(`{"id":"t2","artifact":{"index":0,"append":true,"lastChunk":true,"parts":[{"type":"text",`+
			`"text":" upon"}]}}`)))
	if u := (ArtifactUpdate{e.Payload.Value}); !stream.Streams || u.TaskID() != "t2" || !u.Append() || !u.LastChunk() {
		t.Errorf("0.1: artifact update is %s", u.Raw())
	}
	e = DecodeEvent(&stream, []byte(result(`{"id":"t2","status":{"state":"completed"},"final":true}`)))
	if u := (StatusUpdate{e.Payload.Value}); u.TaskID() != "t2" || !u.Final() || !u.State().Terminal() {
		t.Errorf("0.1: status update is %s", u.Raw())
	}

	message := ask("POST /",
		rpc("message/send",
			`{"message":{"kind":"message","messageId":"m1","role":"user","parts":[{"kind":"text","text":"hi"}]},`+
				`"configuration":{"acceptedOutputModes":["text/plain"],"blocking":true}}`), Known{})
	a = DecodeAnswer(&message, 200, "application/json",
		[]byte(result(`{"kind":"task","id":"t1","contextId":"c1","status":{"state":"input-required",`+
			`"message":{"kind":"message","messageId":"m2","role":"agent","taskId":"t1","contextId":"c1",`+
			`"parts":[{"kind":"text","text":"where to?"}]}},"history":[{"messageId":"m1"}]}`)))
	task = Task{a.Payload.Value}
	reply := task.StatusMessage()
	if !task.State().Interrupted() || task.StateText() != "input-required" || reply.ID() != "m2" ||
		reply.Role() != AgentRole || reply.TaskID() != "t1" || reply.ContextID() != "c1" {
		t.Errorf("0.3: task is %s", task.Raw())
	}
	expect.Equal(t, "0.3: the reply is at", "/result/status/message", reply.Pointer())
	for _, m := range task.History() {
		if m.ID() != "m1" || m.Pointer() != "/result/history/0" {
			t.Errorf("0.3: history begins with %s", m.Raw())
		}
	}
	e = DecodeEvent(&message,
		[]byte(result(`{"kind":"artifact-update","taskId":"t1","contextId":"c1","append":false,"lastChunk":true,`+
			`"artifact":{"artifactId":"a1","parts":[{"kind":"file","file":{"name":"x.png","mimeType":"image/png",`+
			`"bytes":"iVBORw0KGgo="}}]}}`)))
	if u := (ArtifactUpdate{e.Payload.Value}); u.Append() || !u.LastChunk() || u.Artifact().ID() != "a1" ||
		u.ContextID() != "c1" {
		t.Errorf("0.3: artifact update is %s", u.Raw())
	}

	rest := ask("GET /tasks/t9", "", Known{}, version1)
	a = DecodeAnswer(&rest, 404, "application/a2a+json",
		[]byte(`{"error":{"code":404,"status":"NOT_FOUND","message":"no such task",`+
			`"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND",`+
			`"domain":"a2a-protocol.org"}]}}`))
	if rest.TaskID != "t9" || a.Err == nil || a.Err.Name != TaskNotFound || a.Err.Message != "no such task" {
		t.Errorf("1.0: %+v", a.Err)
	}
}

func TestParts(t *testing.T) {
	tests := []struct {
		text            string
		kind            PartKind
		media, filename string
		content         string // of the text, the bytes, the reference or the data, as raw JSON
	}{
		{`{"type":"text","text":"x"}`, TextPart, "", "", `"x"`},
		{`{"text":"x"}`, TextPart, "", "", `"x"`},
		{`{"kind":"file","file":{"name":"n","mimeType":"a/b","bytes":"AA=="}}`, RawPart, "a/b", "n", `"AA=="`},
		{`{"kind":"file","file":{"mimeType":"a/b","uri":"u"}}`, URLPart, "a/b", "", `"u"`},
		{`{"file":{"fileWithUri":"u","mimeType":"a/b"}}`, URLPart, "a/b", "", `"u"`},
		{`{"file":{"fileWithBytes":"AA=="}}`, RawPart, "", "", `"AA=="`},
		{`{"kind":"file","file":{"bytes":"AA==","uri":"u"}}`, FilePart, "", "", ``},
		{`{"kind":"file"}`, FilePart, "", "", ``},
		{`{"kind":"data","data":{"data":{}}}`, DataPart, "", "", `{"data":{}}`},
		{`{"data":{"data":{"k":1}}}`, DataPart, "", "", `{"k":1}`},
		{`{"data":null}`, DataPart, "", "", `null`},
		{`{"data":[1],"mediaType":"application/json"}`, DataPart, "application/json", "", `[1]`},
		{`{"raw":"AAE=","mediaType":"a/b","filename":"f"}`, RawPart, "a/b", "f", `"AAE="`},
		{`{"url":"u","text":null}`, URLPart, "", "", `"u"`},
		{`{"text":"x","url":"u"}`, UnknownPart, "", "", ``},
		{`{"text":null}`, UnknownPart, "", "", ``},
		{`{"text":7}`, TextPart, "", "", `7`},
		{`{"te\u0078t":"x"}`, TextPart, "", "", `"x"`},
		{`{"text":"x","text":"y"}`, TextPart, "", "", `"x"`},
		{`{}`, UnknownPart, "", "", ``},
		{`"x"`, UnknownPart, "", "", ``},
	}
	for _, test := range tests {
		p := Part{parse(t, test.text)}
		if p.PartKind() != test.kind || p.MediaType() != test.media || p.Filename() != test.filename {
			t.Errorf("%s: kind %d, media type %q, name %q", test.text, p.PartKind(), p.MediaType(), p.Filename())
		}
		if p.anyKind() != test.kind {
			t.Errorf("%s: kind %d by all members", test.text, p.anyKind())
		}
		var content Value
		switch test.kind {
		case TextPart:
			content = p.Get("text")
		case RawPart:
			content = p.Bytes()
		case URLPart:
			content = p.URI()
		case DataPart:
			content = p.Data()
		}
		expect.Equal(t, test.text+": content", test.content, string(content.Raw()))
	}
}

// TestProtoFlavour reads what servers make of the proto files of 0.x over HTTP+JSON.
func TestProtoFlavour(t *testing.T) {
	c := ask("POST /v1/message:send",
		`{"message":{"messageId":"m1","role":"ROLE_USER","content":[{"text":"hi"},{"data":{"data":{"k":1}}}]}}`,
		Known{})
	m := Message{c.Message}
	if c.Dialects != Of(V0_2, V0_3) || c.MessageID != "m1" || m.Role() != UserRole || m.Parts().Len() != 2 {
		t.Errorf("request in %q: %s", c.Dialects, m.Raw())
	}
	kinds := []PartKind{TextPart, DataPart}
	for i, p := range m.Parts().All() {
		expect.Equal(t, fmt.Sprintf("part %d is of kind", i), kinds[i], p.PartKind())
	}
	a := DecodeAnswer(&c, 200, "application/json",
		[]byte(`{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_CANCELLED",`+
			`"update":{"messageId":"m2","role":"ROLE_AGENT"}}}}`))
	task := Task{a.Payload.Value}
	if task.State() != Canceled || task.StatusMessage().ID() != "m2" || a.Payload.Dialects != Of(V0_2, V0_3) {
		t.Errorf("task in %q: %s", a.Payload.Dialects, task.Raw())
	}
}

func TestLists(t *testing.T) {
	list := Call{Binding: JSONRPC, Operation: ListTasks, Dialects: Of(V1_0)}
	var got []string
	for _, body := range []string{result(`{"tasks":[{"id":"a"},{"id":"b"}]}`), result(`[{"id":"c"}]`)} {
		for task := range DecodeAnswer(&list, 200, "", []byte(body)).Payload.Tasks() {
			got = append(got, task.ID()+task.Pointer())
		}
	}
	configs := Call{Binding: JSONRPC, Operation: ListPushConfigs, Dialects: Of(V1_0)}
	for _, body := range []string{
		result(`{"configs":[{"id":"p","url":"u"}]}`),
		result(`[{"pushNotificationConfig":{"id":"q"}}]`),
	} {
		for config := range DecodeAnswer(&configs, 200, "", []byte(body)).Payload.PushConfigs() {
			got = append(got, config.ID()+config.Pointer())
		}
	}
	want := "a/result/tasks/0 b/result/tasks/1 c/result/0 p/result/configs/0 q/result/0"
	expect.Equal(t, "", want, strings.Join(got, " "))
}

func parse(t testing.TB, text string) Value {
	t.Helper()
	doc := Parse([]byte(text))
	if doc.Err != nil {
		t.Fatalf("parse %s: %v", text, doc.Err)
	}
	return doc.Root
}
