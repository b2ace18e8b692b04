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
		{"bytes of a body or message, once it is unpacked", size(budget.ReadBytes)},
		{"values and names of a JSON text, or fields of a message of gRPC", count(budget.ReadNodes)},
		{"bytes of a text that is judged when a recording has been ending for half a second", size(budget.EndReadBytes)},
		{"values and names of a JSON text, or fields of a message of gRPC, that is judged then", count(budget.EndReadNodes)},
		{
			"bytes that a coded text may become then for each byte on the wire, and " + size(budget.EndFreeBytes) + " besides",
			count(budget.EndReadRatio),
		},
		{
			"bytes for each value, name or field then, of which there may be " + count(budget.EndFreeNodes) + " besides",
			count(budget.EndReadRatio),
		},
		{"bytes of a message of gRPC that is read while it is held, once it is unpacked", size(budget.HeldReadBytes)},
		{"fields of a message of gRPC that is read while it is held", count(budget.HeldReadNodes)},
		{"long messages that are read at once while they are held", count(budget.HeldReads)},
		{"bytes of all messages that taps hold for cards and webhooks", size(budget.HeldBytes)},
		{"bytes of all messages that the user holds; the oldest go on", size(budget.DeskBytes)},
		{"bytes of one header block of HTTP/2, once it is expanded", size(budget.HeaderBytes)},
		{"bytes of a header block that do not count for the next two", size(budget.FreeHeaderBytes)},
		{"bytes of the header blocks of the streams that are open on one connection", size(budget.ConnHeaderBytes)},
		{"bytes of the header blocks of all streams that are open", size(budget.AllHeaderBytes)},
		{"bytes of one exchange in a file that is imported", size(budget.FileRecord)},
		{"bytes of a transcript, or of what comes through a pipe", size(budget.FileWhole)},
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
		"taps hold " + size(budget.HeldBytes) + ", the user " + size(budget.DeskBytes),
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
