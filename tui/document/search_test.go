package document

import (
	"encoding/json"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/proxy/jsondoc"
	"a2atap/tui/internal/find"
	"a2atap/tui/load"
)

// However a text is laid out and folded, its matches have the same numbers, and each is lit or inside what is folded.
func FuzzMatches(f *testing.F) {
	f.Add(`{"a":["kyoto",{"b":"k\u0079oto kyoto"}],"kyoto":1}`, "kyoto", uint8(20), false)
	f.Add(`[[[1]],{"":{"x":[]}}] kyoto {`, "/[k1x]/", uint8(9), true)
	f.Add("plain kyoto\ntext\x1b\xff", "o", uint8(0), true)
	f.Add(`{"a":{"b":{}},`, `"`, uint8(255), true)
	f.Fuzz(func(t *testing.T, body, words string, width uint8, all bool) {
		p, err := find.Parse(words)
		if err != nil || jsondoc.Looks([]byte(body)) && !json.Valid([]byte(body)) { // of JSON that breaks off, some count twice
			return
		}
		x := &capture.Exchange{Seq: 1, Request: capture.Request{
			Head: []byte("POST /kyoto HTTP/1.1\r\n\r\n"), Body: capture.Body{Data: []byte(body), Complete: true},
		}}
		s := Source{Excerpt: load.Excerpt{Exchange: x}, Width: max(int(width), 8), Limit: MaxShown, Pattern: p}
		w := s.counter()
		w.request()
		for _, flip := range []analysis.Place{{}, analysis.Place{Exchange: 1}.Body().At("/a")} {
			s.Folds = Folding{All: all, flip: map[analysis.Place]bool{flip: true}}
			lines := writer{Source: s}
			lines.request()
			checkMatches(t, lines.part(), w.matched)
		}
	})
}

func checkMatches(t *testing.T, lines []Line, want int) {
	t.Helper()
	next := 0
	for i := range lines {
		l := &lines[i]
		for _, m := range l.highlights {
			if m.from < 0 || m.from >= m.to || m.to > len(l.String()) || m.begins && m.n != next {
				t.Fatalf("line %d, %q, has a match at %+v after %d", i, l, m, next)
			}
			if m.begins {
				next++
			}
		}
		if l.Node != NodeFolded && l.Upto != next || l.Upto < next {
			t.Fatalf("line %d, %q, counts %d matches, and %d are lit", i, l, l.Upto, next)
		}
		next = l.Upto
		if got := l.Highlighted(0).String(); got != l.String() {
			t.Fatalf("lit, %q is %q", l, got)
		}
	}
	if next != want {
		t.Fatalf("%d matches are lit or folded, and %d counted", next, want)
	}
}
