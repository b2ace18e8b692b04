package recorder

import (
	"fmt"
	"net/url"
	"slices"

	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/proxy/neighbor"
)

// hints are suggestions for recording a workflow of agents, models and tools better. Each kind is printed once.
type hints struct {
	tell    func(string)
	tapped  func() []string // names of the tapped agents
	forward string          // host:port of the forward proxy, for clients whose environment the user sets; empty without one
	given   bool            // the user has named servers behind the forward proxy

	agents    bool   // an A2A call was seen
	planner   string // a tapped agent that called another one; empty before
	neighbors bool   // a call of a model or a tool was seen
	unnamed   string // HOST:PORT of a model or a tool without a name
	unknown   string // a client of the forward proxy that no one has named
	told      struct{ unnamed, unknown bool }
}

// saw handles an exchange that has ended, and prints any hint that it gives.
func (h *hints) saw(s *summary.Summary) {
	tapped := h.tapped()
	through := !slices.Contains(tapped, s.Link.Agent) // the forward proxy
	switch kind := s.Kind(); {
	case kind == neighbor.A2A && s.Call:
		h.agents = true
		if slices.Contains(tapped, s.Link.Client) {
			h.planner = s.Link.Client
		}
	case kind == neighbor.Model || kind == neighbor.MCP:
		h.neighbors = true
		if u, err := url.Parse(s.AgentURL); through && !s.Neighbor.Handshake() && err == nil && s.Link.Agent == hostname.HostPort(u) {
			h.unnamed = s.Link.Agent
		}
		if through && (&capture.Peer{How: s.How}).Anonymous() && s.AgentURL != "" && len(tapped) > 0 {
			h.unknown = s.Link.Client
		}
	}
	if !h.agents {
		return
	}
	if h.unnamed != "" && !h.given && !h.told.unnamed {
		h.told.unnamed = true
		h.tell(fmt.Sprintf("calls of %s are listed under its address; --name %[1]s=NAME names it", h.unnamed))
	}
	if h.unknown != "" && h.forward != "" && !h.told.unknown {
		h.told.unknown = true
		h.tell(fmt.Sprintf("a client of the forward proxy is known only as %s; start it with HTTPS_PROXY=http://%s@%s and the same "+
			"HTTP_PROXY, so that its calls are placed below the request that caused them", h.unknown, nameOr(tapped), h.forward))
	}
}

// end prints hints about traffic that was missing in the whole recording.
func (h *hints) end() {
	if h.planner != "" && !h.neighbors && h.forward == "" {
		h.tell(fmt.Sprintf("%s called other agents, but no call of a model or tool was seen; to record those, add --forward PORT "+
			"and start it with HTTPS_PROXY=http://%[1]s@127.0.0.1:PORT, or add --agent llm=URL and set its base URL to that tap", h.planner))
	}
}

// nameOr returns the only name in a list, or a placeholder.
func nameOr(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return "NAME"
}
