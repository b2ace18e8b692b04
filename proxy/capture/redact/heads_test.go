package redact

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// readingOf returns the reading of a head of which nothing is known; ok is false if it has none.
func readingOf(m *mask, raw []byte, kind headKind) (k headReading, ok bool) {
	head := parseHead(raw, kind)
	now, without, ok := m.plainHead(raw, head, kind)
	return headReading{raw, head, now, &capture.Parsed{Head: without}, m.agent}, ok
}

// compareReading complains of a reading that is not as if nothing had been known.
func compareReading(t *testing.T, k headReading, raw []byte, kind headKind) {
	t.Helper()
	want, ok := readingOf(&testMask, raw, kind)
	if !ok {
		t.Errorf("%q was read along another head, and is not plain", raw)
	}
	if string(k.raw) != string(raw) || string(k.now) != string(want.now) || same(k.now, k.raw) != same(want.now, want.raw) {
		t.Errorf("%q became %q, want %q", raw, k.now, want.now)
	}
	expect.Same(t, fmt.Sprintf("%q is read otherwise", raw), want.head, k.head)
	expect.Same(t, fmt.Sprintf("%q is read otherwise", k.now), want.parsed.Head, k.parsed.Head)
}

// A head that is nearly the last one is read along that, and says the same as if it had come alone.
func TestNextHead(t *testing.T) {
	const first = "POST /a?token=x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer abc\r\nContent-Length: 10\r\nReferer: /?sid=1\r\nDate: now\r\n\r\n"
	for _, test := range []struct {
		old, new string
		along    bool
	}{
		{"", "", true},
		{"10", "7", true},
		{"Date: now", "Date: \t later ", true},
		{"10\r\n", "12345\n", true},
		{"10", "", true},
		{"/?sid=1", "z", true},
		{"abc", "abd", false},
		{"POST", "GET", false},
		{"sid=1", "sid=2", false},
		{"10", "1?", false},
		{"10", "Bearer a1b2c3", false},
		{"10", "1\r2", false},
		{"10", "1\x00", false},
		{"Date", "date", false},
		{"Date: now", "Date now", false},
		{"Date: now\r\n", "", false},
		{"Date: now\r\n", "Date: now\r\nDate: now\r\n", false},
		{"now\r\n\r\n", "now\r\n\r\n\r\n", false},
		{"now\r\n\r\n", "now\r\n", false},
		{"now\r\n\r\n", "now", false},
		{"now\r\n\r\n", "now\r\n\n", false},
		{"Date: now", " Date: now", false},
	} {
		k, ok := readingOf(&testMask, []byte(first), requestHead)
		if !ok {
			t.Fatalf("%q is not plain", first)
		}
		raw := []byte(strings.Replace(first, test.old, test.new, 1))
		next, ok := k.next(&testMask, raw)
		expect.Equal(t, fmt.Sprintf("%q was read along the last", raw), test.along, ok)
		if ok {
			compareReading(t, next, raw, requestHead)
		}
	}
	k, _ := readingOf(&testMask, []byte(first), requestHead)
	other := testMask
	other.agent = &learned{headers: map[string]bool{"date": true}}
	if _, ok := k.next(&other, []byte(first)); ok {
		t.Error("a head was read along one to another agent")
	}

	r := New(&recordingSink{}, Options{Key: testMask.key}).(*redactor)
	for _, raw := range []string{first, strings.Replace(first, "now", strings.Repeat("n", maxLastHead), 1)} {
		_, now, _, parsed := r.readHead(&openExchange{}, []byte(raw), requestHead)
		if strings.Contains(string(now), "abc") || parsed == nil {
			t.Errorf("%q became %q", raw, now)
		}
	}
	if got := r.heads[requestHead][0].raw; string(got) != first {
		t.Errorf("a head of %d bytes is kept", len(got))
	}
}

// A head of a connection never says what another one said.
func FuzzNextHead(f *testing.F) {
	const first = "POST / HTTP/1.1\r\nX-Key: a\r\nLength: 1\r\n\r\n"
	f.Add([]byte(first), []byte(strings.Replace(first, "1\r\n\r", "2 \r\n\r", 1)))
	f.Add([]byte("HTTP/1.1 200 OK\nDate: a\nSet-Cookie: a=b\n\n"), []byte("HTTP/1.1 200 OK\nDate: b\r\nSet-Cookie: a=b\n\n"))
	f.Add([]byte("GET /?token=a HTTP/1.1\nA: b\nReferer: //u:p@h\n\n"), []byte("GET /?token=a HTTP/1.1\nA: Basic dTpw\nReferer: //u:p@h\n\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		for _, kind := range []headKind{requestHead, answerHead} {
			k, ok := readingOf(&testMask, a, kind)
			if !ok {
				continue
			}
			if next, ok := k.next(&testMask, b); ok {
				compareReading(t, next, b, kind)
				again, ok := next.next(&testMask, a)
				if !ok { // text that looks like a URL is parsed again
					continue
				}
				compareReading(t, again, a, kind)
			}
		}
	})
}
