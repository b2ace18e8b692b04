package analyzer

import (
	"bytes"
	"testing"

	"a2atap/proxy/capture"
)

// What the engine holds of bodies is bounded over all exchanges that are open, whatever they are decoded to, and given
// up when they end.
func TestHeldBodiesAreBounded(t *testing.T) {
	const exchanges, size = 20, 8 << 20
	e := NewEngine(nil)
	arrival := uint64(0)
	step := func(seq uint64, what capture.What, parsed *capture.Parsed) {
		arrival++
		e.Step(capture.Step{Seq: seq, Arrival: arrival, What: what, Parsed: parsed})
	}
	body := bytes.Repeat([]byte(" "), size)
	text := append(bytes.Clone(body), "[1,2,3]"...)
	for seq := uint64(1); seq <= exchanges; seq++ {
		step(seq, capture.Opened{Head: []byte("POST / HTTP/1.1\r\nContent-Encoding: gzip\r\n\r\n")}, nil)
		step(seq, capture.RequestBody{Data: body}, nil)
		step(seq, capture.RequestEnd{Size: size}, &capture.Parsed{Text: text})
		if e.held > maxBodies {
			t.Fatalf("the engine holds %d bytes of %d exchanges, at most %d are allowed", e.held, seq, maxBodies)
		}
	}
	if last := e.open[exchanges]; !last.x.Cut || last.x.Body != nil {
		t.Error("an exchange for whose body there was no room does not count as cut")
	}
	if n := e.Counts().Lost; n == 0 {
		t.Error("bodies that were not judged do not count as lost")
	}
	for seq := uint64(1); seq <= exchanges; seq++ {
		step(seq, capture.Closed{}, nil)
	}
	if e.held != 0 {
		t.Errorf("when all exchanges are over, %d bytes count as held", e.held)
	}
}
