package recorder

import (
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/proxy/neighbor"
)

func TestHints(t *testing.T) {
	seen := func(client, how, agent, url string, kind neighbor.Kind) summary.Summary {
		s := summary.Summary{Link: analysis.Link{Client: client, Agent: agent}, How: how, AgentURL: url}
		if kind == neighbor.A2A {
			s.Operation, s.Call = a2a.SendMessage, true
		} else {
			s.Neighbor = &neighbor.Call{Kind: kind}
		}
		return s
	}
	user := seen("user", "default", "planner", "http://127.0.0.1:9001", neighbor.A2A)
	model := seen("python-httpx", "user-agent", "m.example:443", "https://m.example", neighbor.Model)
	tool := seen("planner", "proxy-user", "127.0.0.1:9002", "http://127.0.0.1:9002", neighbor.MCP)
	named := seen("planner", "proxy-user", "weather", "http://127.0.0.1:9002", neighbor.MCP)
	hotels := seen("planner", "socket of the agent's process", "hotels", "http://127.0.0.1:9003", neighbor.A2A)
	other := seen("x", "default", "x:1", "http://x:1", neighbor.Other)
	const (
		name    = "calls of m.example:443 are listed under its address; --name m.example:443=NAME names it"
		client  = "a client of the forward proxy is known only as python-httpx; start it with HTTPS_PROXY=http://planner@127.0.0.1:7080 "
		forward = "planner called other agents, but no call of a model or tool was seen; to record those, add --forward PORT and "
	)
	for what, c := range map[string]struct {
		tapped  string
		forward string
		given   bool
		seen    []summary.Summary
		want    []string // beginnings of the hints
	}{
		"a model without a name, of an unknown client": {"planner", "127.0.0.1:7080", false, []summary.Summary{user, model, model, tool}, []string{name, client}},
		"the model comes first":                        {"planner", "127.0.0.1:7080", false, []summary.Summary{model, user, user}, []string{name, client}},
		"names are given":                              {"planner", "127.0.0.1:7080", true, []summary.Summary{user, tool}, nil},
		"a server with a name":                         {"planner", "127.0.0.1:7080", false, []summary.Summary{user, named}, nil},
		"run sets the proxy":                           {"planner", "", false, []summary.Summary{user, model}, []string{name}},
		"no agent":                                     {"", "127.0.0.1:7080", false, []summary.Summary{model, tool, other}, nil},
		"only an agent":                                {"planner", "", false, []summary.Summary{user, other}, nil},
		"a planner without its models":                 {"planner hotels", "", false, []summary.Summary{user, hotels, hotels}, []string{forward}},
		"a planner with a tapped model":                {"planner hotels m.example:443", "", false, []summary.Summary{user, hotels, model}, nil},
	} {
		t.Run(what, func(t *testing.T) {
			var told []string
			h := hints{
				tell: func(text string) { told = append(told, text) }, forward: c.forward, given: c.given,
				tapped: func() []string { return strings.Fields(c.tapped) },
			}
			for i := range c.seen {
				h.saw(&c.seen[i])
			}
			h.end()
			for i := range told {
				if i < len(c.want) {
					told[i] = told[i][:min(len(c.want[i]), len(told[i]))]
				}
			}
			expect.Equal(t, "hints", strings.Join(c.want, "\n"), strings.Join(told, "\n"))
		})
	}
}
