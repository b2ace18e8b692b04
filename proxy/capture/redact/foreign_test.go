package redact

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// frame returns a frame of HTTP/2.
func frame(kind byte, payload string) string {
	n := len(payload)
	return string([]byte{byte(n >> 16), byte(n >> 8), byte(n), kind, 0, 0, 0, 0, 1}) + payload
}

func TestKeepsNothingThatIsForeign(t *testing.T) {
	const compressed = "\x1d\x8e\x83\xcc\xbf\x81\x9a" // which could be a token
	tests := []struct{ name, in, head, note string }{
		{"HTTP/1.1", "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", ""},
		{"a method of their own", "BREW / HTTP/1.1\r\n\r\n", "BREW / HTTP/1.1\r\n\r\n", ""},
		{"HTTP/0.9", "GET /\r\n", "GET /\r\n", ""},
		{"blank lines before", "\r\nPOST / HTTP/1.1\r\nX-Token: abc\r\n", "\r\nPOST / HTTP/1.1\r\nX-Token: «abc»\r\n", ""},
		{"cut off", "DEL", "DEL", ""},
		{"cut off in a line", "PUT /?token=abc", "PUT /?token=«abc»", ""},
		{"blanks too many", "GET  / HTTP/1.1\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n", ""},
		{
			"HTTP/2", preface + frame(4, "123456") + frame(1, compressed) + frame(0, "abc") + frame(99, ""), preface,
			"frames of HTTP/2: SETTINGS (6 bytes), HEADERS (7 bytes), DATA (3 bytes), of an unknown type (0 bytes); their",
		},
		{"HTTP/2, many", preface + strings.Repeat(frame(0, "abc"), 21), preface, "DATA (3 bytes), and more; their content"},
		{"HTTP/2, cut off", preface + frame(1, compressed)[:12], preface, "HEADERS (7 bytes); their content"},
		{"HTTP/2, its preface", preface, preface, ""},
		{"HTTP/2, not quite", "PRI * HTTP/2.0\r\n\r\nabc", "PRI * HTTP/2.0\r\n\r\n", "3 bytes that are not HTTP/1.1 are not"},
		{"TLS", "\x16\x03\x01\x00\x05hello", "", "10 bytes that are not HTTP/1.1 and look like TLS are not recorded"},
		{"mail", "AUTH PLAIN abc\r\n", "", "16 bytes"},
		{"JSON", `{"token":"abc"}`, "", "look like JSON"},
		{"a word", "abc", "", "3 bytes"},
		{"fields alone", "Authorization: Bearer abc\r\n\r\n", "", "29 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tp := new(tape).add(capture.Opened{Head: []byte(tt.in)}, capture.Closed{Fault: &capture.TransportFault{Kind: "not-http"}})
			sink, _ := run(t, Options{}, tp)
			x := sink.exchange()
			expect.Equal(t, "kept", masked(tt.head), string(x.Request.Head))
			if notes := strings.Join(x.Notes, "\n"); !strings.Contains(notes, tt.note) || (notes == "") != (tt.note == "") {
				t.Errorf("notes %q, want %q", notes, tt.note)
			}
			if kept, _ := run(t, Options{Keep: true}, tp); string(kept.exchange().Request.Head) != tt.in {
				t.Error("not kept, although secrets are")
			}
		})
	}
}

func TestKeepsNoForeignAnswer(t *testing.T) {
	for in, want := range map[string]string{
		"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\n\r\n": "HTTP/1.1 200 OK\r\nSet-Cookie: a=«b»\r\n\r\n",
		"HTTP/1.1 abc\r\n\r\n":                       "HTTP/1.1 abc\r\n\r\n",
		"HTT":                                        "HTT",
		"220 secret.example\r\n":                     "",
		`{"access_token":"abc"}`:                     "",
		frame(4, "abc"):                              "",
	} {
		tp := new(tape).add(capture.Opened{Head: []byte(jsonPost)}, capture.RequestEnd{},
			capture.ResponseHead{Head: []byte(in)}, capture.Closed{Fault: &capture.TransportFault{Kind: "refused"}})
		sink, _ := run(t, Options{}, tp)
		x := sink.exchange()
		if got := string(x.Response.Head); got != masked(want) || (len(x.Notes) == 0) != (want != "") {
			t.Errorf("%q: kept %q with notes %q, want %q", in, got, x.Notes, masked(want))
		}
	}
}

// Bytes of the agent that answer no request are recorded as a body without a head.
func TestAnswersThatNobodyAskedFor(t *testing.T) {
	const cookie = "HTTP/1.1 200 OK\r\nSet-Cookie: a=abc\r\n"
	const hidden = "HTTP/1.1 200 OK\r\nSet-Cookie: a=«abc»\r\n"
	sized := func(head, body string) string {
		return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
	}
	tests := []struct {
		name, in, want string
		dropped        int64
	}{
		{"an answer", sized(cookie, `{"access_token":"abc"}`), strings.ReplaceAll(sized(hidden, `{"access_token":"abc"}`),
			`"abc"`, `"«abc»"`), 0},
		{"two of them", sized(cookie, "x") + "\r\n" + cookie + "\r\n", sized(hidden, "x") + "\r\n" + hidden + "\r\n", 0},
		{"until the end", cookie + "\r\ntoken: abc", hidden + "\r\ntoken: «abc»", 0},
		{"cut off in the head", "HTTP/1.1 200 OK\r\nX-Token: ab", "HTTP/1.1 200 OK\r\nX-Token: «ab»", 0},
		{
			"chunked", cookie + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", hidden + "Transfer-Encoding: chunked\r\n\r\n",
			8,
		},
		{"compressed", cookie + "Content-Encoding: gzip\r\n\r\nabc", hidden + "Content-Encoding: gzip\r\n\r\n", 3},
		{"the rest of another", `c","x":1}` + "\r\n", "", 11},
		{"a rest behind an answer", sized(cookie, "") + "abc", sized(hidden, ""), 3},
		{"JSON", `{"token":"abc"}`, `{"token":"«abc»"}`, 0},
		{"blank lines", "\r\n\r\n", "\r\n\r\n", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tp := new(tape).add(capture.Opened{}, capture.ResponseBody{Data: []byte(tt.in)},
				capture.Closed{Fault: &capture.TransportFault{Kind: "unsolicited"}})
			sink, _ := run(t, Options{}, tp)
			x := sink.exchange()
			if b := x.Response.Body; string(b.Data) != masked(tt.want) || b.Dropped != tt.dropped {
				t.Errorf("kept %q, dropped %d; want %q and %d", b.Data, b.Dropped, masked(tt.want), tt.dropped)
			}
			if (len(x.Notes) > 0) != (tt.dropped > 0) {
				t.Errorf("notes %q", x.Notes)
			}
			if kept, _ := run(t, Options{Keep: true}, tp); string(kept.exchange().Response.Body.Data) != tt.in {
				t.Error("not kept, although secrets are")
			}
		})
	}
}
