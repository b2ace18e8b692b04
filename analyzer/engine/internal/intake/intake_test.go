package intake

import (
	"bytes"
	"fmt"
	"testing"

	"a2atap/analyzer/engine/internal/dispatch"
	"a2atap/analyzer/engine/internal/tally"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// What the reader holds of bodies is bounded over all exchanges that are open, whatever they are decoded to, and given
// up when they end.
func TestHeldBodiesAreBounded(t *testing.T) {
	const exchanges, size = 20, 8 << 20
	counter := tally.New(nil)
	r := NewReader(counter, &Hooks{})
	r.Start(dispatch.New(nil, nil, nil, r, counter))
	arrival := uint64(0)
	step := func(seq uint64, what capture.What, parsed *capture.Parsed) {
		arrival++
		r.Step(capture.Step{Seq: seq, Arrival: arrival, What: what, Parsed: parsed})
	}
	body := bytes.Repeat([]byte(" "), size)
	text := append(bytes.Clone(body), "[1,2,3]"...)
	for seq := uint64(1); seq <= exchanges; seq++ {
		step(seq, capture.Opened{Head: []byte("POST / HTTP/1.1\r\nContent-Encoding: gzip\r\n\r\n")}, nil)
		step(seq, capture.RequestBody{Data: body}, nil)
		step(seq, capture.RequestEnd{Size: size}, &capture.Parsed{Text: text})
		if r.held > maxBodies {
			t.Fatalf("the reader holds %d bytes of %d exchanges, at most %d are allowed", r.held, seq, maxBodies)
		}
	}
	if last := r.open[exchanges]; !last.X.Cut || last.X.Body != nil {
		t.Error("an exchange for whose body there was no room does not count as cut")
	}
	if r.Lost() == 0 || counter.Counts.Lost != 0 {
		t.Error("bodies that were not judged do not count as gaps")
	}
	for seq := uint64(1); seq <= exchanges; seq++ {
		step(seq, capture.Closed{}, nil)
		r.Forget()
	}
	expect.Equal(t, "bytes that count as held when all exchanges are over", 0, r.held)
}

func TestUnreleased(t *testing.T) {
	tests := map[string]bool{
		"": false, "0.3": false, "1.0": false, "1.0.7": false, "1": false, "v1.0": false, "latest": false,
		"1.1": true, "2": true, "2.0": true, "v1.2": true, "99.0": true,
	}
	for version, want := range tests {
		expect.Equal(t, fmt.Sprintf("unreleased(%q)", version), want, unreleased(version))
	}
}

// A second head of an answer, which a record has only if it is wrong, leaves the first one as it is: its step may wait.
func TestSecondHead(t *testing.T) {
	in := &openExchange{}
	first := in.parsedHead([]byte("HTTP/1.1 200 OK\r\nX: 1\r\n\r\n"))
	second := in.parsedHead([]byte("HTTP/1.1 404 Not Found\r\n\r\n"))
	if first.Head.Status != 200 || first.Head.Fields.Get("X") != "1" || second.Head.Status != 404 {
		t.Errorf("got %+v and %+v, want the two heads", first.Head, second.Head)
	}
}

// The lists of a summary share no room: what is added to one is in no other, and in that of no other exchange.
func TestSummariesShareNoRoom(t *testing.T) {
	fill := func(word string) *gathering {
		g := &gathering{}
		for i := range 3 {
			text := word + string(rune('0'+i))
			g.add(&g.Tasks, text+"task")
			g.add(&g.Contexts, text+"context")
			g.add(&g.Messages, text+"message")
		}
		return g
	}
	a, b := fill("a"), fill("b")
	for g, word := range map[*gathering]string{a: "a", b: "b"} {
		for i := range 3 {
			text := word + string(rune('0'+i))
			if g.Tasks[i] != text+"task" || g.Contexts[i] != text+"context" || g.Messages[i] != text+"message" {
				t.Errorf("got %q, %q and %q", g.Tasks, g.Contexts, g.Messages)
			}
		}
	}
}
