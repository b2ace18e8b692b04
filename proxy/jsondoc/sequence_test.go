package jsondoc_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/jsondoc"
)

func TestSequence(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"nothing":               {"", nil},
		"white space":           {" \n\r\n", nil},
		"one value":             {`{"a":1}`, []string{`{"a":1}`}},
		"lines":                 {"{\"a\":1}\n{\"b\":2}\n", []string{`{"a":1}`, `{"b":2}`}},
		"CRLF and blank lines":  {"1\r\n\r\n2\r\n", []string{"1", "2"}},
		"one line":              {`{"a":1}{"b":2} [3]`, []string{`{"a":1}`, `{"b":2}`, "[3]"}},
		"values that span some": {"{\n\"a\":1\n}\n{\n\"b\":2}", []string{"{\n\"a\":1\n}", "{\n\"b\":2}"}},
		"garbage after some":    {"1\n2\nx\n3", []string{"1", "2"}},
		"a cut end":             {"1\n{\"a\":", []string{"1"}},
		"a large line of many":  {strings.Repeat("1 ", 200_000), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for doc := range jsondoc.Sequence([]byte(test.text)) {
				got = append(got, string(doc.Root.Raw()))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestSequenceIsBounded(t *testing.T) {
	n := 0
	for range jsondoc.Sequence([]byte(strings.Repeat("1\n", 200_000))) {
		n++
	}
	expect.Equal(t, "values", 100_000, n)
}

func FuzzSequence(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n{\"b\":2}\n"))
	f.Add([]byte("1 2\n{\n\"a\":1}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for doc := range jsondoc.Sequence(text) {
			if doc.Err != nil || doc.Trailing {
				t.Errorf("%q: %v", text, fmt.Sprint(doc.Err))
			}
		}
	})
}
