package redact

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/jsondoc"
)

// inPieces returns a text that was hidden piece by piece.
func inPieces(pieces ...string) string {
	var s pieceState
	var whole strings.Builder
	for _, piece := range pieces {
		now, _ := s.next(&testMask, piece)
		whole.WriteString(now)
	}
	return whole.String()
}

// A secret is hidden wherever the text is cut, and everything else stays.
func TestPieces(t *testing.T) {
	const secret = `hunter2-\"and\"-more`
	for _, tt := range []struct{ before, after string }{
		{`{"user":"ann","password":"`, `","city":"Oslo","n":[1,2,{"token_count":3}]}`},
		{`{"list":[{"api_key" : "`, `"}],"path":"c:\\"}`},
		{`{"credentials":{"first":"`, `"},"then":"shown"}`},
		{`{"pass\u0077ord":"`, `"}`},
	} {
		text := tt.before + secret + tt.after
		for i := range len(text) {
			for j := i; j < len(text); j += 7 {
				got := inPieces(text[:i], text[i:j], text[j:])
				if strings.Contains(got, "hunter2") || strings.Contains(got, "more") {
					t.Fatalf("cut at %d and %d: %s", i, j, got)
				}
				if doc := jsondoc.Parse([]byte(got)); doc.Err != nil {
					t.Fatalf("cut at %d and %d: %s: %v", i, j, got, doc.Err)
				}
				if !strings.HasSuffix(got, tt.after) {
					t.Fatalf("cut at %d and %d: %s, want it to end with %s", i, j, got, tt.after)
				}
			}
		}
	}
	const plain = `{"a":"b: \"password\":\"x\"","c":["d",1.5e3,null],"max_tokens":"5"}`
	for i := range len(plain) {
		expect.Equal(t, "a text without secrets", plain, inPieces(plain[:i], plain[i:]))
	}
}

// Pieces of more texts than are followed are hidden.
func TestPiecesOfManyTexts(t *testing.T) {
	var p pieced
	text := jsondoc.Parse([]byte(`"plain"`)).Root
	for i := range maxPieced + 1 {
		edits := p.hide(&testMask, []capture.Piece{{Of: strconv.Itoa(i), Text: text}})
		expect.Equal(t, fmt.Sprint("edits of text ", i), i == maxPieced, len(edits) == 1)
	}
}

// Brackets that close nothing do not show a secret.
func TestPiecesOfBrokenJSON(t *testing.T) {
	if got := inPieces(`}}]{"credentials":{"first":"hunter2"}}`); strings.Contains(got, "hunter2") {
		t.Error(got)
	}
}

// Whatever comes in pieces, what is hidden does not depend on where they are cut, apart from the placeholders.
func FuzzPieces(f *testing.F) {
	f.Add(`{"a":{"password":"x\"y"},"token":["z"]}`, 9)
	f.Fuzz(func(t *testing.T, text string, at int) {
		at = min(max(at, 0), len(text))
		whole, cut := inPieces(text), inPieces(text[:at], text[at:])
		if strings.Count(whole, `"`) != strings.Count(cut, `"`) {
			t.Errorf("%q cut at %d: %q, whole %q", text, at, cut, whole)
		}
	})
}
