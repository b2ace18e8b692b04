package analyzer_test

import (
	"testing"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// stub returns a valid rule that wants the kinds of observations and runs the check on them, in every dialect and binding.
func stub(id string, on analyzer.Kinds, check func(p *analyzer.Pass)) *analyzer.Rule {
	r := &analyzer.Rule{
		ID: id, Title: "t", Family: "f", Category: analyzer.Lifecycle, Level: analyzer.Must, Side: a2a.Agent, On: on,
		Bindings: analyzer.OnHTTP | analyzer.OnJSONRPC | analyzer.OnHTTPJSON, Doc: "d", Fix: "f", Silent: "s", Check: check,
	}
	for _, d := range []a2a.Dialect{a2a.V0_1, a2a.V0_2, a2a.V0_3, a2a.V1_0} {
		r.Cites = append(r.Cites, a2a.Cite{In: d, Section: "1"})
	}
	return r
}

// at returns a check that reports at the place that it makes of the observation's.
func at(place func(analyzer.Place) analyzer.Place) func(p *analyzer.Pass) {
	return func(p *analyzer.Pass) { p.Report(place(p.Place), "seen", "expected") }
}

func here(p analyzer.Place) analyzer.Place { return p }

// A conversation makes the steps of exchanges, one after another.
type conversation struct {
	t     *testing.T
	steps []capture.Step
	seq   uint64
}

const (
	rpcHead  = "POST /rpc HTTP/1.1\r\nHost: booker:9001\r\nContent-Type: application/json\r\n\r\n"
	jsonHead = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
	sseHead  = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	send     = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}}`
	working  = `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}}`
)

func (c *conversation) add(what ...capture.What) {
	for _, w := range what {
		c.steps = append(c.steps, capture.Step{Arrival: uint64(len(c.steps) + 1), Seq: c.seq, Offset: capture.NotKnown, What: w})
	}
}

// open begins the next exchange.
func (c *conversation) open(client, head string) {
	c.seq++
	c.add(capture.Opened{Client: capture.Peer{Name: client}, Agent: capture.Peer{Name: "booker", URL: "http://booker:9001"}, Head: []byte(head)})
}

func (c *conversation) ask(body string) {
	c.add(capture.RequestBody{Data: []byte(body)}, capture.RequestEnd{Size: int64(len(body))})
}

func (c *conversation) answer(body string) {
	c.add(capture.ResponseHead{Head: []byte(jsonHead)}, capture.ResponseBody{Data: []byte(body)}, capture.ResponseEnd{Size: int64(len(body))}, capture.Closed{})
}

func (c *conversation) event(k int, data string) {
	c.add(capture.ResponseEvent{Event: capture.Event{K: k, Raw: []byte("data: " + data + "\n\n")}})
}

// exchange adds a whole call of client.
func (c *conversation) exchange(client, request, answer string) {
	c.open(client, rpcHead)
	c.ask(request)
	c.answer(answer)
}

// judge returns the engine after all steps and the end, and every finding.
func (c *conversation) judge(rules ...*analyzer.Rule) (*analyzer.Engine, []analyzer.Finding) {
	c.t.Helper()
	if err := analyzer.Validate(rules); err != nil {
		c.t.Fatal(err)
	}
	e := analyzer.NewEngine(rules)
	var all []analyzer.Finding
	for _, s := range c.steps {
		all = append(all, e.Step(s)...)
	}
	return e, append(all, e.End(false)...)
}

func texts(findings []analyzer.Finding) []string {
	list := []string{}
	for i := range findings {
		list = append(list, findings[i].String())
	}
	return list
}
