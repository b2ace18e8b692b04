package capture

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"a2atap/proxy/expect"
)

// split cuts a stream that is written in pieces whose lengths are those given, over and over; 0 writes it whole. It
// panics where the fields that the splitter found are not those of the block.
func split(stream []byte, limit int, lengths ...int) []Event {
	s := Splitter{Limit: limit}
	var blocks []Event
	check := func(found []Event) []Event {
		for i := range found {
			if found[i].IsMessage() { // no text, whatever it was taken for
				continue
			}
			if diff := cmp.Diff(found[i].Fields(), *s.Fields(i), cmpopts.EquateEmpty()); diff != "" {
				panic("fields of " + strconv.Quote(string(found[i].Raw)) + ": " + diff)
			}
		}
		return found
	}
	for i := 0; len(stream) > 0; i++ {
		n := len(stream)
		if l := lengths[i%len(lengths)]; l > 0 {
			n = min(n, l)
		}
		piece := bytes.Clone(stream[:n])
		blocks = append(blocks, check(s.Write(piece))...)
		clear(piece) // the splitter must have kept nothing of it
		stream = stream[n:]
	}
	return append(blocks, check(s.Flush())...)
}

func TestSplitter(t *testing.T) {
	block := func(k int, raw string) Event { return Event{K: k, At: NotKnown, Raw: []byte(raw)} }
	rest := func(k int, raw string) Event {
		return Event{K: k, At: NotKnown, Raw: []byte(raw), Unterminated: true}
	}
	tests := []struct {
		name, stream string
		want         []Event
	}{
		{"empty", "", nil},
		{"lf", "data: a\n\ndata: b\n\n", []Event{block(1, "data: a\n\n"), block(2, "data: b\n\n")}},
		{"crlf", "data: a\r\n\r\ndata: b\r\n\r\n", []Event{block(1, "data: a\r\n\r\n"), block(2, "data: b\r\n\r\n")}},
		{"cr", "data: a\r\rdata: b\r\r", []Event{block(1, "data: a\r\r"), block(2, "data: b\r\r")}},
		{"mixed", "data: a\r\n\ndata: b\n\r\ndata: c\n\r", []Event{
			block(1, "data: a\r\n\n"), block(2, "data: b\n\r\n"), block(3, "data: c\n\r"),
		}},
		{"lf after two cr", "data: a\r\r\ndata: b\n\n", []Event{block(1, "data: a\r\r"), block(2, "\ndata: b\n\n")}},
		{"lf after two cr at the end", "data: a\r\r\n", []Event{block(1, "data: a\r\r"), block(0, "\n")}},
		{"comments are no events", ": hi\n\ndata: a\n\n:\n:x\n\n", []Event{
			block(0, ": hi\n\n"), block(1, "data: a\n\n"), block(0, ":\n:x\n\n"),
		}},
		{"comment with a field", ": hi\ndata: a\n\n", []Event{block(1, ": hi\ndata: a\n\n")}},
		{
			"blank lines", "\n\ndata: a\n\n\n",
			[]Event{block(0, "\n"), block(0, "\n"), block(1, "data: a\n\n"), block(0, "\n")},
		},
		{"without data", "event: ping\n\nid\n\n", []Event{block(1, "event: ping\n\n"), block(2, "id\n\n")}},
		{"several lines", "event: a\ndata: 1\ndata: 2\n\n", []Event{block(1, "event: a\ndata: 1\ndata: 2\n\n")}},
		{"rest after a line", "data: a\n\ndata: b\n", []Event{block(1, "data: a\n\n"), rest(2, "data: b\n")}},
		{"rest in a line", "data: a\n\ndata: b", []Event{block(1, "data: a\n\n"), rest(2, "data: b")}},
		{"rest after a cr", "data: a\r", []Event{rest(1, "data: a\r")}},
		{"rest of a comment", ": a\r", []Event{rest(0, ": a\r")}},
		{"cr alone", "\r", []Event{block(0, "\r")}},
		{"byte order mark", BOM + ": a\n\n" + BOM + ": b\n\n", []Event{
			block(0, BOM+": a\n\n"), block(1, BOM+": b\n\n"),
		}},
		{"byte order mark alone", BOM, []Event{block(0, BOM)}},
		{"byte order mark and a blank line", BOM + "\r\n", []Event{block(0, BOM+"\r\n")}},
		{"part of a byte order mark", "\xEF\xBB", []Event{rest(1, "\xEF\xBB")}},
		{"part of a byte order mark in a line", "\xEF\xBB\n\n", []Event{block(1, "\xEF\xBB\n\n")}},
		{"two byte order marks", BOM + BOM + ":\n\n", []Event{block(1, BOM+BOM+":\n\n")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, lengths := range [][]int{{0}, {1}, {2}, {3, 1}, {1, 4}} {
				expect.Same(t, fmt.Sprintf("in pieces of %v", lengths),
					tt.want, split([]byte(tt.stream), 0, lengths...))
			}
		})
	}
}

// A block is handed out with the byte that completes it; only a CR that may be half a line end makes it wait.
func TestSplitterHandsOutAtOnce(t *testing.T) {
	for _, tt := range []struct {
		stream string
		waits  bool
	}{
		{"data: a\n\n", false},
		{"data: a\r\n\r\n", false},
		{"data: a\r\r", false},
		{"data: a\r\n\n", false},
		{"data: a\r\n\r", true},
		{"data: a\n\r", true},
	} {
		var s Splitter
		expect.Equal(t, tt.stream+": waits", tt.waits, len(s.Write([]byte(tt.stream))) == 0)
	}
}

func TestSplitterLimit(t *testing.T) {
	stream := "data: 0123456789\n\ndata: a\n\n: 0123456789\nevent: x\n\n"
	want := []Event{
		{K: 1, At: NotKnown, Raw: []byte("data: 01"), Dropped: 10},
		{K: 2, At: NotKnown, Raw: []byte("data: a\n"), Dropped: 1},
		{K: 3, At: NotKnown, Raw: []byte(": 012345"), Dropped: 15},
	}
	for _, length := range []int{0, 1, 5, 9} {
		expect.Same(t, fmt.Sprintf("in pieces of %d", length), want, split([]byte(stream), 8, length))
	}
}

func TestSplitterAllocatesOnlyWhatItGives(t *testing.T) {
	event := []byte("event: status\r\ndata: {\"jsonrpc\":\"2.0\"}\r\n\r\n")
	var s Splitter
	s.Write(event)
	allocs := testing.AllocsPerRun(100, func() {
		if got := s.Write(event[:7]); len(got) != 0 {
			t.Fatal("an event is complete before its end")
		}
		if got := s.Write(event[7:]); len(got) != 1 {
			t.Fatal("an event is not complete at its end")
		}
	})
	expect.Equal(t, "allocations for an event", 2, allocs)
}

func TestParseEvent(t *testing.T) {
	b := func(s string) []byte { return []byte(s) }
	tests := []struct {
		name, raw string
		want      EventFields
	}{
		{"plain", "data: a\n\n", EventFields{Data: b("a"), HasData: true, DataLines: 1}},
		{"no blank", "data:a\n\n", EventFields{Data: b("a"), HasData: true, DataLines: 1}},
		{"two blanks", "data:  a\n\n", EventFields{Data: b(" a"), HasData: true, DataLines: 1}},
		{"no colon", "data\n\n", EventFields{Data: b(""), HasData: true, DataLines: 1}},
		{"two empty", "data\ndata:\n\n", EventFields{Data: b("\n"), HasData: true, DataLines: 2}},
		{"joined", "data: {\r\ndata: }\r\r", EventFields{Data: b("{\n}"), HasData: true, DataLines: 2}},
		{"all", "id: 7\nevent: x\nretry: 1500\ndata: a: b\n\n", EventFields{
			Type: b("x"), ID: b("7"), HasID: true, Retry: 1500 * time.Millisecond,
			Data: b("a: b"), HasData: true, DataLines: 1,
		}},
		{"the last counts", "event: x\nevent: y\nid: 1\nid:\n\n", EventFields{Type: b("y"), ID: b(""), HasID: true}},
		{"names have a case", "Data: a\n\n", EventFields{Ignored: []EventLine{
			{Start: 0, End: 7, Name: b("Data"), Value: b("a"), Colon: true},
		}}},
		{"a name may end in a blank", "data : a\n\n", EventFields{Ignored: []EventLine{
			{Start: 0, End: 8, Name: b("data "), Value: b("a"), Colon: true},
		}}},
		{"stray line", "data: {\n \"a\": 1}\n\n", EventFields{
			Data: b("{"), HasData: true, DataLines: 1,
			Ignored: []EventLine{{Start: 8, End: 16, Name: b(` "a"`), Value: b("1}"), Colon: true}},
		}},
		{"id with nul", "id: 1\nid: \x002\n\n", EventFields{ID: b("1"), HasID: true, Ignored: []EventLine{
			{Start: 6, End: 12, Name: b("id"), Value: b("\x002"), Colon: true},
		}}},
		{"retry with letters", "retry: 3s\nretry\n\n", EventFields{Ignored: []EventLine{
			{Start: 0, End: 9, Name: b("retry"), Value: b("3s"), Colon: true},
			{Start: 10, End: 15, Name: b("retry")},
		}}},
		{"comments", ":a\n: b\n\n", EventFields{Comments: []EventLine{
			{Start: 0, End: 2, Value: b("a"), Colon: true},
			{Start: 3, End: 6, Value: b(" b"), Colon: true},
		}}},
		{"byte order mark", BOM + "data: a\n\n", EventFields{BOM: true, Data: b("a"), HasData: true, DataLines: 1}},
		{"rest of a line end in front", "\ndata: a\n\n", EventFields{Data: b("a"), HasData: true, DataLines: 1}},
		{"unterminated", "data: a", EventFields{Data: b("a"), HasData: true, DataLines: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want.Retry == 0 {
				tt.want.Retry = NotKnown
			}
			equal := cmp.Comparer(func(a, b []byte) bool { return bytes.Equal(a, b) })
			expect.Same(t, "", tt.want, ParseEvent([]byte(tt.raw)), equal)
		})
	}
}

func TestParseLaterEventTakesTheMarkForText(t *testing.T) {
	e := Event{K: 2, Raw: []byte(BOM + "data: a\n\n")}
	if f := e.Fields(); f.HasData || len(f.Ignored) != 1 {
		t.Errorf("got data %q and %d ignored lines; want none and 1", f.Data, len(f.Ignored))
	}
	if e.K = 1; !e.Fields().HasData {
		t.Error("the first event lost its data to the byte order mark")
	}
}

func TestRetryTooLong(t *testing.T) {
	f := ParseEvent([]byte("retry: " + strings.Repeat("9", 100) + "\n\n"))
	if f.Retry < 100*365*24*time.Hour {
		t.Errorf("got %v, want a time beyond all use", f.Retry)
	}
}

// dispatch is the standard's algorithm over a whole stream, line by line: what a client is handed.
func dispatch(stream string) (events []string) {
	stream = strings.TrimPrefix(stream, BOM)
	stream = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(stream)
	lines := strings.Split(stream, "\n")
	var typ, data string
	for _, line := range lines[:len(lines)-1] {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if data != "" {
				events = append(events, typ+"|"+strings.TrimSuffix(data, "\n"))
			}
			typ, data = "", ""
		case name == "event":
			typ = value
		case name == "data":
			data += value + "\n"
		}
	}
	return events
}

func FuzzSplitter(f *testing.F) {
	for _, stream := range []string{
		"data: a\n\n", "data: a\r\n\r\nevent: b\rdata\r\r", BOM + ":\r\r\n\ndata: x", "\xEF\xBBdata: 1\n\n\r\n\r",
		"event: x\ndata: {\ndata: }\n\n: keep-alive\n\nid: 1\n\n", "\x01ata: a\n*",
	} {
		f.Add([]byte(stream), uint8(1), uint8(3))
	}
	f.Fuzz(func(t *testing.T, stream []byte, a, b uint8) {
		whole := split(stream, 0, 0)
		if diff := cmp.Diff(whole, split(stream, 0, int(a)+1, int(b)+1)); diff != "" {
			t.Fatalf("blocks depend on the pieces:\n%s", diff)
		}
		var all []byte
		var got []string
		for i, e := range whole {
			all = append(all, e.Raw...)
			fields := parseLaterEvent(e.Raw)
			if i == 0 {
				fields = ParseEvent(e.Raw)
			}
			if fields.HasData && !e.Unterminated {
				got = append(got, string(fields.Type)+"|"+string(fields.Data))
			}
			if (e.K == 0) != (!fields.HasData && len(fields.Type) == 0 && !hasField(fields, e.Raw, i == 0)) {
				t.Fatalf("block %q has number %d", e.Raw, e.K)
			}
		}
		if !bytes.Equal(all, stream) {
			t.Fatalf("the blocks are %q, the stream was %q", all, stream)
		}
		if diff := cmp.Diff(dispatch(string(stream)), got); diff != "" {
			t.Fatalf("dispatched: got +, want -:\n%s", diff)
		}
		for _, e := range split(stream, 7, int(a)+1) {
			if len(e.Raw) > 7 {
				t.Fatalf("%d bytes kept of a block, the limit is 7", len(e.Raw))
			}
		}
	})
}

// hasField says in another way than the splitter whether a block has a line that is neither blank nor a comment.
func hasField(f EventFields, raw []byte, first bool) bool {
	if first {
		raw = bytes.TrimPrefix(raw, []byte(BOM))
	}
	lines := bytes.FieldsFunc(raw, func(r rune) bool { return r == '\r' || r == '\n' })
	return len(lines) > len(f.Comments)
}

func FuzzParseEvent(f *testing.F) {
	f.Add([]byte("id: 7\nevent: x\nretry: 1500\ndata: a: b\n\n"))
	f.Add([]byte(BOM + "data\r\n:\r\n x\r\r"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		for _, f := range []EventFields{ParseEvent(raw), parseLaterEvent(raw)} {
			for _, line := range append(f.Ignored, f.Comments...) {
				if line.Start < 0 || line.End > len(raw) || line.Start >= line.End {
					t.Fatalf("a line stands at %d to %d of %d", line.Start, line.End, len(raw))
				}
			}
			if bytes.Count(f.Data, []byte("\n")) != max(0, f.DataLines-1) || bytes.IndexByte(f.Data, '\r') >= 0 {
				t.Fatalf("data %q of %d lines", f.Data, f.DataLines)
			}
		}
		if !bytes.Equal(raw, before) {
			t.Fatal("the block was changed")
		}
	})
}
