package intake_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/neighbor"
)

// Calls of models are summed up, judged by no rule, and neither count as lost nor make anything incomplete, also if they
// were not recorded whole.
func TestNeighbors(t *testing.T) {
	var ended []summary.Summary
	rule := &analysis.Rule{
		ID: "any", On: analysis.RequestSeen | analysis.AnswerSeen | analysis.EventSeen | analysis.OutcomeSeen,
		Check: func(p *analysis.Pass) { t.Errorf("exchange %d is judged", p.Exchange.Seq) },
	}
	e := engine.New([]*analysis.Rule{rule}, engine.OnEnded(func(s summary.Summary) { ended = append(ended, s) }))
	step := func(n uint64, list ...capture.What) {
		for _, what := range list {
			e.Step(capture.Step{Seq: n, Offset: capture.NotKnown, What: what})
		}
	}
	for n := range uint64(3) {
		body := []byte(`{"model":"m","messages":[{"role":"user"}]}`)
		asked := []capture.What{capture.RequestBody{Data: body}, capture.RequestEnd{Size: int64(len(body))}}
		if n == 1 { // its request's body was not recorded
			asked = []capture.What{capture.RequestBody{Dropped: 9}, capture.RequestEnd{Size: 9}}
		}
		step(n+1, capture.Opened{
			ID: uuid.New(), Head: []byte("POST /v1/chat/completions HTTP/1.1\r\nHost: llm\r\nContent-Type: application/json\r\n\r\n"),
			Agent: capture.Peer{Name: "llm", URL: "http://llm"},
		})
		step(n+1, asked...)
		step(n+1, capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")})
		if n == 2 { // its answer is longer than what is gathered
			for range 6 {
				step(n+1, capture.ResponseBody{Data: make([]byte, 1<<20)})
			}
		} else {
			step(n+1, capture.ResponseBody{Data: []byte(`{"usage":{"prompt_tokens":3},"choices":[{"finish_reason":"stop"}]}`)})
		}
		step(n+1, capture.ResponseEnd{Size: capture.NotKnown}, capture.Closed{})
	}
	e.End(false)
	for i, want := range []string{"chat m stop, 3→0 tokens", "chat stop, 3→0 tokens", "chat m "} {
		s := &ended[i]
		expect.Equal(t, fmt.Sprintf("exchange %d", s.Seq), want, s.Asked+" "+s.OutcomeText())
		expect.Equal(t, "kind", neighbor.Model, s.Kind())
		expect.Equal(t, "missing", "", s.Missing)
	}
	expect.Equal(t, "lost", int64(0), e.Counts().Lost)
	expect.Equal(t, "judged", 0, e.Counts().Judged)
}
