package merge

import (
	"net/url"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
)

func (r *recorder) agent(p capture.Peer) *agent {
	key := agentKey{p.Name, p.URL}
	a := r.agents[key]
	if a == nil {
		a = &agent{agentKey: key, r: r, label: p.Name}
		r.agents[key] = a
	}
	return a
}

// innermost returns the agent as the recorder nearest to it sees it.
func (a *agent) innermost() *agent {
	for range 16 { // a chain of recorders; a circle is none
		if a.behind == nil || a.split {
			break
		}
		a = a.behind
	}
	return a
}

// place says where an agent lives, so that two recorders that say the same mean the same agent: a loopback address is
// another one on each host.
func (a *agent) place() string {
	u, err := url.Parse(a.url)
	if err != nil || u.Host == "" {
		return a.r.Host + " " + a.url
	}
	host := hostname.Normal(u.Hostname())
	if hostname.IsLoopback(host) {
		host = hostname.Normal(a.r.Host)
	}
	return hostname.Join(host, u.Port()) + " " + u.Path
}

// nameAlike names agents that their recorders call the same. Those of one host are one agent, as they are in its own
// capture, and so are those that live at the same place.
func nameAlike(list []*agent) {
	group := make([]int, len(list)) // the first agent that is the same
	several := false
	for i, a := range list {
		group[i] = i
		for j, b := range list[:i] {
			if a.r.Host == b.r.Host || a.place() == b.place() {
				group[i] = group[j]
				break
			}
		}
		several = several || group[i] != 0
	}
	for i, a := range list {
		a.label = a.name
		if first := list[group[i]]; several && a.name != "" {
			a.label = a.name + "@" + first.r.Host
		}
	}
}

// client returns a client as it is called in the merged capture: one that is known to be an agent has the agent's name.
func (r *recorder) client(p capture.Peer) capture.Peer {
	if p.Name == "" || !strings.Contains(p.How, "socket of") && p.How != "webhook" {
		return p
	}
	var found *agent
	for _, a := range r.agents {
		if a.name == p.Name && (found == nil || a.url < found.url) {
			found = a
		}
	}
	if found != nil {
		p.Name = found.innermost().label
	}
	return p
}
