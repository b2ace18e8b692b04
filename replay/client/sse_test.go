package client

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/limits"
)

var sseTests = []struct {
	name, text string
	want       []string
}{
	{"LF", "data: a\n\ndata: b\n\n", []string{"a", "b"}},
	{"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
	{"CR", "data: a\r\rdata: b\r\r", []string{"a", "b"}},
	{"mixed", "data: a\r\n\ndata: b\n\r\n", []string{"a", "b"}},
	{"several lines", "data: {\ndata: }\n\n", []string{"{\n}"}},
	{"no space, two spaces", "data:a\ndata:  b\n\n", []string{"a\n b"}},
	{"comments and other fields", ": ping\nevent: message\nid: 1\nretry: 5\ndata: a\nnonsense\n\n", []string{"message=a"}},
	{"a name is that of one event", "event:x\ndata: a\n\ndata: b\n\nevent: y\n\ndata: c\n\n", []string{"x=a", "b", "c"}},
	{"the last name counts", "event: x\ndata: a\nevent: y\n\n", []string{"y=a"}},
	{"empty data", "data\n\ndata:\n\n", []string{"", ""}},
	{"no data", "event: x\n\n: ping\n\n", nil},
	{"byte order mark", "\ufeffdata: a\n\n", []string{"a"}},
	{"byte order mark later", "data: a\n\n\ufeffdata: b\n\n", []string{"a"}},
	{"lost at the end", "data: a\n\ndata: b\n", []string{"a"}},
	{"lost without a line end", "data: a", nil},
	{"names are case-sensitive", "Data: a\n\n", nil},
	{"blank lines", "\n\n\r\n\rdata: a\n\n\n\n", []string{"a"}},
}

// short returns an event as the tests write it: its data, after its name if it has one.
func short(e serverEvent) string {
	if e.name == "" {
		return string(e.data)
	}
	return e.name + "=" + string(e.data)
}

func TestEvents(t *testing.T) {
	for _, tt := range sseTests {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole":        strings.NewReader(tt.text),
				"byte by byte": iotest.OneByteReader(strings.NewReader(tt.text)),
			} {
				var got []string
				for e, err := range events(r, limits.Limits{}.OrDefaults()) {
					must.Do(t, err)
					got = append(got, short(e))
				}
				expect.Same(t, name, tt.want, got)
			}
		})
	}
}

func TestEventsErrors(t *testing.T) {
	cut := errors.New("cut")
	r := io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(cut))
	var got []string
	var last error
	for e, err := range events(r, limits.Limits{}.OrDefaults()) {
		got, last = append(got, short(e)), err
	}
	if diff := cmp.Diff([]string{"a", ""}, got); diff != "" || !errors.Is(last, cut) {
		t.Errorf("got %q ending in %v, want the event and then the error", got, last)
	}
	for _, err := range events(strings.NewReader("data: "+strings.Repeat("x", limits.Event+10)), limits.Limits{Answer: 2 * limits.Event}.OrDefaults()) {
		expect.ErrorHas(t, "", "an event is longer than 16777216 bytes", err)
	}
}
