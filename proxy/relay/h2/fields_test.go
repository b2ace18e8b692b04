package h2

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"a2atap/proxy/expect"
)

// A header block is decoded and encoded again without a change, and its text has a line for each field, whatever the
// fields are.
func FuzzHeaderBlock(f *testing.F) {
	for _, list := range []fieldList{
		{
			{Name: ":method", Value: "POST"},
			{Name: ":path", Value: "/a"},
			{Name: ":authority", Value: "h"},
			{Name: "a", Value: "b", Sensitive: true},
		},
		{{Name: ":status", Value: "200"}, {Name: "A: b\r\nc", Value: "d\r\n\r\ne"}, {Name: "", Value: ""}},
	} {
		var b bytes.Buffer
		e := hpack.NewEncoder(&b)
		for _, field := range list {
			e.WriteField(field)
		}
		f.Add(b.Bytes(), 3)
	}
	f.Fuzz(func(t *testing.T, encoded []byte, cut int) {
		read := func(encoded []byte, cut int) (fieldList, bool) {
			r := newBlockReader(1 << 16)
			r.begin(http2.FrameHeader{StreamID: 1}, nil, 0, initialTable)
			cut = min(max(cut, 0), len(encoded))
			if !r.add(encoded[:cut], false) || !r.add(encoded[cut:], true) || r.block.tooLong {
				return nil, false
			}
			return r.block.list, true
		}
		list, ok := read(encoded, cut)
		if !ok {
			return
		}
		e := newEnd(nil, "")
		e.out.fields(http2.FrameHeaders, 0, 1, nil, 0, list)
		var again []byte
		for b := e.out.bytes; len(b) > 0; {
			fh := parseHead(b)
			again = append(again, b[frameHead:frameHead+int(fh.Length)]...)
			b = b[frameHead+int(fh.Length):]
		}
		if got, ok := read(again, 0); !ok || !slices.Equal(got, list) {
			t.Errorf("%q became %q", list, got)
		}
		regular := 0
		for _, field := range list {
			if !field.IsPseudo() {
				regular++
			}
		}
		if n := strings.Count(string(list.appendTrailer(nil)), "\n"); n != regular {
			t.Errorf("%d lines for %d fields", n, regular)
		}
		head := list.appendRequest(nil)
		if n := strings.Count(string(head), "\r\n"); n < 2 || n > regular+3 || !bytes.HasSuffix(head, []byte("\r\n\r\n")) {
			t.Errorf("the head is %q", head)
		}
		list.edited(head)
	})
}

func TestEditedFields(t *testing.T) {
	list := fieldList{
		{Name: ":method", Value: "GET"},
		{Name: ":scheme", Value: "http"},
		{Name: ":path", Value: "/a"},
		{Name: ":authority", Value: "h:1"},
		{Name: "authorization", Value: "x", Sensitive: true},
		{Name: "b", Value: "c"},
	}
	if got := list.edited(list.appendRequest(nil)); !slices.Equal(got, list) {
		t.Errorf("unchanged: %v", got)
	}
	head := "GET /d HTTP/2\r\nhost: h:2\r\nauthorization: x\r\nAccept-Encoding: identity\r\n\r\n"
	want := fieldList{
		{Name: ":method", Value: "GET"},
		{Name: ":scheme", Value: "http"},
		{Name: ":path", Value: "/d"},
		{Name: ":authority", Value: "h:2"},
		{Name: "authorization", Value: "x", Sensitive: true},
		{Name: "accept-encoding", Value: "identity"},
	}
	if got := list.edited([]byte(head)); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

// The table of the encoder is as large as the end allows, by way of the smallest that it has allowed meanwhile.
func TestHeedsTable(t *testing.T) {
	e := newEnd(nil, "")
	list := fieldList{{Name: "x-name", Value: "value"}}
	blocks := func() []byte {
		e.out.bytes = nil
		e.out.fields(http2.FrameHeaders, 0, 1, nil, 0, list)
		return e.out.bytes[frameHead:]
	}
	blocks()
	if got := blocks(); len(got) != 1 || got[0] != 0x80|62 {
		t.Errorf("a field in the table is %x", got)
	}
	e.announce(0)
	e.announce(1 << 20)
	if got := blocks(); got[0] != 0x20 || got[1]&0xe0 != 0x20 || got[1] == 0x20 {
		t.Errorf("after 0 and more the block begins with %x", got)
	}
	e.announce(0)
	if got := blocks(); got[0] != 0x20 || got[1]&0xf0 != 0 {
		t.Errorf("after 0 the block is %x", got)
	}
}

// Bytes that a gRPC library sends unencoded are written in base64 in a head.
func TestBinaryFields(t *testing.T) {
	list := fieldList{
		{Name: "grpc-status-details-bin", Value: "\x00\x08\x05\r\n\x00"},
		{Name: "trace-bin", Value: "CAUNCgA"},
		{Name: "other", Value: "\x00a"},
	}
	want := "grpc-status-details-bin: CAUNCgA\r\ntrace-bin: CAUNCgA\r\nother: \ufffda\r\n"
	expect.Equal(t, "", want, string(list.appendTrailer(nil)))
}
