package intake_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

const foundCard = `{"name":"Booker","version":"1","protocolVersion":"0.3.0","url":"http://booker:9001/rpc",` +
	`"capabilities":{},"skills":[],"defaultInputModes":[],"defaultOutputModes":[],"description":"d"}`

// A card is known by its content to the engine, to a reading by itself, and to the index, in pieces or whole; and what
// was held for it is let go.
func TestCardFoundByContent(t *testing.T) {
	large := foundCard[:len(foundCard)-1] + `,"x":"` + strings.Repeat("x", 1<<20) + `"}`
	tests := []struct {
		name, ask, head, body string
		want                  bool
	}{
		{"card", "GET /", enginetest.JSONHead, foundCard, true},
		{"with a query", "GET /cards?x=1", enginetest.JSONHead, foundCard, true},
		{"of another", "GET /cards/2", enginetest.JSONHead, strings.Replace(foundCard, "booker:9001", "other:1", 1), false},
		{"a list", "GET /", enginetest.JSONHead, "[" + foundCard + "]", false},
		{"an error", "GET /", "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\n\r\n", foundCard, false},
		{"no JSON", "GET /", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", foundCard, false},
		{"another method", "PUT /", enginetest.JSONHead, foundCard, false},
		{"large", "GET /", enginetest.JSONHead, large, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := &enginetest.Conversation{T: t}
			c.Open("planner", test.ask+" HTTP/1.1\r\nHost: booker:9001\r\n\r\n")
			c.Add(capture.RequestEnd{}, capture.ResponseHead{Head: []byte(test.head)},
				capture.ResponseBody{Data: []byte(test.body[:20])}, capture.ResponseBody{Data: []byte(test.body[20:])},
				capture.ResponseEnd{Size: int64(len(test.body))}, capture.Closed{})
			seen := 0
			var ended []string
			e := engine.New([]*analysis.Rule{
				enginetest.Rule("r", analysis.CardSeen, func(p *analysis.Pass) {
					seen++
					if p.Card.Name() != "Booker" || p.Exchange.Call.Operation != a2a.GetCard {
						t.Errorf("observed %+v", p.Exchange.Call)
					}
				}),
			}, engine.OnEnded(func(x summary.Summary) { ended = append(ended, fmt.Sprint(x.Asked, " ", x.Status)) }))
			for _, s := range c.Steps {
				e.Step(s)
			}
			e.End(false)
			if seen > 0 != test.want || len(ended) != 1 || strings.HasPrefix(ended[0], "GetAgentCard 200") != test.want {
				t.Errorf("%d cards were observed, and %q printed, want a card: %v", seen, ended, test.want)
			}
			var x *capture.Exchange
			for _, s := range c.Steps {
				x = capture.Assemble(x, s)
			}
			if r := reading.Read(x); (r.Card != nil) != test.want || (r.Call.Operation == a2a.GetCard) != test.want {
				t.Errorf("read as %v", r.Call.Operation)
			}
			d := reading.NewDescriber()
			d.Request(x, nil)
			key := capture.Key{Kind: "operation", Value: a2a.GetCard.String()}
			expect.Equal(t, "it can be found as a card", test.want, slices.Contains(d.Response(x, nil).Keys, key))
		})
	}
}
