package redact

import (
	"maps"
	"strings"
	"sync"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
)

// Names holds, by agent, the names of header fields and parameters that carry credentials according to the cards. A
// redactor learns the names as cards pass. Readers of a record use them to hide what was sent before its agent's card
// arrived. All methods may be called concurrently.
type Names struct {
	mu     sync.RWMutex
	agents map[string]*learned
	all    *learned // what holds for all agents; nil for nothing
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
		was = n.all
	}
	if n.agents == nil {
		n.agents = make(map[string]*learned)
	}
	n.agents[key] = was.and(d.Headers, d.Query)
}

// LearnForAll keeps names under which one of a2atap's own clients sends credentials, for all agents.
func (n *Names) LearnForAll(headers, query []string) {
	if len(headers) == 0 && len(query) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = n.all.and(headers, query)
	for key, was := range n.agents {
		n.agents[key] = was.and(headers, query)
	}
}

// and returns a copy of l with these names added.
func (l *learned) and(headers, query []string) *learned {
	now := &learned{headers: make(map[string]bool), query: make(map[string]bool)}
	if l != nil {
		maps.Copy(now.headers, l.headers)
		maps.Copy(now.query, l.query)
	}
	for _, name := range headers {
		if len(now.headers) < maxLearnedNames {
			now.headers[strings.ToLower(name)] = true
		}
	}
	for _, name := range query {
		if len(now.query) < maxLearnedNames {
			now.query[credential.Normal(name)] = true
		}
	}
	return now
}

// Empty reports whether nothing has been named.
func (n *Names) Empty() bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return len(n.agents) == 0 && n.all == nil
}

// of returns the known names of an agent; nil if none are known.
func (n *Names) of(agent capture.Peer) *learned {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if known := n.agents[agentKey(agent)]; known != nil {
		return known
	}
	return n.all
}

func agentKey(agent capture.Peer) string {
	if agent.Name != "" {
		return agent.Name
	}
	return agent.URL
}

// RequestHead returns the head of a request to an agent, with the secrets hidden that its cards have named. It returns
// head itself if nothing has to be hidden. key is the key of the placeholders.
func (n *Names) RequestHead(key []byte, agent capture.Peer, head []byte) []byte {
	known := n.of(agent)
	if known == nil || len(head) == 0 {
		return head
	}
	m := mask{key: key, agent: known}
	h := capture.ParseRequestHead(head)
	if now, _, ok := m.plainHead(head, &h, requestHead); ok {
		return now
	}
	return m.head(head, requestHead)
}
