package capture_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// named replaces the test's own word for bare deflate by the coding's name.
func named(codings []string) []string {
	codings = slices.Clone(codings)
	for i, coding := range codings {
		if coding == "bare" {
			codings[i] = "deflate"
		}
	}
	return codings
}

var codingSets = [][]string{
	{"gzip"},
	{"deflate"},
	{"bare"},
	{"br"},
	{"zstd"},
	{"gzip", "br"},
	{"br", "gzip"},
	{"zstd", "deflate", "gzip"},
	{"bare", "zstd"},
}

func TestDecode(t *testing.T) {
	defer goleak.VerifyNone(t)
	text := []byte(strings.Repeat(`{"jsonrpc":"2.0","id":1,"result":{"text":"to and fro"}}`, 5000))
	for _, set := range codingSets {
		t.Run(strings.Join(set, ","), func(t *testing.T) {
			codings, coded := named(set), capturetest.Encode(t, text, set...)
			got, err := capture.Decode(coded, codings, capture.DefaultDecodeLimit)
			if err != nil || !bytes.Equal(got, text) {
				t.Errorf("got %d bytes and %v, want %d", len(got), err, len(text))
			}
			got, err = capture.Decode(coded, codings, int64(len(text)))
			if err != nil || !bytes.Equal(got, text) {
				t.Errorf("at the limit: got %d bytes and %v", len(got), err)
			}
			got, err = capture.Decode(coded, codings, 1000)
			if !errors.Is(err, capture.ErrTooLong) || !bytes.Equal(got, text[:1000]) {
				t.Errorf("beyond the limit: got %d bytes and %v", len(got), err)
			}
			got, err = capture.Decode(coded[:len(coded)-1], codings, capture.DefaultDecodeLimit)
			if err == nil || !bytes.HasPrefix(text, got) {
				t.Errorf("cut: got %d bytes and %v", len(got), err)
			}
			if got, err = capture.Decode([]byte{}, codings, 10); err != nil || got == nil || len(got) > 0 {
				t.Errorf("empty: got %v and %v", got, err)
			}
			if _, err = capture.Decode([]byte("plain text"), codings, 10); err == nil {
				t.Error("plain text passed for coded")
			}
		})
	}
}

func TestDecodeKeepsTheBeginning(t *testing.T) {
	var text []byte
	for i := range 20000 {
		text = fmt.Appendf(text, "%d ", i*i)
	}
	for _, set := range [][]string{{"gzip"}, {"deflate"}, {"bare"}, {"br"}} {
		coded := capturetest.Encode(t, text, set...)
		got, err := capture.Decode(coded[:len(coded)/2], named(set), capture.DefaultDecodeLimit)
		if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) < len(text)/4 || !bytes.HasPrefix(text, got) {
			t.Errorf("%v: got %d of %d bytes and %v", set, len(got), len(text), err)
		}
	}
}

func TestDecodeGzipMembers(t *testing.T) {
	coded := append(capturetest.Encode(t, []byte("one "), "gzip"), capturetest.Encode(t, []byte("two"), "gzip")...)
	if got, err := capture.Decode(coded, []string{"gzip"}, 100); string(got) != "one two" || err != nil {
		t.Errorf("got %q and %v", got, err)
	}
	if got, err := capture.Decode(append(coded, "junk"...), []string{"gzip"}, 100); string(got) != "one two" ||
		err == nil {
		t.Errorf("with junk after it: got %q and %v", got, err)
	}
}

func TestDecodeJunkBehind(t *testing.T) {
	for _, set := range codingSets {
		got, err := capture.Decode(append(capturetest.Encode(t, []byte("text"), set...), "junk"...), named(set), 100)
		if string(got) != "text" || err == nil {
			t.Errorf("%v: got %q and %v", set, got, err)
		}
	}
}

// Codings that lie over one another are bounded in between, where what comes out in the end is nothing.
func TestDecodeBetween(t *testing.T) {
	const between = 40 << 20
	empty := capturetest.Encode(t, nil, "gzip")
	coded := capturetest.Encode(t, bytes.Repeat(empty, between/len(empty)), "gzip")
	if got, err := capture.Decode(coded, []string{"gzip", "gzip"}, 1000); !errors.Is(err, capture.ErrTooLong) || len(got) > 0 {
		t.Errorf("%d bytes that are %d in between: got %q and %v", len(coded), between, got, err)
	}
	d := must.Get(capture.NewStreamDecoder([]string{"gzip", "gzip"}))(t)
	defer d.Close()
	if err := d.Write(coded, func([]byte) {}); !errors.Is(err, capture.ErrTooLong) {
		t.Errorf("as a stream: %v", err)
	}
}

func TestDecodeUnknown(t *testing.T) {
	for _, codings := range [][]string{{"compress"}, {"gzip", "aws-chunked"}, slices.Repeat([]string{"gzip"}, 9)} {
		if got, err := capture.Decode([]byte("x"), codings, 10); !errors.Is(err, capture.ErrUnknownCoding) ||
			got != nil {
			t.Errorf("%v: got %q and %v", codings, got, err)
		}
	}
}

func TestCodings(t *testing.T) {
	f := capture.Fields{{"content-encoding", "GZIP, identity,, x-gzip "}, {"A", "b"}, {"Content-Encoding", "br"}}
	expect.Same(t, "", []string{"gzip", "gzip", "br"}, f.Codings())
}

func TestContent(t *testing.T) {
	head := []byte("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
	coded := capturetest.Encode(t, []byte("text"), "gzip")
	for _, tt := range []struct {
		name string
		r    capture.Response
		want string
	}{
		{"coded", capture.Response{Head: head, Body: capture.Body{Data: coded}}, "text"},
		{
			"decoded before",
			capture.Response{Head: head, Body: capture.Body{Data: []byte("text"), Decoded: true}},
			"text",
		},
		{"not kept", capture.Response{Head: head}, ""},
		{
			"stream",
			capture.Response{
				Head: head, Stream: true,
				Events: []capture.Event{{Raw: []byte("a\n")}, {Raw: []byte("\n")}},
			},
			"a\n\n",
		},
	} {
		if got, err := tt.r.Content(); string(got) != tt.want || err != nil {
			t.Errorf("%s: got %q and %v, want %q", tt.name, got, err, tt.want)
		}
	}
	q := capture.Request{
		Head: []byte("POST / HTTP/1.1\r\ncontent-encoding: gzip\r\n\r\n"),
		Body: capture.Body{Data: coded},
	}
	if got, err := q.Content(); string(got) != "text" || err != nil {
		t.Errorf("request: got %q and %v", got, err)
	}
}

// A server that flushes after each event has each event out of the decoder with the write that brings its last byte.
func TestStreamDecoder(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, set := range codingSets {
		for _, size := range []int{1, 7, 1 << 20} {
			t.Run(fmt.Sprint(set, " by ", size), func(t *testing.T) {
				var wire bytes.Buffer
				chain := make([]capturetest.Encoder, len(set))
				var w io.Writer = &wire
				for i := len(set) - 1; i >= 0; i-- {
					chain[i] = capturetest.NewEncoder(set[i], w)
					w = chain[i]
				}
				d := must.Get(capture.NewStreamDecoder(named(set)))(t)
				defer d.Close()
				var got []byte
				emit := func(p []byte) { got = append(got, p...) }
				send := func() {
					t.Helper()
					for piece := range slices.Chunk(wire.Bytes(), size) {
						must.Do(t, d.Write(piece, emit))
					}
					wire.Reset()
				}
				for k := range 20 {
					event := fmt.Sprintf("data: event %d of a stream\n\n", k)
					must.Get(io.WriteString(w, event))(t)
					for _, e := range chain {
						must.Do(t, e.Flush())
					}
					got = got[:0]
					send()
					if string(got) != event {
						t.Fatalf("event %d: got %q with the write that completes it", k, got)
					}
				}
				for _, e := range chain {
					must.Do(t, e.Close())
				}
				got = got[:0]
				send()
				if err := d.Flush(emit); err != nil || len(got) > 0 {
					t.Errorf("at the end: %q and %v", got, err)
				}
			})
		}
	}
}

func TestStreamDecoderCut(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, set := range codingSets {
		coded := capturetest.Encode(t, []byte(strings.Repeat("data: a\n\n", 1000)), set...)
		d := must.Get(capture.NewStreamDecoder(named(set)))(t)
		if err := d.Write(coded[:len(coded)-3], func([]byte) {}); err != nil {
			t.Errorf("%v: %v before the end", set, err)
		}
		first := d.Flush(func([]byte) {})
		if !errors.Is(first, io.ErrUnexpectedEOF) {
			t.Errorf("%v: %v at the end, want an unexpected EOF", set, first)
		}
		if again := d.Write([]byte("x"), nil); !errors.Is(again, first) {
			t.Errorf("%v: %v after the end, want the same error", set, again)
		}
		d.Close()
		d.Close()
	}
}

func TestStreamDecoderWithoutBytes(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, set := range codingSets {
		d := must.Get(capture.NewStreamDecoder(named(set)))(t)
		if err := d.Flush(func([]byte) {}); err != nil {
			t.Errorf("%v: %v", set, err)
		}
		d.Close()
	}
}

func TestStreamDecoderClosedEarly(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, writes := range []int{0, 1} {
		d := must.Get(capture.NewStreamDecoder([]string{"gzip", "zstd"}))(t)
		for range writes {
			must.Do(t, d.Write([]byte{0x28}, nil))
		}
		d.Close()
		if err := d.Write([]byte{0xb5}, nil); err != nil {
			t.Errorf("after Close: %v", err)
		}
	}
	expect.ErrorIs(t, "", capture.ErrUnknownCoding, expect.Err(capture.NewStreamDecoder([]string{"gzip", "rot13"})))
}

func FuzzDecode(f *testing.F) {
	for i, set := range codingSets {
		f.Add(uint8(i), capturetest.Encode(f, []byte("data: {\"a\":1}\n\n"), set...))
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		codings := named(codingSets[int(which)%len(codingSets)])
		const limit = 1 << 16
		whole, wholeErr := capture.Decode(data, codings, limit)
		if len(whole) > limit {
			t.Fatalf("%d bytes, the limit is %d", len(whole), limit)
		}
		d, err := capture.NewStreamDecoder(codings)
		must.Do(t, err)
		defer d.Close()
		var got []byte
		emit := func(p []byte) {
			if len(got) < limit {
				got = append(got, p...)
			}
		}
		for piece := range slices.Chunk(data, 3) {
			if err = d.Write(piece, emit); err != nil {
				break
			}
		}
		if err == nil {
			err = d.Flush(emit)
		}
		if (err == nil) != (wholeErr == nil) && !errors.Is(wholeErr, capture.ErrTooLong) {
			t.Fatalf("in pieces: %v; as a whole: %v", err, wholeErr)
		}
		if wholeErr == nil && !bytes.Equal(got, whole) {
			t.Fatalf("in pieces %q, as a whole %q", got, whole)
		}
	})
}
