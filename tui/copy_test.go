package tui

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/tui/internal/tuitest"
)

// copiedText returns what the terminal was last asked to put on its clipboard.
func copiedText(t *testing.T, terminal *bytes.Buffer) string {
	t.Helper()
	sequence, asked := strings.CutPrefix(terminal.String(), "\x1b]52;c;")
	if !asked {
		return ""
	}
	words, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(sequence, "\a"))
	if err != nil {
		t.Fatal(err)
	}
	terminal.Reset()
	return string(words)
}

func TestCopyMenu(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 40, Options{Curl: sampleCurl})
		var terminal bytes.Buffer
		u.m.out = &terminal
		u.press("g", "j", "enter")
		for _, c := range []struct{ look, key, want string }{
			{`"messageId"`, "v", "m-1"},
			{`"messageId"`, "n", "messageId"},
			{`"messageId"`, "p", "/message/messageId"},
			{`"messageId"`, "w", "2.request.body#/message/messageId"},
			{`"configuration"`, "v", "{\n  \"returnImmediately\": true\n}"},
			{`"returnImmediately"`, "v", "true"},
			{"User-Agent", "v", "traveller/1.0"},
			{"User-Agent", "n", "User-Agent"},
			{"User-Agent", "w", "2.request.header[User-Agent]"},
			{"POST /", "v", "POST /a2a/message:send HTTP/1.1"},
			{"HTTP/1.1 200", "v", "HTTP/1.1 200 OK"},
			{`"contextId"`, "p", "/task/contextId"},
		} {
			u.press("g").search(c.look).press("y")
			u.sees("› copy")
			u.press(c.key)
			expect.Equal(t, fmt.Sprintf("at %s, %s copies", c.look, c.key), c.want, copiedText(t, &terminal))
			u.sees("The terminal was asked to copy this.")
			u.press("esc")
		}
		u.press("y", "b")
		if got := copiedText(t, &terminal); !strings.HasPrefix(got, `{"message":{"messageId":"m-1",`) {
			t.Errorf("the body of the request is %q", got)
		}
		u.press("esc", "y", "a")
		if got := copiedText(t, &terminal); !strings.HasPrefix(got, `{"task":`) {
			t.Errorf("the answer is %q", got)
		}
		u.press("esc", "y", "c")
		if got := copiedText(t, &terminal); !strings.HasPrefix(got, "curl -X POST ") {
			t.Errorf("c copies %q", got)
		}
		u.press("esc", "y", "t")
		parsed, err := transcript.Parse("copied", []byte(copiedText(t, &terminal)))
		if err != nil || len(parsed.Exchanges) != 1 || parsed.Exchanges[0].Seq != 2 {
			t.Errorf("the transcript cannot be read: %v", err)
		}
	})
}

func TestCopyOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 40, Options{})
		var terminal bytes.Buffer
		u.m.out = &terminal
		u.press("g", "n", "enter", "n", "y", "f")
		finding := copiedText(t, &terminal)
		if !strings.HasPrefix(finding, "4.response.event[7]#/result/statusUpdate/status/state: ") ||
			!strings.Contains(finding, "\nFix: ") {
			t.Errorf("the finding is %q", finding)
		}
		u.press("esc", "k", "y", "e")
		if got := copiedText(t, &terminal); !strings.HasPrefix(got, `data: {"jsonrpc":`) || strings.HasSuffix(got, "\n") {
			t.Errorf("the event is %q", got)
		}
		u.press("esc", "y", "w")
		expect.Equal(t, "the event is at", "4.response.event[7]", copiedText(t, &terminal))
		u.press("esc", "y", "v")
		u.sees("this line has no value")
		u.press("esc", "enter").search("/state/").press("y", "v")
		if got := copiedText(t, &terminal); !strings.HasPrefix(got, "TASK_STATE_") {
			t.Errorf("the state is %q", got)
		}
		u.press("esc", "y", "a")
		u.sees("y: answer: it is a stream; e in the detail copies an event")
		u.press("y", "y")
		u.sees("curl commands are not available here")
		u.press("esc", "esc", "g", "n", "l", "n", "y", "e")
		if got := copiedText(t, &terminal); !strings.HasPrefix(got, `data: {"jsonrpc":`) {
			t.Errorf("from the ladder, the event is %q", got)
		}
		u.press("esc", "esc", "e", "y", "f")
		expect.Equal(t, "from the findings, the finding", finding, copiedText(t, &terminal))
	})
}

// Texts that act when pasted are not copied, nor is data that is not text. Long texts are refused with a message.
func TestCopyRefuses(t *testing.T) {
	for _, c := range []struct{ name, body, look, key, said string }{
		{
			"control characters",
			`{"a":"\u001b[201~;ls"}`, `"a"`, "v", "y: value: it contains control characters, which a terminal would execute when pasted",
		},
		{"bytes that are no text", "\xff\xfe", "", "a", "y: answer: it is not text"},
		{
			"too much",
			`["` + strings.Repeat("x", 70_000) + `"]`, "", "a", "copy 70004 bytes: the terminal's clipboard holds 65536",
		},
		{
			"a value of no JSON",
			`{"a":1,"b"`, `"a"`, "v", "y: value: it cannot be read, since the surrounding JSON is incomplete",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := tuitest.Growing(t, 0)
				tuitest.Record(t, m, append(tuitest.Asked(1, "POST /a2a HTTP/1.1\r\nHost: booker.example\r\n\r\n", "{}"), tuitest.Answered(1, c.body)...))
				u := newUI(t, m.Reader(), 100, 24, Options{Rules: []*analysis.Rule{}})
				var terminal bytes.Buffer
				u.m.out = &terminal
				u.press("enter")
				if c.look != "" {
					u.search(c.look)
				}
				u.press("y", c.key)
				u.sees(c.said)
				expect.Equal(t, "what was copied", "", copiedText(t, &terminal))
			})
		})
	}
}

// Of a long stream the transcript is not even made.
func TestCopyOfALongTranscript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, tuitest.Long(t, 3_000).Reader(), 109, 24, Options{Rules: []*analysis.Rule{}})
		u.press("y", "t")
		u.sees("y: transcript: it is too long for a clipboard (65.5 kB); a2atap show prints it")
	})
}

// Whatever is asked for by any pointer, the answer is text of the JSON or an error.
func FuzzJSONValue(f *testing.F) {
	f.Add(`{"a":[1,{"b":"k\u0079oto"}]}`, "/a/1/b")
	f.Add(`{"a":1`, "/a")
	f.Add(`[[]]`, "/0")
	f.Fuzz(func(t *testing.T, data, pointer string) {
		words, err := jsonValue([]byte(data), pointer)
		if err == nil && len(words) == 0 && !strings.Contains(data, `""`) {
			t.Errorf("%q has nothing at %q", data, pointer)
		}
		x := &capture.Exchange{Seq: 1, Request: capture.Request{Head: []byte(data)}}
		firstLine(x, false)
		nameOf(analysis.Place{}.At(pointer))
	})
}
