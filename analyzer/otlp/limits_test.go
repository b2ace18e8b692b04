package otlp_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"a2atap/analyzer/otlp"
	"a2atap/proxy/capture"
	"a2atap/proxy/safetext"
)

// Of a long stream the first and the last events are in its span, and the others are counted.
func TestLongStream(t *testing.T) {
	begin, rest, _ := strings.Cut(session, "data: ")
	event, rest, _ := strings.Cut(rest, "\n\n")
	_, end, _ := strings.Cut(rest, "-- 2.request")
	const events = 300
	text := begin + strings.Repeat("data: "+event+"\n\n", events) + "-- 2.request" + end
	_, spans := export(t, source(t, text), otlp.Options{Bodies: true})
	span, streamed := sent(t, spans), 0
	for _, e := range span.Events {
		if e.Name == "Task" {
			streamed++
		}
	}
	if streamed != 2*otlp.KeptEvents || span.DroppedEventsCount < events-2*otlp.KeptEvents {
		t.Errorf("%d events are kept, %d dropped", streamed, span.DroppedEventsCount)
	}
	if size := proto.Size(span); size > 128<<10 {
		t.Errorf("the span takes %d bytes", size)
	}
}

// Whatever an exchange contains, its span is valid for the protocol and safe for a terminal.
func FuzzSpan(f *testing.F) {
	f.Add([]byte("POST / HTTP/1.1\r\n\r\n"), []byte(`{"jsonrpc":"2.0","id":"\xff","method":"GetTask"}`),
		[]byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"), []byte("data: {}\n\n"), "a", "http://[::1")
	f.Add([]byte("\xff /\xfe\r\nUser-Agent: \x80\r\n\r\n"), []byte(nil), []byte("HTTP/1.1"), []byte("x"), "\xff", "\x00")
	f.Add([]byte("POST /\u202e HTTP/1.1\r\nUser-Agent: \u0085\u2066\r\n\r\n"), []byte(`{"method":"\u202eksaTteG\u009b"}`),
		[]byte("HTTP/1.1 200 OK\r\n\r\n"), []byte("data: \u202e\n\n"), "booker\u202e\u009b31m", "http://a\u2028")
	f.Fuzz(func(t *testing.T, head, body, answer, event []byte, name, url string) {
		x := &capture.Exchange{
			Seq: 1, Client: capture.Peer{Name: name, Addr: url}, Agent: capture.Peer{Name: name, URL: url},
			Request: capture.Request{Head: head, Body: capture.Body{Data: body}},
			Response: &capture.Response{
				Head: answer, Stream: true, Events: []capture.Event{{K: 1, Raw: event}, {K: 1 << 40, Raw: event}},
			},
			Fault: &capture.TransportFault{Kind: name, Side: url},
		}
		spans := otlp.New(otlp.Options{Bodies: true})
		data := spans.Batch([]otlp.Span{spans.Exchange(x, name, nil)})
		if _, err := proto.Marshal(data); err != nil {
			t.Error(err)
		}
		text, err := otlp.AppendJSON(nil, data)
		if err != nil {
			t.Fatal(err)
		}
		if safe := safetext.JSON(text); string(safe) != string(text) {
			t.Errorf("%q has what a terminal obeys", text)
		}
		if !proto.Equal(data, parse(t, string(text))) {
			t.Errorf("%s is not what was written", text)
		}
	})
}
