package jsondoc

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/expect"
)

func TestParseFaults(t *testing.T) {
	tests := []struct {
		name, text string
		want       *SyntaxError
		root       Kind
	}{
		{"object", `{"a":1}`, nil, Object},
		{"white space around", " \t\r\n[1] \n", nil, Array},
		{"scalar", `7`, nil, Number},
		{"empty", ``, &SyntaxError{Offset: 0, Reason: "there is no value", Truncated: true}, Absent},
		{"blank", "  \n", &SyntaxError{Offset: 3, Reason: "there is no value", Truncated: true}, Absent},
		{
			"cut object", `{"a":`,
			&SyntaxError{Offset: 5, Reason: "the text ends before the value does", Truncated: true},
			Absent,
		},
		{
			"cut string", `{"a":"b`,
			&SyntaxError{Offset: 7, Reason: "the text ends before the value does", Truncated: true}, Absent,
		},
		{
			"cut literal", `tru`,
			&SyntaxError{Offset: 3, Reason: "the text ends before the value does", Truncated: true},
			Absent,
		},
		{"second value", `{} {}`, &SyntaxError{Offset: 3, Reason: "more text after the JSON value"}, Object},
		{
			"comma at the end", `{"a":1,}`, &SyntaxError{Offset: 6, Reason: "invalid character ',' at start of value"},
			Absent,
		},
		{
			"name without quotes", `{a:1}`, &SyntaxError{Offset: 1, Reason: "invalid character 'a' at start of value"},
			Absent,
		},
		{"not JSON", `<html>`, &SyntaxError{Offset: 0, Reason: "invalid character '<' at start of value"}, Absent},
		{
			"control character", "\"a\nb\"",
			&SyntaxError{Offset: 2, Reason: `invalid character '\n' in string (expecting non-control character)`},
			Absent,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			doc := Parse([]byte(test.text))
			expect.Same(t, "Err", test.want, doc.Err)
			expect.Equal(t, "Root", test.root, doc.Root.Kind())
			expect.Equal(t, "Trailing", test.name == "second value", doc.Trailing)
		})
	}
}

func TestParseByteOrderMark(t *testing.T) {
	doc := Parse([]byte("\xEF\xBB\xBF{\"a\":\"b\"}"))
	if !doc.BOM || doc.Err != nil {
		t.Fatalf("BOM = %v, Err = %v; want true and none", doc.BOM, doc.Err)
	}
	if a := doc.Root.Get("a"); a.Text() != "b" || a.Offset() != 8 || string(a.Raw()) != `"b"` {
		t.Errorf("a is %q at %d, raw %s", a.Text(), a.Offset(), a.Raw())
	}
	if doc := Parse([]byte("\xEF\xBB\xBF]")); doc.Err == nil || doc.Err.Offset != 3 {
		t.Errorf("Err = %v, want one at byte 3", doc.Err)
	}
}

func TestParseInvalidUTF8(t *testing.T) {
	doc := Parse([]byte("{\"a\":\"x\xff\",\"b\":\"\xc3\xa9\"}"))
	if doc.Err != nil || doc.InvalidUTF8 != 7 {
		t.Fatalf("Err = %v, InvalidUTF8 = %d; want none and 7", doc.Err, doc.InvalidUTF8)
	}
	expect.Equal(t, "a", "x\uFFFD", doc.Root.Get("a").Text())
	expect.Equal(t, "b", "é", doc.Root.Get("b").Text())
	if doc := Parse([]byte(`"é"`)); doc.InvalidUTF8 != -1 {
		t.Errorf("InvalidUTF8 = %d for valid text", doc.InvalidUTF8)
	}
	// A lone surrogate is a fault of the text that is meant, not of the bytes.
	if doc := Parse([]byte(`"\ud800"`)); doc.Err != nil || doc.InvalidUTF8 != -1 {
		t.Errorf("lone surrogate: Err = %v, InvalidUTF8 = %d", doc.Err, doc.InvalidUTF8)
	}
}

func TestParseDuplicates(t *testing.T) {
	doc := Parse([]byte(`{"a":1,"params":[0,{"x/y":1,"z":2,"x\/y":3}],"a":null,"a":2}`))
	want := []Duplicate{
		{"/params/1/x~1y", "x/y"},
		{"/a", "a"},
		{"/a", "a"},
	}
	expect.Same(t, "Duplicates", want, doc.Duplicates)
	if n, _ := doc.Root.Get("a").Int(); n != 1 {
		t.Errorf("Get returns %d, want the first", n)
	}
	expect.Equal(t, "Len", 4, doc.Root.Len())
}

func TestParseDuplicatesInLargeObject(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"o":{`)
	for i := range 1000 {
		b.WriteString(`"k` + strconv.Itoa(i) + `":0,`)
	}
	b.WriteString(`"k500":1,"k5":2}}`)
	doc := Parse([]byte(b.String()))
	expect.Same(t, "Duplicates", []Duplicate{{"/o/k5", "k5"}, {"/o/k500", "k500"}}, doc.Duplicates)
	many := Parse([]byte(`[` + strings.Repeat(`{"a":1,"a":2},`, 100) + `0]`))
	if got := len(many.Duplicates); got != maxDuplicates {
		t.Errorf("%d duplicates remembered, want %d", got, maxDuplicates)
	}
}

func TestParseLimits(t *testing.T) {
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	if doc := Parse([]byte(deep)); doc.Err == nil || !doc.Err.Limit || doc.Err.Truncated {
		t.Errorf("20000 levels: Err = %+v, want a limit", doc.Err)
	}
	if doc := Parse([]byte(deep[10001:29999])); doc.Err != nil {
		t.Errorf("9999 levels: Err = %v", doc.Err)
	}
	long := "[" + strings.Repeat("0,", maxNodes) + "0]"
	if doc := Parse([]byte(long)); doc.Err == nil || !doc.Err.Limit {
		t.Errorf("%d values: Err = %+v, want a limit", maxNodes+1, doc.Err)
	}
}

func TestParseDoesNotChangeItsInput(t *testing.T) {
	text := `{"a":["x","\u0041",1.50,true,null],"b":{}}`
	data := []byte(text)
	first := Parse(data)
	Parse([]byte(`{"other":[1,2,3],"a":"y"}`)) // the parser's parts are used again
	if string(data) != text {
		t.Fatalf("input became %s", data)
	}
	if got := string(first.Root.Get("a").Raw()); got != `["x","\u0041",1.50,true,null]` {
		t.Errorf("raw text of a is %s", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		``, ` `, `{}`, `[]`, `{"a":1,"a":2}`, `{"a":"\u00e9\n","b":[1,-0,1e5,0.1]}`, "\xEF\xBB\xBF{}", `{"a":1}{"b":2}`,
		`"\ud800"`,
		"\"\xff\"", `nul`, `[1,]`, `{"a" 1}`, `01`, `1.`, "\x00", `[[[[[[{"":[""]}]]]]]]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc := Parse(data)
		text := data
		if doc.BOM {
			text = data[3:]
		}
		if doc.Err != nil && doc.Err.Limit {
			return
		}
		if valid := json.Valid(text); valid != (doc.Err == nil) {
			t.Fatalf("encoding/json says valid = %v, Err = %v", valid, doc.Err)
		}
		if doc.Err != nil && (doc.Err.Reason == "" || doc.Err.Offset < 0 || doc.Err.Offset > int64(len(data))) {
			t.Fatalf("Err = %+v", doc.Err)
		}
		visitDoc(t, doc)
	})
}

// What scan and decode make of a text is the same, to the last node; scan may leave to decode what is near a limit.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		``, ` {} `, `[ ]`, `{"a":1,"a":2}`, `{"a":"\u00e9\n\ud800","b":[1,-0,1e5,0.1E-7,true,false,null]}`, `"\x"`,
		`"\u12g4"`, "\"a\x1f\"",
		"\"\xff\x7f\"", `nul`, `[1,]`, `{"a" 1}`, `{"a":}`, `{,}`, `01`, `1.`, `-`, `1e+`, `[}`, `{]`, `{"a":1]`,
		`[1 2]`, `{1:2}`, `"abcdefgh\"ijklmnop"`,
		"{ \"a\" :\r\n[ 1 ,\t2 ] , \"b\" : { } } x", `[[[[[[{"":[""]}]]]]]]`,
		`"` + strings.Repeat("long text ", 9) + `"`, `truefalse`, `1.5e3,`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		mangled := invalidUTF8(data) >= 0
		fast, slow := &parser{data: data, mangled: mangled}, &parser{data: data, mangled: mangled}
		ok, err := fast.scan(), slow.decode()
		switch {
		case err != nil && ok:
			t.Fatalf("scan takes %q, decode says %v", data, err)
		case err == nil && !ok && bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) < maxDepth-1 &&
			len(data) < maxNodes:
			t.Fatalf("scan refuses %q, decode takes it", data)
		case err != nil || !ok:
			return
		}
		if diff := cmp.Diff(slow.nodes, fast.nodes, cmp.AllowUnexported(node{})); diff != "" || fast.end != slow.end {
			t.Fatalf("nodes of %q end at %d, not at %d (-decode +scan):\n%s", data, fast.end, slow.end, diff)
		}
		if diff := cmp.Diff(slow.duplicates, fast.duplicates); diff != "" {
			t.Fatalf("duplicates in %q (-decode +scan):\n%s", data, diff)
		}
	})
}

// The first byte that ends a run of plain bytes is found at any position, and no other byte is taken for it.
func TestPlainEnd(t *testing.T) {
	ends := func(c byte) bool { return c == '"' || c == '\\' || c < ' ' }
	for _, around := range []byte{' ', '!', '#', 'a', '[', ']', 0x7f, 0x80, 0xa2, 0xdc, 0xff} {
		for c := range 256 {
			for at := range 40 {
				text := bytes.Repeat([]byte{around}, 40)
				text[at] = byte(c)
				want := len(text)
				if ends(byte(c)) {
					want = at
				}
				for from := range at + 1 {
					if got := plainEnd(text, from); got != want {
						t.Fatalf("%q from %d: the plain bytes end at %d, want %d", text, from, got, want)
					}
				}
			}
		}
	}
}

func BenchmarkParse(b *testing.B) {
	unary := `{"jsonrpc":"2.0","id":"0123456789abcdef","result":{"task":{"id":"t-0123456789abcdef",` +
		`"contextId":"c-0123456789abcdef",` +
		`"status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-03-01T10:00:00.000Z"},` +
		`"artifacts":[{"artifactId":"a-1","parts":[{"text":"%"}]}]}}}`
	event := `{"jsonrpc":"2.0","id":"0123456789abcdef","result":{"statusUpdate":{"taskId":"t1","contextId":"c1",` +
		`"status":{"state":"TASK_STATE_WORKING"}}}}`
	for name, text := range map[string]string{
		"1.2 KB": strings.Replace(unary, "%", strings.Repeat("words and ", 90), 1),
		"20 KB":  strings.Replace(unary, "%", strings.Repeat("words and ", 2000), 1),
		"event":  event,
		"data":   `[` + strings.Repeat(`{"k":[1,2.5,true],"name":"value","n":null},`, 27) + `0]`,
	} {
		b.Run(name, func(b *testing.B) {
			data := []byte(text)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if doc := Parse(data); doc.Err != nil {
					b.Fatal(doc.Err)
				}
			}
		})
	}
}

// visitDoc asks every value of a text everything, and checks that its pointer leads back to it.
func visitDoc(t *testing.T, doc Doc) {
	t.Helper()
	if doc.Root.Exists() && len(doc.Root.tape.nodes) < 2000 {
		visit(t, doc.Root, len(doc.Duplicates) == 0)
	}
}

func visit(t *testing.T, v Value, unique bool) {
	t.Helper()
	if !json.Valid(v.Raw()) {
		t.Fatalf("raw text %q is not JSON", v.Raw())
	}
	visitScalar(t, v)
	back := Value{v.tape, 0}.At(v.Pointer())
	if unique && back != v {
		t.Fatalf("at %q is %s, not %s", v.Pointer(), back.Raw(), v.Raw())
	}
	count := 0
	for _, e := range v.Elems() {
		visit(t, e, unique)
		count++
	}
	for _, m := range v.Members() {
		visit(t, m, unique)
		count++
	}
	if count != v.Len() {
		t.Fatalf("%d values in %q, Len = %d", count, v.Raw(), v.Len())
	}
}

func visitScalar(t *testing.T, v Value) {
	t.Helper()
	if text, ok := v.Str(); ok && !v.Is(text) {
		t.Fatalf("%s is not its own text %q", v.Raw(), text)
	}
	if v.Kind() != Number {
		return
	}
	if !SameID(v, v) {
		t.Fatalf("%s is not the same id as itself", v.Raw())
	}
	exact, err := strconv.ParseInt(string(v.Raw()), 10, 64)
	if n, ok := v.Int(); err == nil && (n != exact || !ok) {
		t.Fatalf("Int of %s = %d, %v", v.Raw(), n, ok)
	}
}
