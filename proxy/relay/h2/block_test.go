package h2

import (
	"bytes"
	"slices"
	"testing"

	"golang.org/x/net/http2/hpack"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// A blockWriter writes header blocks by the letter of RFC 7541 section 6, and knows whether the table is resized late.
type blockWriter struct {
	block  []byte
	fields bool
	late   bool
}

// add adds a representation: its kind, the index or size, and texts that are coded by Huffman or not.
func (w *blockWriter) add(kind byte, n uint64, name, value string, huffman bool) {
	literal := true
	switch kind % 5 {
	case 0:
		w.number(0x80, 7, max(n, 1))
		literal = false
	case 1:
		w.number(0x40, 6, n)
	case 2:
		w.number(0x20, 5, n)
		w.late = w.late || w.fields
		return
	case 3:
		w.number(0x10, 4, n)
	case 4:
		w.number(0, 4, n)
	}
	w.fields = true
	if literal && n == 0 {
		w.text(name, huffman)
	}
	if literal {
		w.text(value, huffman)
	}
}

// number adds an integer: RFC 7541 section 5.1.
func (w *blockWriter) number(pattern byte, prefix int, n uint64) {
	most := uint64(1)<<prefix - 1
	if n < most {
		w.block = append(w.block, pattern|byte(n))
		return
	}
	w.block = append(w.block, pattern|byte(most))
	for n -= most; n >= 128; n /= 128 {
		w.block = append(w.block, byte(n%128)|128)
	}
	w.block = append(w.block, byte(n))
}

// text adds a text: RFC 7541 section 5.2.
func (w *blockWriter) text(s string, huffman bool) {
	if !huffman {
		w.number(0, 7, uint64(len(s)))
		w.block = append(w.block, s...)
		return
	}
	w.number(0x80, 7, hpack.HuffmanEncodeLength(s))
	w.block = hpack.AppendHuffmanString(w.block, s)
}

// FuzzBlocks scans header blocks: those that are written by the letter, of which it is known whether they resize the table
// late, and any bytes.
func FuzzBlocks(f *testing.F) {
	f.Add([]byte{0, 8, 1, 7, 3, 9, 4, 0, 2, 255}, "name", "value")
	f.Add([]byte{2, 0, 2, 31, 0, 200}, "", "")
	f.Add([]byte("\x88\x00\x01x\x84\xff\xff\xff\xff"), "\x20", "\x3f\xe1\x1f")
	f.Add([]byte{0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, "x", "y")
	f.Fuzz(func(t *testing.T, raw []byte, name, value string) {
		var w blockWriter
		for i := 0; i+1 < len(raw) && i < 100; i += 2 {
			w.add(raw[i], uint64(raw[i+1])*uint64(1+i*i*i), name, value, raw[i]&0x80 != 0)
		}
		if got := resizesLate(w.block); got != w.late {
			t.Fatalf("%x resizes late: %t, want %t", w.block, got, w.late)
		}
		late := resizesLate(raw)
		for n := range raw {
			if !late && resizesLate(raw[:n]) {
				t.Fatalf("%x resizes late, and %x does not", raw[:n], raw)
			}
		}
		for prefix := 1; prefix < 8; prefix++ {
			n, rest := readInt(raw, prefix)
			if len(rest) >= max(len(raw), 1) || !bytes.HasSuffix(raw, rest) {
				t.Fatalf("%x: what follows an integer is %x", raw, rest)
			}
			w := blockWriter{}
			w.number(0, prefix, n)
			if again, rest := readInt(w.block, prefix); again != n || len(rest) > 0 {
				t.Fatalf("%d is read as %d", n, again)
			}
		}
		list := fieldList{{Name: ":status", Value: "200"}, {Name: name, Value: value}}
		broken := list.isMalformed()
		if name != "" && name[0] != ':' && list[1:].isMalformed() != broken {
			t.Fatalf("%q: malformed %t with a pseudo-field before it", list, broken)
		}
		if slices.Reverse(list); name != "" && name[0] != ':' && !list.isMalformed() {
			t.Fatalf("%q: a pseudo-field behind others is not malformed", list)
		}
	})
}

// What we write as a change of the table's size is one, and late behind a field only.
func TestResize(t *testing.T) {
	for _, size := range []uint32{0, 1, 30, 31, 127, 128, 158, 4096, maxTable, 1<<32 - 1} {
		b := appendResize(nil, size)
		got, rest := readInt(b, 5)
		if b[0]&0xe0 != 0x20 || uint32(got) != size || len(rest) > 0 {
			t.Errorf("%d is written as %x", size, b)
		}
		expect.Equal(t, "late before a field", false, resizesLate(append(b, 0x82)))
		expect.Equal(t, "late behind a field", true, resizesLate(append([]byte{0x82}, b...)))
	}
}

// BenchmarkBlock measures the time to decode a request's header block, to scan it, and to look up its fields.
func BenchmarkBlock(b *testing.B) {
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for _, f := range [][2]string{
		{":method", "POST"},
		{":scheme", "http"},
		{":path", "/lf.a2a.v1.A2AService/SendMessage"},
		{":authority", "127.0.0.1:41241"},
		{"content-type", "application/grpc"},
		{"user-agent", "grpc-go/1.80.0"},
		{"te", "trailers"},
		{"a2a-version", "1.0"},
		{"authorization", "Bearer " + string(bytes.Repeat([]byte("x"), 900))},
	} {
		enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1], Sensitive: true})
	}
	var list fieldList
	dec := hpack.NewDecoder(initialTable, func(f hpack.HeaderField) { list = append(list, f) })
	for name, work := range map[string]func() bool{
		"decode": func() bool {
			list = list[:0]
			must.Get(dec.Write(block.Bytes()))(b)
			return len(list) == 0
		},
		"scan": func() bool { return resizesLate(block.Bytes()) },
		"look": func() bool { return list.isMalformed() },
	} {
		must.Get(dec.Write(block.Bytes()))(b)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if work() {
					b.Fatal("the block is malformed")
				}
			}
		})
		list = list[:0]
	}
}
