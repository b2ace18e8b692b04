package capture_test

import (
	"bytes"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// A target that begins with a slash is its own path, and a URL in a query is not the target's.
func TestSplitTarget(t *testing.T) {
	t.Parallel()
	for target, want := range map[string][3]string{
		"/a/b?c=1":                      {"", "/a/b", "c=1"},
		"http://h:1/a?c":                {"http://h:1", "/a", "c"},
		"http://h?c":                    {"http://h", "/", "c"},
		"/fetch/https://b.example/x?c":  {"", "/fetch/https://b.example/x", "c"},
		"/login?next=https://b.example": {"", "/login", "next=https://b.example"},
		"//a/b":                         {"", "//a/b", ""},
		"*":                             {"", "*", ""},
		"h:443":                         {"", "h:443", ""},
		"":                              {"", "", ""},
	} {
		var got [3]string
		got[0], got[1], got[2] = capture.SplitTarget(target)
		expect.Equal(t, target, want, got)
	}
}

func TestParseRequestHead(t *testing.T) {
	tests := []struct {
		name, raw string
		want      capture.Head
	}{
		{"plain", "POST /rpc HTTP/1.1\r\nHost: a:80\r\nX-y:\tb \r\nx-Y:c\r\n\r\n", capture.Head{
			Line: "POST /rpc HTTP/1.1", Method: "POST", Target: "/rpc", Version: "HTTP/1.1",
			Fields: capture.Fields{{"Host", "a:80"}, {"X-y", "b"}, {"x-Y", "c"}},
		}},
		{"lf", "GET * HTTP/1.0\nA: b\n\nnot: mine\n", capture.Head{
			Line: "GET * HTTP/1.0", Method: "GET", Target: "*", Version: "HTTP/1.0", Fields: capture.Fields{{"A", "b"}},
		}},
		{"no blank line", "GET / HTTP/1.1\r\nA: b", capture.Head{
			Line: "GET / HTTP/1.1", Method: "GET", Target: "/", Version: "HTTP/1.1", Fields: capture.Fields{{"A", "b"}},
		}},
		{"no version", "GET /\r\n\r\n", capture.Head{
			Line: "GET /", Method: "GET", Target: "/", Fields: capture.Fields{},
			Bad: []capture.BadLine{{1, "GET /", "not a method, a target and a version"}},
		}},
		{"blanks in the target", "GET /a b HTTP/1.1\r\n\r\n", capture.Head{
			Line: "GET /a b HTTP/1.1", Method: "GET", Target: "/a b", Version: "HTTP/1.1", Fields: capture.Fields{},
			Bad: []capture.BadLine{{1, "GET /a b HTTP/1.1", "spaces where none are allowed"}},
		}},
		{"bad fields", "GET / HTTP/1.1\r\nnothing\r\nA : 1\r\nB: 2\r\n  3\r\nC: \x00\r\n\r\n", capture.Head{
			Line: "GET / HTTP/1.1", Method: "GET", Target: "/", Version: "HTTP/1.1",
			Fields: capture.Fields{{"A ", "1"}, {"B", "2 3"}, {"C", "\x00"}},
			Bad: []capture.BadLine{
				{2, "nothing", "no colon"},
				{3, "A : 1", "the name is not a token"},
				{5, "  3", "a continuation of the previous line"},
				{6, "C: \x00", `the value contains '\x00'`},
			},
		}},
		{"nothing", "", capture.Head{Bad: []capture.BadLine{{1, "", "no request line"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expect.Same(t, "", tt.want, capture.ParseRequestHead([]byte(tt.raw)))
		})
	}
}

func TestParseResponseHead(t *testing.T) {
	tests := []struct {
		raw     string
		status  int
		reason  string
		version string
		bad     int
	}{
		{"HTTP/1.1 200 OK\r\n\r\n", 200, "OK", "HTTP/1.1", 0},
		{"HTTP/1.1 404 Not Found\n\n", 404, "Not Found", "HTTP/1.1", 0},
		{"HTTP/1.1 204\r\n\r\n", 204, "", "HTTP/1.1", 0},
		{"HTTP/1.1 204 \r\n\r\n", 204, "", "HTTP/1.1", 0},
		{"HTTP/2 299 \r\n\r\n", 299, "", "HTTP/2", 0},
		{"HTTP/1.1 99 x\r\n\r\n", 0, "x", "HTTP/1.1", 1},
		{"HTTP/1.1 099 x\r\n\r\n", 0, "x", "HTTP/1.1", 1},
		{"ICY 200 OK\r\n\r\n", 200, "OK", "ICY", 1},
		{"\r\n", 0, "", "", 1},
	}
	for _, tt := range tests {
		h := capture.ParseResponseHead([]byte(tt.raw))
		if h.Status != tt.status || h.Reason != tt.reason || h.Version != tt.version || len(h.Bad) != tt.bad {
			t.Errorf("%q: got %q %d %q and %v, want %+v", tt.raw, h.Version, h.Status, h.Reason, h.Bad, tt)
		}
	}
}

func TestFields(t *testing.T) {
	f, bad := capture.ParseFields([]byte("Accept: a\r\nACCEPT: b\r\nContent-Type: Text/Event-Stream ; charset=utf-8\r\n\r\n"))
	if len(bad) > 0 {
		t.Errorf("bad lines %v", bad)
	}
	expect.Equal(t, "Get", "a", f.Get("accept"))
	expect.Same(t, "", []string{"a", "b"}, f.Values("accept"))
	if f.Has("b") || !f.Has("Content-type") {
		t.Error("Has does not tell")
	}
	expect.Equal(t, "MediaType", "text/event-stream", f.MediaType())
}

func FuzzParseHead(f *testing.F) {
	f.Add([]byte("POST /rpc HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 200 OK\nA:b\n\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		for _, h := range []capture.Head{capture.ParseRequestHead(raw), capture.ParseResponseHead(raw)} {
			if len(h.Bad) == 0 && h.Version == "" {
				t.Fatalf("%q: no version, and nothing bad about it", raw)
			}
			for _, b := range h.Bad {
				if b.N < 1 || b.Why == "" || !bytes.Contains(raw, []byte(b.Text)) {
					t.Fatalf("%q: bad line %+v", raw, b)
				}
			}
		}
		if !bytes.Equal(raw, before) {
			t.Fatal("the head was changed")
		}
	})
}
