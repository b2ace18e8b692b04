package minimize

import (
	"bytes"
	"testing"

	"a2atap/proxy/jsondoc"
)

// Whatever is taken away of a JSON text, it stays JSON, and what is to stay stays.
func FuzzCutJSON(f *testing.F) {
	for _, text := range []string{
		`{"a": [1, {"b": "keep"}, 3], "c": {}}`, "[\n  1,\n  \"keep\"\n]", `"keep"`, `{"a":1,"a":"keep"}`,
		` [ [ [ "keep" ] ] ] `,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if doc := jsondoc.Parse(text); doc.Err != nil || len(text) > 1<<10 {
			return
		}
		word := []byte("keep")
		had := bytes.Contains(text, word)
		last := text
		cutJSON(text, func(less []byte) bool {
			if doc := jsondoc.Parse(less); doc.Err != nil {
				t.Fatalf("%q became %q: %v", last, less, doc.Err)
			}
			if len(less) >= len(last) {
				t.Fatalf("%q became %q, which is not shorter", last, less)
			}
			if had && !bytes.Contains(less, word) {
				return false
			}
			last = less
			return true
		})
		if had != bytes.Contains(last, word) {
			t.Errorf("%q became %q", text, last)
		}
	})
}

// A string is replaced with another one in any JSON text, and nothing else changes.
func FuzzReplaceStrings(f *testing.F) {
	f.Add([]byte(`{"a": "was", "was": ["was", "wa\u0073", "other"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		doc := jsondoc.Parse(text)
		if doc.Err != nil {
			return
		}
		var before, after []string
		eachString(doc.Root, "", func(_ string, v jsondoc.Value) { before = append(before, v.Text()) })
		out := withStrings(text, doc.Root, "was", "is \"it\"\n")
		if out == nil {
			out = text
		}
		again := jsondoc.Parse(out)
		if again.Err != nil {
			t.Fatalf("%q became %q: %v", text, out, again.Err)
		}
		eachString(again.Root, "", func(_ string, v jsondoc.Value) { after = append(after, v.Text()) })
		if len(before) != len(after) {
			t.Fatalf("%q became %q", text, out)
		}
		for i := range before {
			if want := before[i]; after[i] != want && (want != "was" || after[i] != "is \"it\"\n") {
				t.Errorf("%q became %q in %q", want, after[i], out)
			}
		}
	})
}
