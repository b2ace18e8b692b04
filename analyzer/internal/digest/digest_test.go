package digest_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"a2atap/analyzer/internal/digest"
	"a2atap/proxy/a2a"
)

func contentOf(json string) digest.Content {
	doc := a2a.Parse([]byte(json))
	return digest.ContentOf(a2a.Artifact{Value: doc.Root}.Parts())
}

// Artifacts that hold the same are the same, however they are written and cut; others are not.
func TestContentOfArtifacts(t *testing.T) {
	for _, test := range []struct {
		name, a, b string
		same       bool
	}{
		{"text in parts", `{"parts":[{"text":"one two"}]}`, `{"parts":[{"text":"one "},{"text":"two"}]}`, true},
		{"escapes", `{"parts":[{"text":"caf\u00e9 \"x\""}]}`, `{"parts":[{"text":"café \u0022x\u0022"}]}`, true},
		{"flavours", `{"parts":[{"kind":"text","text":"one"}]}`, `{"parts":[{"text":"one","mediaType":"text/plain"}]}`, true},
		{"alphabets of base64", `{"parts":[{"raw":"+/+/"}]}`, `{"parts":[{"raw":"-_-_"}]}`, true},
		{"padding", `{"parts":[{"raw":"aGVsbG8="}]}`, `{"parts":[{"kind":"file","file":{"bytes":"aGVsbG8"}}]}`, true},
		{
			"members and numbers", `{"parts":[{"data":{"a":1,"b":[1e2,false]}}]}`,
			`{"parts":[{"data":{"b":[100,false],"a":1.0}}]}`, true,
		},
		{
			"secrets", `{"parts":[{"data":{"pin":"redacted.0123456789abcdef.11111111"}}]}`,
			`{"parts":[{"data":{"pin":"redacted.aaaaaaaaaaaaaaaa.22222222"}}]}`, true,
		},
		{
			"a secret and none", `{"parts":[{"data":{"pin":"redacted.0123456789abcdef.11111111"}}]}`,
			`{"parts":[{"data":{"pin":"1234"}}]}`, false,
		},
		{"links", `{"parts":[{"url":"http://x/?sig=1"}]}`, `{"parts":[{"url":"http://x/?sig=2"}]}`, true},
		{"order of text", `{"parts":[{"text":"one"},{"text":"two"}]}`, `{"parts":[{"text":"two"},{"text":"one"}]}`, false},
		{"bytes", `{"parts":[{"raw":"aGVsbG8="}]}`, `{"parts":[{"raw":"aGVsbG9v"}]}`, false},
		{"order of elements", `{"parts":[{"data":{"b":[1,2]}}]}`, `{"parts":[{"data":{"b":[2,1]}}]}`, false},
		{
			"where a member stands", `{"parts":[{"data":{"a":{"b":1},"c":2}}]}`, `{"parts":[{"data":{"a":{"b":1,"c":2}}}]}`,
			false,
		},
		{"names", `{"parts":[{"data":{"ab":"c"}}]}`, `{"parts":[{"data":{"a":"bc"}}]}`, false},
		{"text and data", `{"parts":[{"text":"1"}]}`, `{"parts":[{"data":1}]}`, false},
	} {
		if same := contentOf(test.a) == contentOf(test.b); same != test.same {
			t.Errorf("%s: the same is %v, want %v", test.name, same, test.same)
		}
	}
}

// What comes in pieces has the digest of the whole, wherever it is cut, and whatever is cut.
func TestContentInPieces(t *testing.T) {
	text := []rune(strings.Repeat(`zero \u0000 and "é" `, 3))
	part := func(piece []rune) string {
		quoted, err := json.Marshal(map[string]string{"text": string(piece)})
		if err != nil {
			t.Fatal(err)
		}
		return string(quoted)
	}
	whole := contentOf(`{"parts":[` + part(text) + `]}`)
	for i := range text {
		for j := i; j <= len(text); j++ {
			c := contentOf(`{"parts":[` + part(text[:i]) + "," + part(text[i:j]) + "," + part(text[j:]) + `]}`)
			if c != whole {
				t.Fatalf("cut at %d and %d it is something else", i, j)
			}
		}
	}
	if whole == contentOf(`{"parts":[`+part(text[1:])+`]}`) ||
		whole == contentOf(`{"parts":[`+part(text[:len(text)-1])+`]}`) {
		t.Error("a letter less is the same")
	}
}

// Contents that are made of the same pieces differ all the same.
func TestDigestsDiffer(t *testing.T) {
	seen := make(map[digest.Digest]string)
	for _, text := range []string{
		`{"a":1,"b":2}`, `{"a":2,"b":1}`, `{"a":1,"c":2}`, `{"ab":12}`, `{"a":{"b":1},"c":2}`, `{"a":{"b":2},"c":1}`,
		`{"c":{"b":1},"a":2}`,
		`["x","y"]`, `["y","x"]`, `["xy"]`, `["x",["y"]]`, `[["x"],"y"]`, `{"a":"xy","b":"zz"}`, `{"a":"zz","b":"xy"}`,
		`{"a":"zy","b":"xz"}`,
		`"\u0000"`, `"\u0000\u0000"`, `"0"`, `0.5`, `"0.5"`, `true`, `"true"`, `[]`,
	} {
		doc := a2a.Parse([]byte(text))
		d := digest.Empty.JSON(doc.Root, "")
		if other, known := seen[d]; known {
			t.Errorf("%s has the digest of %s", text, other)
		}
		seen[d] = text
	}
	for n := range uint64(1000) {
		d := digest.Empty.Number(n)
		if other, known := seen[d]; known {
			t.Errorf("%d has the digest of %s", n, other)
		}
		seen[d] = strconv.FormatUint(n, 10)
	}
}

func BenchmarkContentOf(b *testing.B) {
	for _, size := range [...]int{10, 900, 20_000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			doc := a2a.Parse([]byte(`{"parts":[{"text":"` + strings.Repeat("words and ", size/10) + `"}]}`))
			parts := a2a.Artifact{Value: doc.Root}.Parts()
			b.SetBytes(int64(size))
			for b.Loop() {
				digest.ContentOf(parts)
			}
		})
	}
}
