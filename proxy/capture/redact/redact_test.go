package redact

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// A recordingSink keeps what it is given.
type recordingSink struct {
	steps  []capture.Step
	closed bool
	err    error
}

func (r *recordingSink) Append(steps ...capture.Step) error {
	r.steps = append(r.steps, steps...)
	return r.err
}

func (r *recordingSink) Close() error {
	r.closed = true
	return r.err
}

// A fakeDescriber answers with functions; those that are nil know nothing.
type fakeDescriber struct {
	request, response func(x *capture.Exchange) capture.Description
	event             func(x *capture.Exchange, e *capture.Event) capture.Description
}

func (f fakeDescriber) Request(x *capture.Exchange, _ *capture.Parsed) capture.Description {
	if f.request == nil {
		return capture.Description{}
	}
	return f.request(x)
}

func (f fakeDescriber) Response(x *capture.Exchange, _ *capture.Parsed) capture.Description {
	if f.response == nil {
		return capture.Description{}
	}
	return f.response(x)
}

func (f fakeDescriber) Event(x *capture.Exchange, e *capture.Event, _ *capture.Parsed) capture.Description {
	if f.event == nil {
		return capture.Description{}
	}
	return f.event(x, e)
}

// A tape makes the steps of one exchange, a millisecond apart.
type tape struct {
	seq   uint64
	steps []capture.Step
}

func (tp *tape) add(what ...capture.What) *tape {
	for _, w := range what {
		tp.steps = append(tp.steps,
			capture.Step{Seq: tp.seq, Offset: time.Duration(len(tp.steps)) * time.Millisecond, What: w})
	}
	return tp
}

const (
	testDecodeLimit = 1000

	jsonPost   = "POST /rpc HTTP/1.1\r\nContent-Type: application/json\r\n\r\n"
	jsonAnswer = "HTTP/1.1 200 OK\r\nContent-Type: application/a2a+json; charset=utf-8\r\n\r\n"
)

// run gives the steps of a tape to a redactor and returns what comes out, step by step as kinds and offsets too.
func run(t *testing.T, opts Options, tp *tape) (*recordingSink, string) {
	t.Helper()
	sink := &recordingSink{}
	opts.Key = testMask.key
	r := New(sink, opts)
	r.(*redactor).decodeLimit = testDecodeLimit
	var order []string
	for _, s := range tp.steps {
		n := len(sink.steps)
		must.Do(t, r.Append(s))
		var came []string
		for _, s := range sink.steps[n:] {
			came = append(came,
				fmt.Sprintf("%s@%d", strings.TrimPrefix(fmt.Sprintf("%T", s.What), "capture."),
					s.Offset.Milliseconds()))
		}
		order = append(order, strings.Join(came, " "))
	}
	if err := r.Close(); err != nil || !sink.closed {
		t.Fatalf("close: %v, next closed: %v", err, sink.closed)
	}
	if in := r.(*redactor); len(in.open) != 0 || in.held != 0 {
		t.Errorf("after the end %d exchanges are open and %d bytes are held", len(in.open), in.held)
	}
	return sink, strings.Join(order, " | ")
}

func (r *recordingSink) exchange() *capture.Exchange {
	var x *capture.Exchange
	for _, s := range r.steps {
		x = capture.Assemble(x, s)
	}
	return x
}

func TestOrder(t *testing.T) {
	head := func(mediaType, more string) []byte {
		return []byte("POST / HTTP/1.1\r\nContent-Type: " + mediaType + "\r\n" + more + "\r\n")
	}
	answer := capture.ResponseHead{Head: []byte(jsonAnswer)}
	tests := []struct {
		name string
		tape *tape
		want string
	}{
		{
			"JSON waits for its end, offsets stay",
			new(tape).add(capture.Opened{Head: []byte(jsonPost)}, capture.RequestBody{Data: []byte(`{"a":`)},
				capture.RequestBody{Data: []byte(`1}`)}, capture.RequestEnd{}, answer,
				capture.ResponseBody{Data: []byte(`{}`)}, capture.ResponseEnd{}, capture.Closed{}),
			"Opened@0 |  |  | RequestBody@2 RequestEnd@3 | ResponseHead@4 |  | ResponseBody@5 ResponseEnd@6 | Closed@7",
		},
		{
			"others pass at once",
			new(tape).add(capture.Opened{Head: head("image/png", "")}, capture.RequestBody{Data: []byte(`{"a":`)},
				capture.RequestBody{Data: []byte(`1}`)}, capture.RequestEnd{}),
			"Opened@0 | RequestBody@1 | RequestBody@2 | RequestEnd@3",
		},
		{
			"text waits",
			new(tape).add(capture.Opened{Head: head("text/plain", "")}, capture.RequestBody{Data: []byte(`hello`)},
				capture.RequestBody{Data: []byte(`{}`)}, capture.RequestEnd{}),
			"Opened@0 |  |  | RequestBody@2 RequestEnd@3",
		},
		{
			"text that is JSON waits",
			new(tape).add(capture.Opened{Head: head("text/plain", "")}, capture.RequestBody{Data: []byte(" \n")},
				capture.RequestBody{Data: []byte("\n{}")}, capture.RequestEnd{}),
			"Opened@0 |  |  | RequestBody@2 RequestEnd@3",
		},
		{
			"blanks come with what they turn out to be",
			new(tape).add(capture.Opened{Head: head("application/x", "")}, capture.RequestBody{Data: []byte(" \n")},
				capture.RequestBody{Data: []byte("\x00")}, capture.RequestEnd{}),
			"Opened@0 |  | RequestBody@2 | RequestEnd@3",
		},
		{
			"byte order mark in pieces",
			new(tape).add(capture.Opened{Head: head("", "")}, capture.RequestBody{Data: []byte("\xef")},
				capture.RequestBody{Data: []byte("\xbb\xbf ")}, capture.RequestBody{Data: []byte(" {}")},
				capture.RequestEnd{}),
			"Opened@0 |  |  |  | RequestBody@3 RequestEnd@4",
		},
		{
			"blanks alone",
			new(tape).add(capture.Opened{Head: head("text/plain", "")}, capture.RequestBody{Data: []byte(" \n")},
				capture.RequestEnd{}),
			"Opened@0 |  | RequestBody@1 RequestEnd@2",
		},
		{
			"compressed text waits",
			new(tape).add(capture.Opened{Head: head("text/plain", "Content-Encoding: gzip\r\n")},
				capture.RequestBody{Data: []byte("\x1f")}, capture.RequestEnd{}),
			"Opened@0 |  | RequestBody@1 RequestEnd@2",
		},
		{
			"an answer's end waits for the request's",
			new(tape).add(capture.Opened{Head: []byte(jsonPost)}, capture.RequestBody{Data: []byte(`{}`)}, answer,
				capture.ResponseBody{Data: []byte(`{}`)}, capture.ResponseEnd{}, capture.RequestEnd{},
				capture.Closed{}),
			"Opened@0 |  | ResponseHead@2 |  |  | RequestBody@1 RequestEnd@5 ResponseBody@3 ResponseEnd@4 | Closed@6",
		},
		{
			"cut off in both bodies",
			new(tape).add(capture.Opened{Head: []byte(jsonPost)}, capture.RequestBody{Data: []byte(`{`)}, answer,
				capture.ResponseBody{Data: []byte(`{`)}, capture.Closed{}),
			"Opened@0 |  | ResponseHead@2 |  | RequestBody@1 ResponseBody@3 Closed@4",
		},
		{
			"cut off while an answer's end waits",
			new(tape).add(capture.Opened{Head: []byte(jsonPost)}, answer, capture.ResponseBody{Data: []byte(`{}`)},
				capture.ResponseEnd{}, capture.Closed{}),
			"Opened@0 | ResponseHead@1 |  |  | ResponseBody@2 ResponseEnd@3 Closed@4",
		},
		{
			"events and facts pass",
			new(tape).add(capture.Opened{Head: []byte(jsonPost)}, capture.RequestEnd{},
				capture.Informational{Head: []byte("HTTP/1.1 103 Early\r\n\r\n")}, capture.ResponseHead{Stream: true},
				capture.ResponseEvent{Event: capture.Event{K: 1, Raw: []byte("data: {}\n\n")}}, capture.Fact{Note: "x"},
				capture.Closed{}, capture.Fact{Note: "y"}, capture.Lost{}),
			"Opened@0 | RequestEnd@1 | Informational@2 | ResponseHead@3 | ResponseEvent@4 | Fact@5 | Closed@6 | " +
				"Fact@7 | Lost@8",
		},
		{
			"a record with holes",
			new(tape).add(capture.ResponseBody{Data: []byte("{}")}, capture.RequestBody{Data: []byte("{}")},
				capture.Closed{}, capture.Closed{}),
			" |  | RequestBody@1 ResponseBody@0 Closed@2 | Closed@3",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := new(tape).add(tt.tape.steps[0].What)
			in.steps = tt.tape.steps
			sink, order := run(t, Options{}, in)
			expect.Equal(t, "", tt.want, order)
			plain := &recordingSink{}
			must.Do(t, plain.Append(in.steps...))
			expect.Same(t, "nothing is secret", plain.exchange(), sink.exchange())
		})
	}
}

func TestCloseHandsOnWhatWaits(t *testing.T) {
	d := fakeDescriber{request: func(*capture.Exchange) capture.Description {
		return capture.Description{Keys: []capture.Key{{Kind: "task", Value: "t"}}}
	}}
	tp := new(tape).add(capture.Opened{Head: []byte(jsonPost)}, capture.RequestBody{Data: []byte(`{"id_token":"abc"`)})
	sink, _ := run(t, Options{Describer: d}, tp)
	expect.Equal(t, "", masked(`{"id_token":"«abc»"`), string(sink.exchange().Request.Body.Data))
	if last := sink.steps[len(sink.steps)-1]; len(last.Keys) != 1 {
		t.Errorf("the last step has keys %v", last.Keys)
	}
}

func TestPassesErrorsOn(t *testing.T) {
	sink := &recordingSink{err: errors.New("disk full")}
	r := New(sink, Options{})
	expect.ErrorIs(t, "append", sink.err, r.Append(capture.Step{Seq: 1, What: capture.Opened{}}))
	expect.ErrorIs(t, "close", sink.err, r.Close())
}

func TestParsePlace(t *testing.T) {
	for in, want := range map[string]string{"header:X-Pin": "header:x-pin", "/params/*/pin": "/params/*/pin"} {
		expect.Equal(t, in, want, must.Get(ParsePlace(in))(t).String())
	}
	for _, in := range []string{"", "header:", "header:a b", "pin", "/a~"} {
		if r, err := ParsePlace(in); err == nil || !strings.Contains(err.Error(), "redaction") {
			t.Errorf("%q: %v, %v", in, r, err)
		}
	}
}

// texts collects all strings and bytes in v.
func texts(v reflect.Value, add func(string)) {
	switch v.Kind() {
	case reflect.String:
		add(v.String())
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			add(string(v.Bytes()))
			return
		}
		for i := range v.Len() {
			texts(v.Index(i), add)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			texts(v.Field(i), add)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			texts(v.Elem(), add)
		}
	}
}

func TestInMemory(t *testing.T) {
	m := capture.NewMemory(capture.Info{})
	r := New(m, Options{Key: testMask.key})
	tp := (&tape{seq: 1}).add(capture.Opened{Head: []byte(jsonPost)},
		capture.RequestBody{Data: []byte(`{"id_token":"abc"}`)}, capture.RequestEnd{}, capture.Closed{})
	must.Do(t, errors.Join(r.Append(tp.steps...), r.Close()))
	x := must.Get(m.Exchange(context.Background(), 1))(t)
	expect.Equal(t, "", masked(`{"id_token":"«abc»"}`), string(x.Request.Body.Data))
}

func BenchmarkAppend(b *testing.B) {
	text := `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"parts":[{"kind":"text","text":"` +
		strings.Repeat("word ", 200) + `"}]}}}`
	head := []byte(strings.Replace(jsonPost, "\r\n\r\n", "\r\nHost: 127.0.0.1:7001\r\nAuthorization: Bearer "+
		"abc\r\nUser-Agent: x/1\r\n\r\n", 1))
	event := []byte("data: " + text[:300] + "\"}]}}}\n\n")
	discard := discardSink{}
	b.Run("exchange", func(b *testing.B) {
		r := New(discard, Options{Key: testMask.key})
		for i := 0; b.Loop(); i++ {
			tp := tape{seq: uint64(i + 1)}
			tp.add(capture.Opened{Head: head}, capture.RequestBody{Data: []byte(text)}, capture.RequestEnd{},
				capture.ResponseHead{Head: []byte(jsonAnswer)}, capture.ResponseBody{Data: []byte(text)},
				capture.ResponseEnd{}, capture.Closed{})
			_ = r.Append(tp.steps...)
		}
		b.SetBytes(int64(2 * len(text)))
	})
	b.Run("event", func(b *testing.B) {
		r := New(discard, Options{Key: testMask.key})
		for b.Loop() {
			_ = r.Append(capture.Step{Seq: 1, What: capture.ResponseEvent{Event: capture.Event{Raw: event}}})
		}
		b.SetBytes(int64(len(event)))
	})
}

// discardSink keeps nothing.
type discardSink struct{}

func (discardSink) Append(...capture.Step) error { return nil }
func (discardSink) Close() error                 { return nil }
