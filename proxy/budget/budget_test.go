package budget_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"a2atap/proxy/budget"
	"a2atap/proxy/must"
)

// The table of docs/limits.md has each budget with its bound, and docs/security.md those of floods.
func TestDocumented(t *testing.T) {
	rows := []struct {
		what  string
		bound string
	}{
		{"bytes of a body or message, decompressed", size(budget.ReadBytes)},
		{"values and names of a JSON text, or fields of a gRPC message", count(budget.ReadNodes)},
		{"when ending: bytes of a text", size(budget.EndReadBytes)},
		{"when ending: values and names of a JSON text, or fields of a gRPC message", count(budget.EndReadNodes)},
		{
			"when ending: decompressed bytes for each byte on the wire, beyond the first " + size(budget.EndFreeBytes),
			count(budget.EndReadRatio),
		},
		{
			"when ending: bytes on the wire for each value, name or field, beyond the first " + count(budget.EndFreeNodes),
			count(budget.EndReadRatio),
		},
		{
			"when ending: bytes on the wire for each event of a stream, beyond the first " + size(budget.EndFreeBytes),
			count(budget.EndEvent),
		},
		{"bytes of a gRPC message that is decoded while held, decompressed", size(budget.HeldReadBytes)},
		{"fields of a gRPC message that is decoded while held", count(budget.HeldReadNodes)},
		{"long messages that are decoded at the same time while held", count(budget.HeldReads)},
		{
			"bytes of all messages that are held, by taps for cards and webhooks and by the user; beyond that, the user's oldest are released",
			size(budget.HeldBytes),
		},
		{"bytes of an HTTP/2 header block, decoded", size(budget.HeaderBytes)},
		{"bytes of a header block that do not count for the next two rows", size(budget.FreeHeaderBytes)},
		{"bytes of the header blocks of open streams on one connection", size(budget.ConnHeaderBytes)},
		{"bytes of the header blocks of all open streams", size(budget.AllHeaderBytes)},
		{"bytes of one exchange in an imported file", size(budget.FileRecord)},
		{"lists and objects of one exchange in an imported file", count(budget.FileNodes)},
		{"bytes of a transcript, or of input through a pipe", size(budget.FileWhole)},
	}
	limits := page(t, "limits.md")
	for _, row := range rows {
		if line := "| " + row.what + " | " + row.bound + " |"; !strings.Contains(limits, line) {
			t.Errorf("docs/limits.md lacks %q", line)
		}
	}
	security := page(t, "security.md")
	for _, text := range []string{
		"read up to " + size(budget.ReadBytes) + " and " + count(budget.ReadNodes) + " fields, while it is held up to " +
			size(budget.HeldReadBytes) + " and " + count(budget.HeldReadNodes),
		"taps and the user hold " + size(budget.HeldBytes),
		"beyond " + size(budget.FreeHeaderBytes) + " each counts: after " + size(budget.ConnHeaderBytes) +
			" on one connection, or " + size(budget.AllHeaderBytes) + " on all",
	} {
		if !strings.Contains(security, text) {
			t.Errorf("docs/security.md lacks %q", text)
		}
	}
}

// What waits when a recording ends costs about as much as its bytes, and never more than one text may.
func TestAtEnd(t *testing.T) {
	for n, want := range map[int]budget.Budget{
		0:       {Bytes: budget.EndFreeBytes, Nodes: budget.EndFreeNodes},
		1000:    {Bytes: budget.EndFreeBytes + 4000, Nodes: budget.EndFreeNodes + 250},
		1 << 30: {Bytes: budget.EndReadBytes, Nodes: budget.EndReadNodes},
	} {
		if got := budget.AtEnd(n); got != want {
			t.Errorf("of %d bytes: %+v, want %+v", n, got, want)
		}
	}
}

func page(t *testing.T, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join("..", "..", "docs", name)))(t))
}

// size writes a number of bytes as the pages do.
func size(n int) string {
	if n >= 1<<20 {
		return strconv.Itoa(n>>20) + " MiB"
	}
	return strconv.Itoa(n>>10) + " KiB"
}

// count writes a number as the pages do.
func count(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func TestPool(t *testing.T) {
	p := budget.NewPool(10)
	a, b := p.Share(), p.Share()
	if !a.Take(6) || b.Take(5) || !b.Take(4) || a.Take(1) {
		t.Fatal("more is taken than there is, or less")
	}
	if a.Give(2); !b.Take(2) || p.Free() != 0 {
		t.Error("what is given back is not there")
	}
	a.Close()
	a.Close()
	if a.Take(1) || p.Free() != 4 {
		t.Errorf("%d bytes are free after one has ended", p.Free())
	}
	if b.Give(100); p.Free() != 10 {
		t.Errorf("%d bytes are free in the end", p.Free())
	}
	var none *budget.Share
	if none.Close(); !none.Take(1 << 40) {
		t.Error("nobody's share has a bound")
	}
}

// The oldest offered share is given up where there is no room, and one's own is not.
func TestPoolOffers(t *testing.T) {
	p := budget.NewPool(10)
	var gone []string
	offer := func(name string, n int) *budget.Share {
		s := p.Share()
		if !s.Take(n) {
			t.Errorf("there is no room for %s", name)
		}
		s.Offer(func() { gone = append(gone, name); go s.Close() })
		return s
	}
	offer("a", 4)
	b := offer("b", 3)
	c := offer("c", 3)
	if b.Withdraw(); !c.Take(4) || strings.Join(gone, "") != "a" {
		t.Errorf("%v are gone", gone)
	}
	if c.Take(1) {
		t.Error("what was withdrawn was taken, or its own")
	}
	if d := p.Share(); d.Take(11) || !d.Take(1) || strings.Join(gone, "") != "ac" {
		t.Errorf("%v are gone", gone)
	}
}

// Append takes what the capacity grows by, and twice as much only where it is free.
func TestPoolAppend(t *testing.T) {
	p := budget.NewPool(10)
	s := p.Share()
	b, ok := s.Append(nil, []byte("abc"))
	if b, ok2 := s.Append(b, []byte("d")); !ok || !ok2 || string(b) != "abcd" || p.Free() != 4 {
		t.Errorf("%q, and %d bytes are free", b, p.Free())
	}
	b, _ = s.Append(b, []byte("defg"))
	if b, ok := s.Append(b, []byte("hijkl")); ok || string(b) != "abcdefg" || cap(b) > 10 {
		t.Errorf("%q has a capacity of %d", b, cap(b))
	}
}
