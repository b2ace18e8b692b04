package capture_test

import (
	"fmt"
	"slices"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func pointer(t *testing.T, s string) capture.Pointer {
	t.Helper()
	return must.Get(capture.ParsePointer(s))(t)
}

func TestParsePointerErrors(t *testing.T) {
	for _, s := range []string{"no pointer", "/m~2n", "/m~"} {
		if p, err := capture.ParsePointer(s); err == nil {
			t.Errorf("%q: got %q", s, p)
		}
	}
}

func TestPointerValues(t *testing.T) {
	const doc = `{"a":{"b":[10,{"c":"x"},{"c":"y"}]},"":"empty","m~n/o":1,"a":{"b":"twice"},"é":"\u00e9","*":null}`
	tests := []struct {
		pointer string
		want    []string
	}{
		{"/a/b/0", []string{"10"}},
		{"/a/b/1/c", []string{`"x"`}},
		{"/a/b/*/c", []string{`"x"`, `"y"`}},
		{"/a/*", []string{`[10,{"c":"x"},{"c":"y"}]`, `"twice"`}},
		{"/a/b/3", nil},
		{"/a/b/00", nil},
		{"/a/b/-", nil},
		{"/", []string{`"empty"`}},
		{"/m~0n~1o", []string{"1"}},
		{"/é", []string{`"\u00e9"`}},
		{"", []string{doc}},
	}
	for _, tt := range tests {
		t.Run(tt.pointer, func(t *testing.T) {
			var got []string
			for v := range pointer(t, tt.pointer).Values([]byte(doc)) {
				got = append(got, string(v))
			}
			expect.Same(t, "values", tt.want, got)
		})
	}
}

func TestPointerValuesOfBrokenText(t *testing.T) {
	tests := []struct {
		name, data string
		want       []string
	}{
		{"cut off", `{"a":"x","b":{"a":`, []string{`"x"`}},
		{"broken later", `{"a":"x",,}`, []string{`"x"`}},
		{"JSON Lines", "{\"a\":1}\n{\"a\":2}\n", []string{"1", "2"}},
		{"not UTF-8", "{\"\xff\":0,\"a\":\"\xff\"}", []string{"\"\xff\""}},
		{"nothing", "", nil},
		{"no JSON", "hello", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for v := range pointer(t, "/a").Values([]byte(tt.data)) {
				got = append(got, string(v))
			}
			expect.Same(t, "values", tt.want, got)
		})
	}
}

func TestPointerStopsWhenTold(t *testing.T) {
	for v := range pointer(t, "/*").Values([]byte(`[1,2,3]`)) {
		expect.Equal(t, fmt.Sprintf("%s after the loop was left", v), "1", string(v))
		break
	}
}

func FuzzPointer(f *testing.F) {
	f.Add("/a/*/0", []byte(`{"a":[["x"]]}`))
	f.Add("", []byte(`1`))
	f.Add("/~0~1/", []byte(`{"~/":{"":true}}`))
	f.Fuzz(func(t *testing.T, pointer string, data []byte) {
		p, err := capture.ParsePointer(pointer)
		if err != nil {
			return
		}
		if p.String() != pointer {
			t.Errorf("pointer %q prints as %q", pointer, p)
		}
		before := slices.Clone(data)
		for v := range p.Values(data) {
			if len(v) == 0 {
				t.Error("an empty value")
			}
		}
		if !slices.Equal(before, data) {
			t.Error("the search changed the text")
		}
	})
}
