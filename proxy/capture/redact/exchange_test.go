package redact

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/must"
)

func TestDescribes(t *testing.T) {
	const body = `{"method":"tasks/pushNotificationConfig/set","params":{"token":"abc"}}`
	var seen []string
	see := func(what string, x *capture.Exchange) capture.Description {
		seen = append(seen, fmt.Sprintf("%s: %s %v", what, x.Request.Body.Data, x.Request.Body.Complete))
		return capture.Description{
			Keys:    []capture.Key{{Kind: "seen", Value: what}},
			Secrets: []string{"/params/token", "/result/token", "no pointer"},
		}
	}
	d := fakeDescriber{
		request: func(x *capture.Exchange) capture.Description { return see("request", x) },
		response: func(x *capture.Exchange) capture.Description {
			if x.Response.Body.Data != nil && string(x.Response.Body.Data) != `{"result":{"token":"abc"}}` {
				t.Errorf("answer: %s", x.Response.Body.Data)
			}
			return see("response", x)
		},
		event: func(x *capture.Exchange, e *capture.Event) capture.Description {
			if e.At != 5*time.Millisecond || len(x.Response.Events) != 0 {
				t.Errorf("event at %v, after %d", e.At, len(x.Response.Events))
			}
			return see("event", x)
		},
	}
	gz := capturetest.Encode(t, []byte(body), "gzip")
	post := strings.Replace(jsonPost, "\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n", 1)
	begin := func() *tape {
		return new(tape).add(capture.Opened{Head: []byte(post)}, capture.RequestBody{Data: bytes.Clone(gz[:9])},
			capture.RequestBody{Data: bytes.Clone(gz[9:])}, capture.RequestEnd{Size: int64(len(gz))})
	}
	keys := func(sink *recordingSink) (all []string) {
		for _, s := range sink.steps {
			for _, k := range s.Keys {
				all = append(all, strings.TrimPrefix(fmt.Sprintf("%T=%s", s.What, k.Value), "capture."))
			}
		}
		return all
	}

	t.Run("answer", func(t *testing.T) {
		seen = nil
		sink, _ := run(t, Options{Describer: d}, begin().add(capture.ResponseHead{Head: []byte(jsonAnswer)},
			capture.ResponseBody{Data: []byte(`{"result":{"token":"abc"}}`)}, capture.ResponseEnd{}, capture.Closed{}))
		x := sink.exchange()
		if got, want := string(x.Request.Body.Data), masked(strings.Replace(body, "abc", "«abc»", 1)); got != want ||
			!x.Request.Body.Decoded {
			t.Errorf("request: got %s (decoded %v), want %s", got, x.Request.Body.Decoded, want)
		}
		if got, want := string(x.Response.Body.Data), masked(`{"result":{"token":"«abc»"}}`); got != want ||
			x.Response.Body.Decoded {
			t.Errorf("answer: got %s (decoded %v), want %s", got, x.Response.Body.Decoded, want)
		}
		if !bytes.Contains(x.Request.Head, []byte("gzip")) || x.Request.Body.Size != int64(len(gz)) {
			t.Error("head and size should stay what they were on the wire")
		}
		expect.Same(t, "keys", []string{"RequestEnd=request", "ResponseEnd=response"}, keys(sink))
		expect.Same(t, "seen", []string{"request: " + body + " true", "response: " + body + " true"}, seen)
	})
	t.Run("stream", func(t *testing.T) {
		sink, _ := run(t, Options{Describer: d}, begin().add(capture.ResponseHead{Stream: true},
			capture.ResponseEvent{Event: capture.Event{
				K:   1,
				Raw: []byte("data: {\"result\":{\"token\":\"abc\"}}\n\n"),
			}}, capture.Closed{}))
		want := masked("data: {\"result\":{\"token\":\"«abc»\"}}\n\n")
		expect.Equal(t, "event", want, string(sink.exchange().Response.Events[0].Raw))
		expect.Same(t, "keys", []string{"RequestEnd=request", "ResponseEvent=event", "Closed=response"}, keys(sink))
	})
	t.Run("secrets kept", func(t *testing.T) {
		in := begin().add(capture.ResponseHead{Stream: true},
			capture.ResponseEvent{Event: capture.Event{
				K:   1,
				Raw: []byte("data: {\"result\":{\"token\":\"abc\"}}\n\n"),
			}}, capture.Closed{})
		plain := &recordingSink{steps: in.steps}
		want := plain.exchange()
		sink, _ := run(t, Options{Describer: d, Keep: true}, in)
		expect.Same(t, "", want, sink.exchange())
		expect.Equal(t, fmt.Sprintf("keys: %v", keys(sink)), 3, len(keys(sink)))
	})
}

func TestWithholds(t *testing.T) {
	bomb := capturetest.Encode(t, bytes.Repeat([]byte(" "), testDecodeLimit+1), "gzip")
	fails := func() capture.Description { panic("index out of range") }
	panicky := fakeDescriber{
		request:  func(*capture.Exchange) capture.Description { return fails() },
		response: func(*capture.Exchange) capture.Description { return fails() },
		event:    func(*capture.Exchange, *capture.Event) capture.Description { return fails() },
	}
	post := []byte(strings.Replace(jsonPost, "\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n", 1))
	tests := []struct {
		name string
		opts Options
		tape *tape
		note string
		left string // what is kept of the request's body
	}{
		{
			"bomb",
			Options{},
			new(tape).add(capture.Opened{Head: post}, capture.RequestBody{Data: bomb}, capture.RequestEnd{},
				capture.Closed{}), "too long after decoding", "",
		},
		{
			"no room",
			Options{MaxHeld: 7},
			new(tape).add(capture.Opened{Head: []byte(jsonPost)}, capture.RequestBody{Data: []byte(`{"a":`)},
				capture.RequestBody{Data: []byte(`"abc"}`), Dropped: 2}, capture.RequestBody{Data: []byte(` `)},
				capture.RequestEnd{}, capture.Closed{}), "too many bodies", "",
		},
		{
			"the describer fails",
			Options{Describer: panicky},
			new(tape).add(capture.Opened{Head: []byte(jsonPost)}, capture.RequestBody{Data: []byte(`{"a":1}`)},
				capture.RequestEnd{}, capture.Closed{}), "describer", "",
		},
		{
			"the describer fails, secrets are kept",
			Options{Describer: panicky, Keep: true},
			new(tape).add(capture.Opened{Head: []byte(jsonPost)}, capture.RequestBody{Data: []byte(`{"a":1}`)},
				capture.RequestEnd{}, capture.Closed{}), "", `{"a":1}`,
		},
		{
			"no room, secrets are kept",
			Options{Describer: fakeDescriber{}, Keep: true, MaxHeld: 2},
			new(tape).add(capture.Opened{Head: []byte(jsonPost)}, capture.RequestBody{Data: []byte(`{"a":1}`)},
				capture.RequestEnd{}, capture.Closed{}), "too many bodies", "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			size := int64(0)
			for _, s := range tt.tape.steps {
				if b, ok := s.What.(capture.RequestBody); ok {
					size += int64(len(b.Data)) + b.Dropped
				}
			}
			sink, _ := run(t, tt.opts, tt.tape)
			x := sink.exchange()
			if b := x.Request.Body; string(b.Data) != tt.left || int64(len(b.Data))+b.Dropped != size {
				t.Errorf("kept %q, dropped %d of %d", b.Data, b.Dropped, size)
			}
			if got := strings.Join(x.Notes, "\n"); (tt.note == "") != (got == "") || !strings.Contains(got, tt.note) {
				t.Errorf("notes: got %q, want %q", got, tt.note)
			}
		})
	}
	t.Run("an event", func(t *testing.T) {
		event := capture.ResponseEvent{Event: capture.Event{K: 1, Raw: []byte("data: 1\n\n")}}
		sink, _ := run(t, Options{Describer: panicky},
			new(tape).add(capture.Opened{}, capture.RequestEnd{}, capture.ResponseHead{Stream: true}, event, event,
				capture.Closed{}))
		x := sink.exchange()
		if e := x.Response.Events[1]; e.Raw != nil || e.Dropped != 9 || len(x.Notes) != 1 {
			t.Errorf("event %+v, notes %q", e, x.Notes)
		}
	})
}

func TestCodings(t *testing.T) {
	const secret, harmless = `{"access_token":"abc"}`, `{"x":"abc"}`
	gz := string(capturetest.Encode(t, []byte(secret), "gzip"))
	quiet := string(capturetest.Encode(t, []byte(harmless), "gzip"))
	tests := []struct {
		name, mediaType, coding, data, want string
		decoded                             bool
	}{
		{"nothing to hide: as on the wire", "application/json", "gzip", quiet, quiet, false},
		{"decoded where something is hidden", "application/json", "gzip", gz, masked(`{"access_token":"«abc»"}`), true},
		{"JSON under another name", "application/octet-stream", "gzip", gz, masked(`{"access_token":"«abc»"}`), true},
		{"cut off", "application/json", "gzip", gz[:len(gz)-9], masked(`{"access_token":"«abc»"}`), true},
		{"not coded at all", "application/json", "gzip", secret, masked(`{"access_token":"«abc»"}`), false},
		{"unknown coding", "application/json", "rot13", secret, masked(`{"access_token":"«abc»"}`), false},
		{
			"form", "application/x-www-form-urlencoded", "", "grant_type=password&client_secret=a%2Fb&code=c&password=",
			masked("grant_type=password&client_secret=«a/b»&code=«c»&password="), false,
		},
		{
			"form that is JSON", "application/x-www-form-urlencoded", "", secret, masked(`{"access_token":"«abc»"}`),
			false,
		},
		{"JSON that is a form", "application/json", "", "access_token=abc", masked("access_token=«abc»"), false},
		{"picture", "image/png", "gzip", gz, gz, false},
		{"no type", "", "", secret, masked(`{"access_token":"«abc»"}`), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Encoding: %s\r\n\r\n", tt.mediaType,
				tt.coding)
			sink, _ := run(t, Options{},
				new(tape).add(capture.Opened{}, capture.RequestEnd{}, capture.ResponseHead{Head: []byte(head)},
					capture.ResponseBody{Data: []byte(tt.data)}, capture.ResponseEnd{}, capture.Closed{}))
			b := sink.exchange().Response.Body
			if string(b.Data) != tt.want || b.Decoded != tt.decoded {
				t.Errorf("got %q (decoded %v), want %q", b.Data, b.Decoded, tt.want)
			}
		})
	}
}

func TestLearnsFromCards(t *testing.T) {
	d := fakeDescriber{response: func(*capture.Exchange) capture.Description {
		return capture.Description{Headers: []string{"X-Booking"}, Query: []string{"seat_no"}}
	}}
	sink := &recordingSink{}
	r := New(sink, Options{Key: testMask.key, Describer: d})
	head := []byte("GET /?seatNo=abc HTTP/1.1\r\nX-Booking: abc\r\n\r\n")
	for i, agent := range []string{"booker", "booker", "other"} {
		tp := &tape{seq: uint64(i + 1)}
		tp.add(capture.Opened{Agent: capture.Peer{Name: agent}, Head: bytes.Clone(head)}, capture.RequestEnd{},
			capture.ResponseHead{}, capture.ResponseEnd{}, capture.Closed{})
		must.Do(t, r.Append(tp.steps...))
	}
	var got []string
	for _, s := range sink.steps {
		if open, ok := s.What.(capture.Opened); ok {
			got = append(got, string(open.Head))
		}
	}
	hidden := masked("GET /?seatNo=«abc» HTTP/1.1\r\nX-Booking: «abc»\r\n\r\n")
	expect.Same(t, "heads", []string{string(head), hidden, string(head)}, got)
}

// When the recording ends there is no time to search long bodies: they are withheld, and short ones are not.
func TestNoTimeForLongBodies(t *testing.T) {
	for _, overdue := range []bool{false, true} {
		var m capture.Memory
		s := New(&m, Options{Key: make([]byte, 32), OutOfTime: func() bool { return overdue }})
		const unkept = 5 // bytes over the limit of a body: no loss
		for seq, size := range map[uint64]int{1: longBody, 2: longBody + 1} {
			body := append([]byte(`{"password":"hunter2"}`), bytes.Repeat([]byte(" "), size-22)...)
			for _, what := range []capture.What{
				capture.Opened{Head: []byte("POST / HTTP/1.1\r\nContent-Type: application/json\r\n\r\n")},
				capture.RequestBody{Data: body},
				capture.RequestBody{Dropped: unkept},
				capture.RequestEnd{Size: int64(size) + unkept},
				capture.Closed{},
			} {
				must.Do(t, s.Append(capture.Step{Seq: seq, What: what}))
			}
			x := must.Get(m.Exchange(t.Context(), seq))(t)
			withheld := x.Request.Body.Dropped == int64(size)+unkept && len(x.Request.Body.Data) == 0
			want := overdue && size > longBody
			expect.Equal(t, fmt.Sprintf("overdue %t: a body of %d bytes is withheld", overdue, size), want, withheld)
			var lost int64
			for step, err := range m.Steps(t.Context(), 1) {
				if closed, ok := step.What.(capture.Closed); err == nil && ok && step.Seq == seq {
					lost = closed.Dropped
				}
			}
			if want && lost != int64(size) || !want && lost != 0 {
				t.Errorf("overdue %t: of a body of %d bytes %d count as lost", overdue, size, lost)
			}
			if bytes.Contains(x.Request.Body.Data, []byte("hunter2")) {
				t.Errorf("overdue %t: a body of %d bytes keeps its secret", overdue, size)
			}
		}
	}
}

// When the recording ends what is coded is searched only if it does not become much longer than it is, whatever it is coded
// in; what is withheld counts, and nothing else is lost of the exchange.
func TestNoTimeForWhatUnpacks(t *testing.T) {
	const begin, end = `{"password":"hunter2","parts":[`, `{}]}`
	dense := begin + strings.Repeat("{},", 100_000) + end
	sparse := begin + strings.Repeat(`"`+strings.Repeat("a", 4000)+`",`, 100) + end
	request, _ := grpcTypes(t, "SendMessage")
	message := func(parts int) []byte {
		text := `{"message":{"messageId":"m","parts":[` + strings.Repeat("{},", parts) + `{"data":{"password":"hunter2"}}]}}`
		frame := write(t, request, text)
		packed := capturetest.Encode(t, frame[grpc.PrefixSize:], "gzip")
		frame = grpc.AppendFrame(nil, packed)
		frame[0] = 1
		return frame
	}
	type row struct {
		head string
		body []byte
		kept bool // where there is no time
	}
	rows := map[string]row{
		"gRPC, short":              {"Content-Type: application/grpc\r\nGrpc-Encoding: gzip\r\n", message(3), true},
		"gRPC of many parts":       {"Content-Type: application/grpc\r\nGrpc-Encoding: gzip\r\n", message(60_000), false},
		"gRPC of many, not packed": {"Content-Type: application/grpc\r\n", write(t, request, `{"message":{"parts":[`+strings.Repeat("{},", 20_000)+`{}]}}`), false},
	}
	for _, codings := range [][]string{{"gzip"}, {"deflate"}, {"br"}, {"zstd"}, {"gzip", "br"}} {
		head := "Content-Type: application/json\r\nContent-Encoding: " + strings.Join(codings, ", ") + "\r\n"
		for name, text := range map[string]string{"short": begin + end, "dense": dense, "sparse": sparse} {
			rows[fmt.Sprint(codings, " ", name)] = row{head, capturetest.Encode(t, []byte(text), codings...), name == "short"}
		}
	}
	const json = "Content-Type: application/json\r\n"
	rows["not coded, dense"] = row{json, []byte(dense[:longBody]), false}
	rows["not coded, sparse"] = row{json, []byte(sparse[:longBody-10] + `"]}`), true}
	for name, row := range rows {
		for _, overdue := range []bool{false, true} {
			var m capture.Memory
			s := New(&m, Options{Key: make([]byte, 32), OutOfTime: func() bool { return overdue }})
			tp := (&tape{seq: 1}).add(
				capture.Opened{Head: []byte("POST /" + grpc.Service1_0 + "/SendMessage HTTP/2\r\n" + row.head + "\r\n")},
				capture.RequestBody{Data: row.body}, capture.RequestEnd{Size: int64(len(row.body))}, capture.Closed{})
			must.Do(t, s.Append(tp.steps...))
			x := must.Get(m.Exchange(t.Context(), tp.seq))(t)
			want := row.kept || !overdue
			if kept := x.Request.Body.Dropped == 0 && len(x.Request.Body.Data) > 0; kept != want {
				t.Errorf("%s, overdue %t: kept %t, want %t; notes %q", name, overdue, kept, want, x.Notes)
			}
			if !want && (x.Request.Body.Dropped != int64(len(row.body)) || !strings.Contains(fmt.Sprint(x.Notes), errNoTime.Error())) {
				t.Errorf("%s: %d of %d bytes count as withheld, notes %q", name, x.Request.Body.Dropped, len(row.body), x.Notes)
			}
			if bytes.Contains(x.Request.Body.Data, []byte("hunter2")) {
				t.Errorf("%s, overdue %t: the secret is there", name, overdue)
			}
		}
	}
}

// What is remembered of an exchange is used again for the next one: nothing of the first shows in that.
func TestNextExchange(t *testing.T) {
	body := capture.RequestBody{Data: []byte(`{"access_token":"abc"}`), Dropped: 3}
	opened := capture.Opened{
		Conn: 1, Stream: 3, Client: capture.Peer{Name: "c"}, Agent: capture.Peer{Name: "booker"}, Head: []byte(jsonPost),
	}
	answer := capture.ResponseHead{Head: []byte(jsonAnswer)}
	end := capture.ResponseEnd{Trailer: []byte("X-Token: abc\r\n")}
	whole := new(tape).add(opened, body, answer, capture.Informational{Head: []byte("HTTP/1.1 103 Early\r\n\r\n")},
		capture.ResponseBody{Data: []byte(`{"token":"abc"}`), Decoded: true}, end, capture.Fact{Note: "n"},
		capture.RequestEnd{Size: 22}, capture.Closed{Dropped: 1}).steps
	tapes := map[string][]capture.Step{
		"whole": whole,
		"gap":   new(tape).add(capture.ResponseBody{Data: []byte("{}")}, capture.RequestBody{Data: []byte("x")}, capture.Closed{}).steps,
		"stream": new(tape).add(capture.Opened{Head: []byte(jsonPost)}, capture.RequestEnd{}, capture.ResponseHead{Stream: true},
			capture.ResponseEvent{Event: capture.Event{K: 1, Raw: []byte("data: {\"token\":\"abc\"}\n\n")}},
			capture.ResponseEnd{}, capture.Closed{}).steps,
		"nothing more":   new(tape).add(capture.Opened{Head: []byte("GET / HTTP/1.1\r\n\r\n")}, capture.Closed{}).steps,
		"cut off":        new(tape).add(opened, body, answer, end, capture.Closed{}).steps,
		"withheld":       new(tape).add(opened, capture.RequestBody{Data: bytes.Repeat([]byte("{"), 100)}, capture.Closed{}).steps,
		"twice":          slices.Concat(whole[:2], whole),
		"after its end":  slices.Concat(whole, whole[4:5], whole[8:]),
		"not HTTP":       new(tape).add(capture.Opened{Head: []byte("\x16\x03token")}, capture.Closed{}).steps,
		"undecided body": new(tape).add(capture.Opened{}, capture.RequestBody{Data: []byte(" ")}, capture.Closed{}).steps,
	}
	asked := func(x *capture.Exchange) capture.Description {
		seen := fmt.Sprintf("%+v %+v %+v", x.Request, x.Response != nil, x.Notes)
		return capture.Description{Keys: []capture.Key{{Kind: "seen", Value: seen}}}
	}
	d := fakeDescriber{request: asked, response: asked}
	after := func(names ...string) []capture.Step {
		sink := &recordingSink{}
		r := New(sink, Options{Key: testMask.key, Describer: d, MaxHeld: 99})
		for i, name := range names {
			sink.steps = nil
			for _, s := range tapes[name] {
				s.Seq = uint64(i + 1)
				must.Do(t, r.Append(s))
			}
		}
		for i := range sink.steps {
			sink.steps[i].Seq = 0
		}
		if in := r.(*redactor); len(in.open) > 0 {
			t.Errorf("after %q %d are open", names, len(in.open))
		}
		return sink.steps
	}
	for second := range tapes {
		want := after(second)
		for first := range tapes {
			expect.Same(t, fmt.Sprintf("%q after %q", second, first),
				want, after(first, second), cmpopts.IgnoreUnexported(jsondoc.Value{}))
		}
	}
}
