package digest_test

import (
	"testing"

	"a2atap/analyzer/digest"
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
		{"members and numbers", `{"parts":[{"data":{"a":1,"b":[1e2,false]}}]}`, `{"parts":[{"data":{"b":[100,false],"a":1.0}}]}`, true},
		{"links", `{"parts":[{"url":"http://x/?sig=1"}]}`, `{"parts":[{"url":"http://x/?sig=2"}]}`, true},
		{"order of text", `{"parts":[{"text":"one"},{"text":"two"}]}`, `{"parts":[{"text":"two"},{"text":"one"}]}`, false},
		{"bytes", `{"parts":[{"raw":"aGVsbG8="}]}`, `{"parts":[{"raw":"aGVsbG9v"}]}`, false},
		{"order of elements", `{"parts":[{"data":{"b":[1,2]}}]}`, `{"parts":[{"data":{"b":[2,1]}}]}`, false},
		{"where a member stands", `{"parts":[{"data":{"a":{"b":1},"c":2}}]}`, `{"parts":[{"data":{"a":{"b":1,"c":2}}}]}`, false},
		{"names", `{"parts":[{"data":{"ab":"c"}}]}`, `{"parts":[{"data":{"a":"bc"}}]}`, false},
		{"text and data", `{"parts":[{"text":"1"}]}`, `{"parts":[{"data":1}]}`, false},
	} {
		if same := contentOf(test.a) == contentOf(test.b); same != test.same {
			t.Errorf("%s: the same is %v, want %v", test.name, same, test.same)
		}
	}
}
