package redact

import (
	"strings"
	"sync"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
)

// Names are those of header fields and parameters that carry credentials, as cards have said, by agent. A redactor
// learns them as cards pass; whoever reads a record hides with them what was sent before its agent's card came. All
// methods may be called concurrently.
type Names struct {
	mu     sync.RWMutex
	agents map[string]*learned
}

// learned is what a Describer said about the credentials of an agent. It is not changed.
type learned struct {
	headers map[string]bool // in lower case
	query   map[string]bool // normalised
}

// Bounds of what is learned, for agents that name a new header in each card.
const (
	maxLearnedAgents = 1000
	maxLearnedNames  = 100
)

// Learn keeps the names that a Describer gives for the agent of an exchange.
func (n *Names) Learn(x *capture.Exchange, d capture.Description) {
	if len(d.Headers) == 0 && len(d.Query) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	key := agentKey(x.Agent)
	was := n.agents[key]
	if was == nil && len(n.agents) >= maxLearnedAgents {
		return
	}
	if was == nil {
		was = &learned{}
	}
	now := &learned{headers: make(map[string]bool), query: make(map[string]bool)}
	for _, names := range [...]struct{ to, from map[string]bool }{{now.headers, was.headers}, {now.query, was.query}} {
		for name := range names.from {
			names.to[name] = true
		}
	}
	for _, name := range d.Headers {
		if len(now.headers) < maxLearnedNames {
			now.headers[strings.ToLower(name)] = true
		}
	}
	for _, name := range d.Query {
		if len(now.query) < maxLearnedNames {
			now.query[credential.Normal(name)] = true
		}
	}
	if n.agents == nil {
		n.agents = make(map[string]*learned)
	}
	n.agents[key] = now
}

// Empty reports whether no card has named anything.
func (n *Names) Empty() bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return len(n.agents) == 0
}

// of returns what is known of an agent; nil if nothing is.
func (n *Names) of(agent capture.Peer) *learned {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if len(n.agents) == 0 {
		return nil
	}
	return n.agents[agentKey(agent)]
}

func agentKey(agent capture.Peer) string {
	if agent.Name != "" {
		return agent.Name
	}
	return agent.URL
}

// RequestHead returns the head of a request to an agent without what its cards have named; the head itself if that has
// nothing of it. The key is that of the placeholders.
func (n *Names) RequestHead(key []byte, agent capture.Peer, head []byte) []byte {
	known := n.of(agent)
	if known == nil || len(head) == 0 {
		return head
	}
	m := mask{key: key, agent: known}
	if h := capture.ParseRequestHead(head); m.harmlessHead(head, &h) {
		return head
	}
	return m.head(head, requestHead)
}
