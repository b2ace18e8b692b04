package jsondoc_test

import (
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/jsondoc"
)

// parse returns the root of a text that has to be well-formed.
func parse(t testing.TB, text string) jsondoc.Value {
	t.Helper()
	doc := jsondoc.Parse([]byte(text))
	if doc.Err != nil {
		t.Fatalf("parse %s: %v", text, doc.Err)
	}
	return doc.Root
}

func TestWord(t *testing.T) {
	known := map[string]string{"working": "working"}
	for text, want := range map[string]string{
		`"working"`: "working", `"w\u006frking"`: "working", `"other"`: "other", `""`: "", `7`: "", `null`: "",
		`{}`: "",
	} {
		expect.Equal(t, "word of "+text, want, parse(t, text).Word(known))
	}
	expect.Equal(t, "word of nothing", "", (jsondoc.Value{}).Word(known))
	v := parse(t, `"working"`)
	if n := testing.AllocsPerRun(100, func() { v.Word(known) }); n != 0 {
		t.Errorf("a known word takes %v allocations", n)
	}
}

func TestValuePresence(t *testing.T) {
	v := parse(t, `{"null":null,"Text":"x","no":false,"nested":{"list":[1,{"a~b/c":"deep"}]},"":0}`)
	tests := []struct {
		pointer string
		kind    jsondoc.Kind
	}{
		{"", jsondoc.Object},
		{"/null", jsondoc.Null},
		{"/text", jsondoc.Absent}, // names are compared exactly
		{"/Text", jsondoc.String},
		{"/no", jsondoc.Bool},
		{"/nested/list", jsondoc.Array},
		{"/nested/list/0", jsondoc.Number},
		{"/nested/list/00", jsondoc.Absent},
		{"/nested/list/-1", jsondoc.Absent},
		{"/nested/list/2", jsondoc.Absent},
		{"/nested/list/1/a~0b~1c", jsondoc.String},
		{"/nested/list/1/a~0b~1c/x", jsondoc.Absent},
		{"/", jsondoc.Number},
		{"Text", jsondoc.Absent},
	}
	for _, test := range tests {
		got := v.At(test.pointer)
		expect.Equal(t, "At("+test.pointer+")", test.kind, got.Kind())
		if got.Exists() && got.Pointer() != test.pointer {
			t.Errorf("At(%q).Pointer() = %q", test.pointer, got.Pointer())
		}
	}
	if !v.Has("null") || v.Has("missing") || !v.Get("null").IsNull() || v.Get("missing").IsNull() {
		t.Error("null and absent are not distinguished")
	}
}

func TestAbsentValueAnswersEverything(t *testing.T) {
	var v jsondoc.Value
	if v.Kind() != jsondoc.Absent || v.Exists() || v.Len() != 0 || v.Raw() != nil || v.Text() != "" || v.Offset() != -1 ||
		v.Pointer() != "" {
		t.Error("an Absent Value says something")
	}
	if v.Get("a").At("/b/0").Elem(3).Exists() {
		t.Error("there is something in an Absent Value")
	}
	if _, ok := v.Int(); ok {
		t.Error("an Absent Value is a number")
	}
	for range v.Members() {
		t.Error("an Absent Value has members")
	}
}

func TestValueOrder(t *testing.T) {
	v := parse(t, `{"z":1,"a":[true,"x",[],{}],"z":{"k":null}}`)
	var got []string
	for name, m := range v.Members() {
		got = append(got, name+" "+string(m.Raw()))
	}
	for i, e := range v.Get("a").Elems() {
		got = append(got, jsondoc.Ptr("/a", i)+" "+e.Kind().String())
	}
	want := []string{
		"z 1", `a [true,"x",[],{}]`, `z {"k":null}`, "/a/0 boolean", "/a/1 string", "/a/2 array",
		"/a/3 object",
	}
	expect.Same(t, "", want, got)
	for range v.Members() {
		break // leaving early is allowed
	}
}

func TestValueText(t *testing.T) {
	v := parse(t, `["plain","a\"b\\\/\u00e9\ud83d\ude00\n","", "caf\u00e9"]`)
	want := []string{"plain", "a\"b\\/é😀\n", "", "café"}
	for i, w := range want {
		if got, ok := v.Elem(i).Str(); got != w || !ok {
			t.Errorf("element %d is %q, %v; want %q", i, got, ok, w)
		}
		if !v.Elem(i).Is(w) || v.Elem(i).Is(w+"x") {
			t.Errorf("Is does not agree with %q", w)
		}
	}
	expect.Equal(t, "an escaped member name is not found",
		jsondoc.Number, parse(t, `{"caf\u00e9":1}`).Get("café").Kind())
}

// Get finds the first of the members that Members yields under a name, and no other.
func TestGet(t *testing.T) {
	v := parse(t, `{"":0,"a":1,"result":2,"params":3,"parama":4,"a":5,"\u0062":6,"b":7,"\u0061":8,"caf\u00e9":9,"café":10,"":11}`)
	first := make(map[string]jsondoc.Value)
	for name, member := range v.Members() {
		if _, known := first[name]; !known {
			first[name] = member
		}
	}
	expect.Equal(t, "names", 7, len(first))
	for name, want := range first {
		if got := v.Get(name); got != want {
			t.Errorf("%q: got %s, want %s", name, got.Raw(), want.Raw())
		}
	}
	for _, name := range []string{"c", "param", "paramz", "aa", "x"} {
		if v.Get(name).Exists() {
			t.Errorf("there is %q", name)
		}
	}
}

func TestInt(t *testing.T) {
	tests := []struct {
		text string
		want int64
		ok   bool
	}{
		{"0", 0, true},
		{"-0", 0, true},
		{"0.000e7", 0, true},
		{"1", 1, true},
		{"1.0", 1, true},
		{"1e1", 10, true},
		{"-32001", -32001, true},
		{"1.25e2", 125, true},
		{"1200e-2", 12, true},
		{"1.5", 0, false},
		{"0.1", 0, false},
		{"1201e-2", 0, false},
		{"9223372036854775807", 9223372036854775807, true},
		{"9223372036854775808", 0, false},
		{"-9223372036854775808", -9223372036854775808, true},
		{"-9223372036854775809", 0, false},
		{"99999999999999999999", 0, false},
		{"1e999999999999", 0, false},
		{`"1"`, 0, false},
		{"true", 0, false},
	}
	for _, test := range tests {
		if got, ok := parse(t, test.text).Int(); got != test.want || ok != test.ok {
			t.Errorf("Int of %s = %d, %v; want %d, %v", test.text, got, ok, test.want, test.ok)
		}
	}
}

func TestFractional(t *testing.T) {
	tests := []struct {
		text string
		want bool
	}{
		{"0", false},
		{"0.000e7", false},
		{"1", false},
		{"1.0", false},
		{"1.25e2", false},
		{"1200e-2", false},
		{"99999999999999999999", false},
		{"1e999999999999", false},
		{"1e-999999999999", false}, // more than can be told
		{"1.5", true},
		{"-0.1", true},
		{"1201e-2", true},
		{`"1.5"`, false},
	}
	for _, test := range tests {
		expect.Equal(t, "Fractional of "+test.text, test.want, parse(t, test.text).Fractional())
	}
}

func TestSameID(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{`1`, `1`, true},
		{`1`, `1.0`, true},
		{`1`, `10e-1`, true},
		{`100`, `1e2`, true},
		{`1.5`, `15e-1`, true},
		{`12.34`, `1234e-2`, true},
		{`0`, `-0.0`, true},
		{`1`, `-1`, false},
		{`1`, `"1"`, false},
		{`1`, `2`, false},
		{`10`, `1`, false},
		{`9007199254740993`, `9007199254740992`, false},
		{`9007199254740993`, `9007199254740993.0`, true},
		{`123456789012345678901234567890`, `123456789012345678901234567891`, false},
		{`1e999999999999`, `1e999999999999`, true},
		{`1e999999999999`, `10e999999999998`, false}, // cannot be told
		{`"a"`, `"\u0061"`, true},
		{`"a"`, `"A"`, false},
		{`null`, `null`, true},
		{`null`, `0`, false},
		{`{}`, `{}`, false},
	}
	for _, test := range tests {
		a, b := parse(t, test.a), parse(t, test.b)
		expect.Equal(t, "SameID("+test.a+", "+test.b+")", test.want, jsondoc.SameID(a, b))
		if jsondoc.SameID(b, a) != jsondoc.SameID(a, b) {
			t.Errorf("SameID(%s, %s) depends on the order", test.a, test.b)
		}
	}
	if jsondoc.SameID(jsondoc.Value{}, jsondoc.Value{}) || jsondoc.SameID(jsondoc.Value{}, parse(t, "null")) {
		t.Error("an absent id is the same as another")
	}
}

func TestPtr(t *testing.T) {
	expect.Equal(t, "Ptr", "/result/a~1b/3/c~0d/", jsondoc.Ptr("/result", "a/b", 3, "c~d", ""))
	expect.Equal(t, "Ptr without tokens", "/x", jsondoc.Ptr("/x"))
}

func TestLiteral(t *testing.T) {
	for text, want := range map[string]string{`"agent"`: "agent", `""`: ""} {
		if got, ok := parse(t, text).Literal(); !ok || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", text, got, ok, want)
		}
	}
	for _, text := range []string{`"a\u0067ent"`, "\"\xff\"", `7`, `["agent"]`} {
		if got, ok := parse(t, text).Literal(); ok {
			t.Errorf("%s: %q, as if its bytes stood for themselves", text, got)
		}
	}
}

func TestIn(t *testing.T) {
	set := map[string]bool{"agent": true, "": true}
	for text, want := range map[string]bool{`"agent"`: true, `"a\u0067ent"`: true, `"user"`: false, `7`: false, `""`: true} {
		expect.Equal(t, text, want, parse(t, text).In(set))
	}
}
