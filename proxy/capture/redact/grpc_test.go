package redact

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/must"
)

// grpcHead is the head of a call over gRPC.
func grpcHead(method string) []byte {
	return []byte("POST /lf.a2a.v1.A2AService/" + method + " HTTP/2\r\nHost: booker\r\n" +
		"content-type: application/grpc\r\n\r\n")
}

const grpcAnswer = "HTTP/2 200 \r\ncontent-type: application/grpc\r\n\r\n"

// grpcTypes returns how the messages of a method are read.
func grpcTypes(t testing.TB, method string) (request, answer *grpc.Codec) {
	t.Helper()
	m, ok := grpc.MethodOf("/lf.a2a.v1.A2AService/" + method)
	if !ok || !m.Known() {
		t.Fatalf("there is no method %s", method)
	}
	return &grpc.Codec{Type: m.Request}, &grpc.Codec{Type: m.Answer}
}

func write(t testing.TB, as *grpc.Codec, text string) []byte {
	t.Helper()
	doc := jsondoc.Parse([]byte(text))
	return must.Get(as.Write(doc.Root))(t)
}

// A call sets a push config, and is answered with it.
func TestMessagesOfGRPC(t *testing.T) {
	const method = "CreateTaskPushNotificationConfig"
	request, answer := grpcTypes(t, method)
	const config = `{"taskId":"t1","url":"http://hook/x","token":"«geheim»",` +
		`"authentication":{"scheme":"Bearer","credentials":"«abc»"}}`
	plain := strings.NewReplacer("«", "", "»", "").Replace(config)
	asked, answered := write(t, request, plain), write(t, answer, plain)
	sink, _ := run(t, Options{}, new(tape).add(capture.Opened{Head: grpcHead(method)},
		capture.RequestBody{Data: asked[:7]}, capture.RequestBody{Data: asked[7:]},
		capture.RequestEnd{Size: int64(len(asked))},
		capture.ResponseHead{Head: []byte(grpcAnswer), Stream: true},
		capture.ResponseEvent{Event: capture.Event{K: 1, Raw: answered}},
		capture.ResponseEnd{Trailer: []byte("grpc-status: 0\r\n")}, capture.Closed{}))
	x := sink.exchange()
	if got := request.Read(x.Request.Body.Data); got.Err != nil || string(got.Text) != masked(config) {
		t.Errorf("request: got %s, %v, want %s", got.Text, got.Err, masked(config))
	}
	if got := answer.Read(x.Response.Events[0].Raw); got.Err != nil || string(got.Text) != masked(config) {
		t.Errorf("answer: got %s, %v, want %s", got.Text, got.Err, masked(config))
	}
	if x.Lost != 0 || x.Request.Body.Dropped != 0 || x.Response.Events[0].Dropped != 0 {
		t.Errorf("something is missing: %+v", x)
	}
}

// A message without secrets passes byte for byte, unknown fields included, together with its parsed form.
func TestMessagesWithoutSecrets(t *testing.T) {
	const method = "SendMessage"
	request, _ := grpcTypes(t, method)
	raw := write(t, request, `{"message":{"messageId":"m1","parts":[{"text":"hello"}]}}`)
	raw = grpc.AppendFrame(nil, append(raw[grpc.PrefixSize:], "\x7a\x02hi"...)) // field 15
	sink, _ := run(t, Options{}, new(tape).add(capture.Opened{Head: grpcHead(method)},
		capture.RequestBody{Data: raw}, capture.RequestEnd{Size: int64(len(raw))}, capture.Closed{}))
	if got := sink.exchange().Request.Body.Data; !bytes.Equal(got, raw) {
		t.Errorf("got %q, want %q", got, raw)
	}
	for _, s := range sink.steps {
		p := s.Parsed
		if _, ok := s.What.(capture.RequestEnd); ok && (p == nil || p.Message == nil || len(p.Message.Unknown) != 1 ||
			p.Doc == nil || string(p.Text) != string(p.Message.Text)) {
			t.Errorf("got %+v along with the end", p)
		}
	}
}

// Secrets are also found at places that no reader of the type sees.
func TestSecretsOutOfSight(t *testing.T) {
	const method = "SendMessage"
	request, _ := grpcTypes(t, method)
	message := write(t, request, `{"message":{"messageId":"m1"}}`)[grpc.PrefixSize:]
	for name, raw := range map[string][]byte{
		"a field that nobody knows":    append(bytes.Clone(message), "\x7a\x1eAuthorization: Bearer geheim12"...),
		"a tenant that is overwritten": append([]byte("\x0a\x08geheim12\x0a\x02ok"), message...),
		"what is no message":           []byte("geheim12"),
		"a message that is cut off":    message[:len(message)-1],
	} {
		raw = grpc.AppendFrame(nil, raw)
		sink, _ := run(t, Options{}, new(tape).add(capture.Opened{Head: grpcHead(method)},
			capture.RequestBody{Data: raw}, capture.RequestEnd{Size: int64(len(raw))}, capture.Closed{}))
		x := sink.exchange()
		if bytes.Contains(x.Request.Body.Data, []byte("geheim12")) {
			t.Errorf("%s: got %q", name, x.Request.Body.Data)
		}
		got := request.Read(x.Request.Body.Data)
		all := int64(len(raw))
		withheld := x.Request.Body.Dropped == all && x.Lost == 0 && len(x.Notes) == 1
		if got.Err != nil != withheld {
			t.Errorf("%s: got %v, %+v", name, got.Err, x)
		}
		for _, note := range x.Notes {
			if _, ok := capture.ParseUnreadable(note); !ok || strings.Contains(note, "geheim") {
				t.Errorf("%s: got %q", name, note)
			}
		}
	}
}

func TestDetailsOfAnError(t *testing.T) {
	// Each is a google.rpc.Status: with an ErrorInfo, and with a message that holds a token.
	const plain = "CAUSBGdvbmUaTgoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLkVycm9ySW5mbxIiCg5UQVNLX05PVF9GT1" +
		"VORBIQYTJhLXByb3RvY29sLm9yZw=="
	secret := base64.StdEncoding.EncodeToString([]byte("\x08\x05\x12\x1eAuthorization: Bearer geheim12"))
	for details, want := range map[string]string{
		plain: plain, secret: testMask.placeholder(secret), "AAAA": testMask.placeholder("AAAA"), "": "",
	} {
		head := "grpc-status: 5\r\nGrpc-Status-Details-Bin: " + details + "\r\n"
		got := string(testMask.head([]byte(head), fieldsOnly))
		expect.Equal(t, "", "grpc-status: 5\r\nGrpc-Status-Details-Bin: "+want+"\r\n", got)
	}
}

func FuzzMessage(f *testing.F) {
	request, _ := grpcTypes(f, "SendMessage")
	f.Add(write(f, request, `{"message":{"parts":[{"data":{"password":"geheim12"}}]}}`))
	f.Add([]byte("\x00\x00\x00\x00\x0a\x0a\x08geheim12"))
	f.Add([]byte("\x00\x00\x00\x00\x0c\x12\x0a\x0a\x08geheim\xff\xfe"))
	f.Add([]byte("\x01\x00\x00\x00\x08geheim12"))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x09\x0a\x08geheim12\xee"))
	f.Add([]byte("\x00\x00\x00\x00\x17\x12\x15\x3a\x13\x0a\x11\x0a\x08geheim12\x12\x05\x1a\x03a\xffb"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var parsed capture.Parsed
		r := &redactor{}
		must.Do(t, r.readMessage(request, raw, &parsed))
		now, err := testSearch(new(placeSet)).grpcMessages(r.read, request, raw, parsed.Message)
		if isUnreadable(err) {
			again, ok := capture.ParseUnreadable(err.Error())
			if !ok || again.Error() != err.Error() || strings.Contains(err.Error(), "geheim") {
				t.Fatalf("got %q, which is read as %q", err, again.Error())
			}
		}
		if err != nil || bytes.Equal(now, raw) {
			return
		}
		for rest, n := now, 0; len(rest) > 0; n++ {
			again := request.Read(rest)
			if rest = again.Rest; again.Err != nil || n == 0 && (len(again.Unknown) > 0 && len(rest) == 0 || again.Overwritten) {
				t.Fatalf("got %q, which has %v, %v", now, again.Unknown, again.Err)
			}
		}
	})
}
