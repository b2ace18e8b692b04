package safetext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"a2atap/proxy/expect"
)

func TestJSON(t *testing.T) {
	for r := rune(0x20); r <= 0x2fff; r++ {
		text := `{"a` + string(r) + `b":1}`
		obeys := r == 0x7f || 0x80 <= r && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029
		got := string(JSON([]byte(text)))
		expect.Equal(t, fmt.Sprintf("%U: changed", r), obeys, got != text)
		if obeys && strings.ContainsRune(got, r) {
			t.Errorf("%U: got %q", r, got)
		}
	}
	// A character that is cut off, or none, stays.
	for _, text := range []string{"", "plain", "\xc2", "\xe2\x80", "\xe2\x81", "\xe2\x82\xac", "\xd8", "\xe2\x80\x00"} {
		if got := JSON([]byte(text)); string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	const many = "\"\u0080\u202e\u2066é\u200e\x7f\""
	expect.Equal(t, "", `"\u0080\u202e\u2066é\u200e\u007f"`, string(JSON([]byte(many))))
}

func TestJSONr(t *testing.T) {
	var b bytes.Buffer
	text := []byte("[\"\u202e\"]\n")
	if n, err := (escaper{&b}).Write(text); n != len(text) || err != nil || b.String() != `["\u202e"]`+"\n" {
		t.Errorf("wrote %q, %d bytes, error %v", b.String(), n, err)
	}
}

// An escaped text means what it meant.
func FuzzJSON(f *testing.F) {
	f.Add([]byte("{\"a\u0085\":[\"\u202ex\u2069\",\"\\u202e\",1]}"))
	f.Add([]byte("\"\xe2\x80\xc2\x85\""))
	f.Fuzz(func(t *testing.T, text []byte) {
		got := JSON(bytes.Clone(text))
		if !bytes.Equal(JSON(got), got) {
			t.Errorf("%q is escaped twice: %q", got, JSON(got))
		}
		var was, is any
		if !utf8.Valid(text) || json.Unmarshal(text, &was) != nil {
			return
		}
		if err := json.Unmarshal(got, &is); err != nil || !reflect.DeepEqual(was, is) {
			t.Errorf("%q became %q: %v", text, got, err)
		}
		for _, r := range string(got) {
			if r >= 0x7f && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Errorf("%q holds %U still", got, r)
			}
		}
	})
}
