package a2a

import (
	"net/http"
	"strings"
	"testing"
)

// BenchmarkExchange decodes a send and its answer, each of 1.2 KB.
func BenchmarkExchange(b *testing.B) {
	fill := strings.Repeat("lorem ipsum ", 60)
	metadata := `"metadata":{"trace":"4bf92f3577b34da6a3ce929d0e0e4736","tags":["a","b","c"],"n":12,"ok":true}`
	request := []byte(rpc("SendMessage",
		`{"message":{"messageId":"6f1c1b9e-6c3b-4f7a-9d5e-0a4a6c9b1d11","contextId":"c-1","role":"ROLE_USER",`+
			`"parts":[{"text":"`+fill+`"},{"data":{"k":[1,2,3],"s":"x"}}],`+metadata+
			`},"configuration":{"historyLength":3,"returnImmediately":true,"acceptedOutputModes":["text/plain"]}}`))
	answer := []byte(result(`{"task":{"id":"0a4a6c9b-1d11-4f7a-9d5e-6f1c1b9e6c3b","contextId":"c-1",` +
		`"status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-03-01T10:00:00.000Z"},` +
		`"artifacts":[{"artifactId":"a1","parts":[{"text":"` + fill +
		`"}]}],"history":[{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}],` + metadata + `}}`))
	header := http.Header{"A2a-Version": {"1.0"}}
	b.SetBytes(int64(len(request) + len(answer)))
	b.ReportAllocs()
	for b.Loop() {
		c := DecodeRequest(Request{Method: "POST", Target: "/rpc", Header: header.Get, Body: request}, Known{})
		a := DecodeAnswer(&c, 200, "application/json", answer)
		if c.Operation != SendMessage || a.Payload.Dialects != Of(V1_0) {
			b.Fatalf("%v, %q", c.Operation, a.Payload.Dialects)
		}
	}
}

// BenchmarkEvent decodes one small event of a stream.
func BenchmarkEvent(b *testing.B) {
	c := Call{Binding: JSONRPC, Operation: SendStreamingMessage, Dialects: Of(V1_0)}
	data := []byte(result(`{"artifactUpdate":{"taskId":"t2","contextId":"c1","artifact":{"artifactId":"a1",` +
		`"parts":[{"text":"a few words "}]},"append":true}}`))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if a := DecodeEvent(&c, data); a.Payload.Kind != ArtifactPayload {
			b.Fatal(a.Payload.Kind)
		}
	}
}
