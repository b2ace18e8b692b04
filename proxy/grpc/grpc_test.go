package grpc_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"a2atap/proxy/expect"
	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/must"
)

// fuzzed are the messages that hold all others.
var fuzzed = []struct {
	service string
	method  protoreflect.Name
	answer  bool
}{
	{grpc.Service0_3, "SendMessage", false},
	{grpc.Service0_3, "SendStreamingMessage", true},
	{grpc.Service0_3, "GetAgentCard", true},
	{grpc.Service1_0, "SendMessage", false},
	{grpc.Service1_0, "SendStreamingMessage", true},
	{grpc.Service1_0, "GetExtendedAgentCard", true},
}

// messages are of a StreamResponse of 1.0, or close to it.
var messages = []string{
	"",
	"\x0a\x04\x0a\x02t1",                   // a task
	"\x0a\x04\x0a\x02t1\x0a\x04\x12\x02c1", // in two pieces
	"\x0a\x04\x0a\x02t1\x12\x04\x0a\x02m1", // overwritten
	"\x12\x0b\x2a\x03\x0a\x01a\x2a\x04\x22\x02\x08\x00",                            // parts
	"\x0a\x022\x02\x0a\x0200",                                                      // in two invalid pieces
	"\x0a\x04\x0a\x02t",                                                            // cut off
	"\x0a\x03\x0a\x01\xff",                                                         // not UTF-8
	"\x0a\x04\x1a\x02\x08\x63",                                                     // a state that there is not
	"\x4a\x01x\x0b\x0c\x08\x01",                                                    // fields that do not exist
	"\x0a\x0a\x32\x08\x0a\x06\x0a\x01k\x12\x01\x00",                                // invalid metadata
	"\x0a\x0c\x1a\x0a\x1a\x08\x08\xff\xff\xff\xff\xff\x7f\x10",                     // an instant that is cut off
	"\x0a\x0f\x1a\x0d\x1a\x07\x08\xff\xff\xff\xff\xff\x7f\x1a\x02\x10\x05",         // no instant, in two pieces
	"\x0a\x11\x1a\x0f\x1a\x07\x08\xff\xff\xff\xff\xff\x7f\x1a\x04\x10\x05\x08\x07", // an instant, the same
}

func answer(t *testing.T) *grpc.Type {
	t.Helper()
	m, ok := grpc.MethodOf("/lf.a2a.v1.A2AService/SendStreamingMessage")
	if !ok || !m.Known() || !m.Streams {
		t.Fatalf("got %+v, %v", m, ok)
	}
	return m.Answer
}

func TestMethodOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path      string
		ok, known bool
	}{
		{"/a2a.v1.A2AService/TaskSubscription", true, true},
		{"/a2a.v1.A2AService/SubscribeToTask", true, false},
		{"/lf.a2a.v1.A2AService/TaskSubscription", true, false},
		{"/lf.a2a.v1.A2AService/SubscribeToTask", true, true},
		{"/lf.a2a.v1.A2AService/", true, false},
		{"/prefix/lf.a2a.v1.A2AService/GetTask", false, false},
		{"/grpc.health.v1.Health/Check", false, false},
		{"lf.a2a.v1.A2AService/GetTask", false, false},
		{"/", false, false},
		{"", false, false},
	} {
		m, ok := grpc.MethodOf(tt.path)
		if ok != tt.ok || m.Known() != tt.known {
			t.Errorf("%s: got %+v, %v", tt.path, m, ok)
		}
	}
}

func TestToJSON(t *testing.T) {
	t.Parallel()
	for i, want := range []string{
		`{}`,
		`{"task":{"id":"t1"}}`,
		`{"task":{"id":"t1","contextId":"c1"}}`,
		`{"message":{"messageId":"m1"}}`,
		`{"message":{"parts":[{"text":"a"},{"data":null}]}}`,
		"task is cut off or broken: unexpected EOF at /task",
		"task is cut off or broken: unexpected EOF",
		"id is not UTF-8 at /task",
		`{"task":{"status":{"state":99}}}`,
		`{} [{ 9 bytes  } { 1 group task } { 1 varint task }]`,
		"an invalid tag at /task/metadata",
		"nanos is cut off or broken: unexpected EOF at /task/status/timestamp",
		`{"task":{"status":{}}} [{/task/status 3 bytes timestamp it is not a time of the years 1 to 9999}]`,
		`{"task":{"status":{"timestamp":"1970-01-01T00:00:07.000000005Z"}}}`,
	} {
		text, unknown, err := answer(t).ToJSON([]byte(messages[i]))
		got := string(text)
		if len(unknown) > 0 {
			got += fmt.Sprintf(" %v", unknown)
		}
		if err != nil {
			got = err.Error()
		}
		expect.Equal(t, messages[i], want, got)
	}
}

func isLimit(err error) bool {
	fault, ok := errors.AsType[*grpc.Error](err)
	return ok && fault.Limit
}

// nested returns data that are lists in lists.
func nested(levels int) []byte {
	var value []byte
	for range levels {
		list := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), value)
		value = protowire.AppendBytes(protowire.AppendTag(nil, 6, protowire.BytesType), list)
	}
	message := value
	for _, number := range []protowire.Number{4, 5, 2} { // data of a part of a message
		message = protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), message)
	}
	return message
}

func TestTooDeep(t *testing.T) {
	t.Parallel()
	text, _, err := answer(t).ToJSON(nested(1000))
	if doc := jsondoc.Parse(text); err != nil || doc.Err != nil {
		t.Errorf("a thousand levels: %v, %v", err, doc.Err)
	}
	if _, _, err := answer(t).ToJSON(nested(6000)); !isLimit(err) {
		t.Errorf("six thousand levels: got %.100s", err)
	}
}

// Duplicate messages are copied to be merged, at each level of their nesting.
func TestTooOftenMerged(t *testing.T) {
	t.Parallel()
	value := []byte{}
	for range 3000 {
		held := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType),
			protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), value))
		value = protowire.AppendBytes(protowire.AppendTag(nil, 5, protowire.BytesType), held)
		value = append(value, "\x2a\x00"...)
	}
	message := value
	for _, number := range []protowire.Number{4, 5, 2} {
		message = protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), message)
	}
	if _, _, err := answer(t).ToJSON(message); !isLimit(err) {
		t.Errorf("got %.100v for %d bytes", err, len(message))
	}
}

func TestFromJSONRefuses(t *testing.T) {
	t.Parallel()
	m, _ := grpc.MethodOf("/lf.a2a.v1.A2AService/SendMessage")
	for text, want := range map[string]string{
		`{"message":{"parts":[{"text":"a","url":"b"}]}}`: "Part cannot have it together with text at /message/parts/0/url",
		`{"message":{"kind":"message"}}`:                 "Message has no field of that name at /message/kind",
		`{"message":[]}`:                                 "not an object, as Message is at /message",
		`{"message":{"role":"user"}}`:                    "not a value of role at /message/role",
		`{"message":{"messageId":7}}`:                    "not a string, as messageId is at /message/messageId",
		`{"message":{"extensions":{}}}`:                  "not a list, as extensions is at /message/extensions",
		`{"message":{"parts":[{"raw":"!"}]}}`:            "not base64 at /message/parts/0/raw",
		`{"configuration":{"historyLength":1.5}}`:        "not a 32-bit integer at /configuration/historyLength",
		`{"configuration":{"historyLength":4e9}}`:        "not a 32-bit integer at /configuration/historyLength",
		`{"configuration":{"returnImmediately":"yes"}}`: "neither true nor false, as returnImmediately is at " +
			"/configuration/returnImmediately",
		`{"metadata":"none"}`: "not an object at /metadata",
	} {
		doc := jsondoc.Parse([]byte(text))
		if _, err := m.Request.FromJSON(doc.Root); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	list, _ := grpc.MethodOf("/lf.a2a.v1.A2AService/ListTasks")
	doc := jsondoc.Parse([]byte(`{"pageSize":"20","status":3,"contextId":null,"statusTimestampAfter":"yesterday"}`))
	expect.ErrorHas(t, "", "not an RFC 3339 time", expect.Err(list.Request.FromJSON(doc.Root)))
}

func TestPlain(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	fmt.Fprint(w, "said")
	w.Close()
	compressed := grpc.AppendFrame(nil, zipped.Bytes())
	compressed[0] = 1
	frame, rest, ok := grpc.Cut(compressed)
	if !ok || len(rest) > 0 {
		t.Fatalf("got %+v and %q", frame, rest)
	}
	if plain, err := frame.Plain("gzip"); string(plain) != "said" || err != nil {
		t.Errorf("got %q, %v", plain, err)
	}
	expect.ErrorIs(t, "", grpc.ErrEncoding, expect.Err(frame.Plain("snappy")))
	for _, none := range []string{"", "identity", " Identity "} {
		expect.ErrorIs(t, none, grpc.ErrUnnamed, expect.Err(frame.Plain(none)))
	}
	expect.ErrorHas(t, "", "it is not in deflate: zlib: invalid header", expect.Err(frame.Plain("deflate")))
	frame, _, _ = grpc.Cut(compressed[:len(compressed)-1])
	expect.ErrorIs(t, "", grpc.ErrCutOff, expect.Err(frame.Plain("gzip")))
	frame, _, _ = grpc.Cut([]byte("\x02\x00\x00\x00\x00"))
	expect.ErrorIs(t, "", grpc.ErrReserved, expect.Err(frame.Plain("")))
}

// notFound is a google.rpc.Status with an ErrorInfo, in base64.
const notFound = "CAUSBGdvbmUaTgoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLkVycm9ySW5mbxIiCg5UQVNLX05PVF9GT1" +
	"VORBIQYTJhLXByb3RvY29sLm9yZw=="

func trailer(code, message, details string) func(string) string {
	return func(name string) string {
		return map[string]string{
			grpc.StatusField: code, grpc.MessageField: message, grpc.DetailsField: details,
		}[name]
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ code, message, details, want string }{
		{"0", "", "", `{"code":0,"status":"OK","message":""}`},
		{
			"14", "connection%20refused%", "",
			`{"code":14,"status":"UNAVAILABLE","message":"connection refused%"}`,
		},
		{"99", "", "", `{"code":99,"status":"99","message":""}`},
		{"no", "", "", `{"code":2,"status":"UNKNOWN","message":""}`},
		{"-1", "", "", `{"code":2,"status":"UNKNOWN","message":""}`},
		{"99999999999999999999", "", "", `{"code":2,"status":"UNKNOWN","message":""}`},
		{"0,5", "", "", `{"code":2,"status":"UNKNOWN","message":""}`}, // repeated
		{"5, 0", "", "", `{"code":2,"status":"UNKNOWN","message":""}`},
		{"5,5", "", "", `{"code":5,"status":"NOT_FOUND","message":""}`},
		{"0,", "", "", `{"code":2,"status":"UNKNOWN","message":""}`},
	} {
		s, ok := grpc.StatusOf(trailer(tt.code, tt.message, tt.details))
		if diff := cmp.Diff(tt.want, string(s.JSON())); diff != "" || !ok || (s.Bad == "") != (tt.code == "0" || tt.code == "14") {
			t.Errorf("%s: %+v, %v\n%s", tt.code, s, ok, diff)
		}
	}
	if _, ok := grpc.StatusOf(trailer("", "", "")); ok {
		t.Error("there is a status without a grpc-status")
	}
}

func TestErrorInfo(t *testing.T) {
	t.Parallel()
	s, _ := grpc.StatusOf(trailer("5", "gone", notFound))
	const want = `{"code":5,"status":"NOT_FOUND","message":"gone","details":[{"@type":` +
		`"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}]}`
	expect.Equal(t, "", want, string(s.JSON()))
}

// A message that is held is read only where it has what is wanted: what else it holds is not decoded.
func TestReadHeldWanted(t *testing.T) {
	method, _ := grpc.MethodOf("/" + grpc.Service1_0 + "/SendMessage")
	as := grpc.Codec{Type: method.Request}
	wanted := func(message []byte) bool {
		return as.Type.Mentions(message, 2, func(name string) (wanted, within bool) {
			return name == "taskPushNotificationConfig", name == "configuration"
		})
	}
	for text, want := range map[string]bool{
		`{"message":{"messageId":"m","parts":[{"text":"taskPushNotificationConfig"}]}}`:                           false,
		`{"message":{"messageId":"m"},"configuration":{"historyLength":1}}`:                                       false,
		`{"message":{"messageId":"m"},"configuration":{"taskPushNotificationConfig":{"url":"http://127.0.0.1"}}}`: true,
	} {
		body := must.Get(as.Write(jsondoc.Parse([]byte(text)).Root))(t)
		before := jsondoc.Texts()
		message, read := as.ReadHeld(body, wanted)
		if (read != nil) != want || len(message) != len(body)-grpc.PrefixSize || want && read.Err != nil {
			t.Errorf("%s: got %+v, want it read %t", text, read, want)
		}
		if n := jsondoc.Texts() - before; !want && n > 0 {
			t.Errorf("%s: %d texts were parsed", text, n)
		}
		if wanted(message[:len(message)-1]) && !want {
			t.Errorf("%s: what is cut off has what is wanted", text)
		}
	}
}

// A message with the fields of 0.3 is not read as one of 1.0, although its bytes allow it. A tenant of any name is.
func TestFieldsBefore1_0(t *testing.T) {
	t.Parallel()
	const said = `{"message":{"messageId":"m1","role":"ROLE_USER","content":[{"text":"hi"}]}`
	for _, tt := range []struct{ method, package0_3, text string }{
		{"SendMessage", "SendMessage", said + `}`},
		{"SendStreamingMessage", "SendMessage", said + `,"configuration":{"acceptedOutputModes":["text/plain"],"blocking":true}}`},
		{"GetTask", "GetTask", `{"name":"tasks/t1"}`},
		{"CancelTask", "CancelTask", `{"name":"tasks/t1"}`},
		{"SubscribeToTask", "TaskSubscription", `{"name":"tasks/t1"}`},
		{
			"CreateTaskPushNotificationConfig", "CreateTaskPushNotificationConfig",
			`{"parent":"tasks/t1","config":{"pushNotificationConfig":{"url":"http://a.example"}}}`,
		},
		{"GetTaskPushNotificationConfig", "GetTaskPushNotificationConfig", `{"name":"tasks/t1/pushNotificationConfigs/p1"}`},
		{"DeleteTaskPushNotificationConfig", "DeleteTaskPushNotificationConfig", `{"name":"tasks/t1/pushNotificationConfigs/p1"}`},
	} {
		older, _ := grpc.MethodIn(grpc.Service0_3, tt.package0_3)
		doc := jsondoc.Parse([]byte(tt.text))
		message := must.Get((&grpc.Codec{Type: older.Request}).Write(doc.Root))(t)
		if r := (&grpc.Codec{Type: older.Request}).Read(message); r.Err != nil {
			t.Errorf("%s of 0.3: %v", tt.method, r.Err)
		}
		m, _ := grpc.MethodIn(grpc.Service1_0, tt.method)
		if r := (&grpc.Codec{Type: m.Request}).Read(message); r.Err == nil || r.Limit() || !strings.Contains(r.Err.Error(), "a2a.v1") {
			t.Errorf("%s of 0.3 is read as one of 1.0: %s, %v", tt.method, r.Text, r.Err)
		}
	}
	for method, text := range map[string]string{
		"SendMessage": `{"tenant":"tasks/t1","message":{"messageId":"m1"}}`,
		"GetTask":     `{"tenant":"tasks/t1","id":"t1"}`,
		"CancelTask":  `{"tenant":"acme"}`,
	} {
		m, _ := grpc.MethodIn(grpc.Service1_0, method)
		doc := jsondoc.Parse([]byte(text))
		message := must.Get((&grpc.Codec{Type: m.Request}).Write(doc.Root))(t)
		if r := (&grpc.Codec{Type: m.Request}).Read(message); r.Err != nil {
			t.Errorf("%s: %v", text, r.Err)
		}
	}
}
