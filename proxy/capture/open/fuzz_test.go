package open_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/capture/open"
)

func FuzzHAR(f *testing.F) {
	f.Add(formatHAR(f, capturetest.Exchanges()[:3]))
	for _, x := range capturetest.Exchanges() {
		f.Add(formatHAR(f, []*capture.Exchange{x}))
	}
	f.Add([]byte(`{"log":{"entries":[{"startedDateTime":"2026-03-01T11:00:00.500+01:00",
		"request":{"method":"POST","url":"https://a.example/rpc?x=1#f","httpVersion":"HTTP/1.1",
			"headers":[],"bodySize":-1},
		"response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1",
			"headers":[],"bodySize":-1,
			"content":{"text":"data: 1\n\n"}},"_eventSourceMessages":[{}]}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) { fuzzFormat(t, "c.har", data, formatHAR) })
}

func FuzzJSONL(f *testing.F) {
	f.Add(formatJSONL(f, capturetest.Exchanges()[:3]))
	for _, x := range capturetest.Exchanges() {
		f.Add(formatJSONL(f, []*capture.Exchange{x}))
	}
	f.Add([]byte(`{"request":{"line":"GET / HTTP/1.1","headers":[["a"]]},"response":{"events":[{"data":"1"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) { fuzzFormat(t, "c.jsonl", data, formatJSONL) })
}

// fuzzFormat reads a file, and what was written of that, and wants both to be the same.
func fuzzFormat(t *testing.T, name string, data []byte, format func(testing.TB, []*capture.Exchange) []byte) {
	first := fuzzRead(t, name, data)
	text := format(t, first)
	second := fuzzRead(t, name, text)
	if diff := cmp.Diff(string(text), string(format(t, second))); diff != "" {
		t.Fatalf("written again: got +, want -:\n%s", diff)
	}
	if len(first) != len(second) {
		t.Fatalf("%d exchanges, and again %d", len(first), len(second))
	}
	for i := range first {
		if diff := capturetest.Compare(first[i], second[i]); diff != "" {
			t.Fatalf("read again: got +, want -:\n%s\nfrom:\n%s", diff, text)
		}
	}
}

// fuzzRead returns the exchanges up to where the file is broken.
func fuzzRead(t *testing.T, name string, data []byte) []*capture.Exchange {
	s, err := open.File(capturetest.WriteFile(t, name, data))
	if err != nil {
		return nil
	}
	defer s.Close()
	var xs []*capture.Exchange
	for x, err := range s.Exchanges(t.Context(), 0) {
		if err != nil {
			break
		}
		xs = append(xs, x)
	}
	return xs
}
