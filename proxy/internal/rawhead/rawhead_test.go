package rawhead_test

import (
	"bufio"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/internal/rawhead"
)

// A head that is edited keeps all other lines, and a reader finds in it what was set.
func FuzzEditHead(f *testing.F) {
	f.Add("GET / HTTP/1.1\r\nHost: a\r\naccept-encoding: gzip\r\n\r\n", "Accept-Encoding", "identity")
	f.Add("GET / HTTP/1.1\nRange:x\nRange: y\n\n", "range", "z")
	f.Add("\r\n\r\nGET / HTTP/1.1\r\nA: \r\n\r\n", "A", "b")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, raw, name, value string) {
		same := rawhead.NewEdit([]byte(raw))
		same.Each(name, func(was string) (string, bool) { return was, true })
		if got := string(same.Bytes()); got != raw {
			t.Fatalf("got %q, want %q", got, raw)
		}
		head, err := http.ReadRequest(newReader(raw))
		if err != nil || !capture.IsToken(name) || strings.ContainsAny(value, "\r\n\x00") ||
			strings.TrimSpace(value) != value || http.CanonicalHeaderKey(name) == "Host" ||
			strings.HasPrefix(raw, "\r") || strings.HasPrefix(raw, "\n") ||
			strings.Contains(raw, "\n ") || strings.Contains(raw, "\n\t") { // the relay refuses folded lines
			return
		}
		edit := rawhead.NewEdit([]byte(raw))
		edit.Set(name, value)
		edited, err := http.ReadRequest(newReader(string(edit.Bytes())))
		if err != nil {
			return // a value that means something, such as a length
		}
		if got := edited.Header.Values(name); len(got) != 1 || got[0] != value {
			if len(got) > 0 || edited.Header == nil {
				t.Fatalf("got %q, want %q", got, value)
			}
		}
		head.Header.Del(name)
		edited.Header.Del(name)
		if !reflect.DeepEqual(head.Header, edited.Header) {
			t.Fatalf("got %v, want %v", edited.Header, head.Header)
		}
	})
}

func newReader(s string) *bufio.Reader { return bufio.NewReader(strings.NewReader(s)) }
