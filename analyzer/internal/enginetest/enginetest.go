// Package enginetest makes the steps of exchanges, and rules that check them, for tests of the engine and of trackers.
package enginetest

import (
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Rule returns a valid rule that wants the kinds of observations and runs the check on them, in every dialect and
// binding.
func Rule(id string, on analysis.Kinds, check func(p *analysis.Pass)) *analysis.Rule {
	r := &analysis.Rule{
		ID: id, Title: "t", Family: "f", Category: analysis.Lifecycle, Level: analysis.Must, Side: a2a.Agent, On: on,
		Bindings: analysis.OnHTTP | analysis.OnJSONRPC | analysis.OnHTTPJSON,
		Doc:      "d", Fix: "f", Silent: "s", Check: check,
	}
	for _, d := range []a2a.Dialect{a2a.V0_1, a2a.V0_2, a2a.V0_3, a2a.V1_0} {
		r.Cites = append(r.Cites, a2a.Cite{In: d, Section: "1"})
	}
	return r
}

// At returns a check that reports at the place that it makes of the observation's.
func At(place func(analysis.Place) analysis.Place) func(p *analysis.Pass) {
	return func(p *analysis.Pass) { p.Report(place(p.Place), "seen", "expected") }
}

// Here returns the place itself.
func Here(p analysis.Place) analysis.Place { return p }

// A Conversation makes the steps of exchanges, one after another.
type Conversation struct {
	T     *testing.T
	Steps []capture.Step
	seq   uint64 // of the exchange that was begun last
}

// Heads and bodies of a call that makes a task.
const (
	RPCHead  = "POST /rpc HTTP/1.1\r\nHost: booker:9001\r\nContent-Type: application/json\r\n\r\n"
	JSONHead = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
	SSEHead  = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	Send     = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":` +
		`{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}}`
	Working = `{"jsonrpc":"2.0","id":1,"result":{"task":` +
		`{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}}`
)

// Add adds steps of the exchange that was begun last.
func (c *Conversation) Add(what ...capture.What) {
	for _, w := range what {
		arrival := uint64(len(c.Steps) + 1)
		c.Steps = append(c.Steps, capture.Step{Arrival: arrival, Seq: c.seq, Offset: capture.NotKnown, What: w})
	}
}

// Open begins the next exchange.
func (c *Conversation) Open(client, head string) {
	c.seq++
	agent := capture.Peer{Name: "booker", URL: "http://booker:9001"}
	c.Add(capture.Opened{Client: capture.Peer{Name: client}, Agent: agent, Head: []byte(head)})
}

// Ask adds the body of a request, and its end.
func (c *Conversation) Ask(body string) {
	c.Add(capture.RequestBody{Data: []byte(body)}, capture.RequestEnd{Size: int64(len(body))})
}

// Answer adds a complete answer, and ends the exchange.
func (c *Conversation) Answer(body string) {
	c.Add(capture.ResponseHead{Head: []byte(JSONHead)}, capture.ResponseBody{Data: []byte(body)})
	c.Add(capture.ResponseEnd{Size: int64(len(body))}, capture.Closed{})
}

// Stream begins a call of client that is answered by a stream.
func (c *Conversation) Stream(client string) {
	c.Open(client, RPCHead)
	c.Ask(Send)
	c.Add(capture.ResponseHead{Head: []byte(SSEHead), Stream: true})
}

// Event adds event k of a stream.
func (c *Conversation) Event(k int, data string) {
	c.Add(capture.ResponseEvent{Event: capture.Event{K: k, Raw: []byte("data: " + data + "\n\n")}})
}

// Exchange adds a complete call of client.
func (c *Conversation) Exchange(client, request, answer string) {
	c.Open(client, RPCHead)
	c.Ask(request)
	c.Answer(answer)
}

// Judge returns the engine after all steps and the end, and every finding.
func (c *Conversation) Judge(rules ...*analysis.Rule) (*engine.Engine, []analysis.Finding) {
	c.T.Helper()
	if err := analysis.Validate(rules); err != nil {
		c.T.Fatal(err)
	}
	e := engine.New(rules)
	var all []analysis.Finding
	for _, s := range c.Steps {
		all = append(all, e.Step(s)...)
	}
	return e, append(all, e.End(false)...)
}

// Texts returns findings as lines.
func Texts(findings []analysis.Finding) []string {
	list := []string{}
	for i := range findings {
		list = append(list, findings[i].String())
	}
	return list
}
