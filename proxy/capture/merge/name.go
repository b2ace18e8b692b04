package merge

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
)

func (r *recorder) agent(p capture.Peer) *agent {
	key := agentKey{p.Name, p.URL}
	a := r.agents[key]
	if a == nil {
		a = &agent{agentKey: key, r: r, label: p.Name, port: loopbackPort(p.URL)}
		r.agents[key] = a
	}
	return a
}

// innermost returns the agent as the recorder nearest to it sees it.
func (a *agent) innermost() *agent {
	for range 16 { // a chain of recorders; the limit guards against a loop
		if a.behind == nil || a.split {
			break
		}
		a = a.behind
	}
	return a
}

// place returns an agent's location. Equal locations from two recorders mean the same agent; a loopback address differs
// between hosts.
func (a *agent) place() string {
	u, err := url.Parse(a.url)
	if err != nil || u.Host == "" {
		return a.r.Host + " " + a.url
	}
	host := hostname.Normal(u.Hostname())
	if hostname.IsLoopback(host) {
		host = cmp.Or(a.r.machine(), hostname.Normal(a.r.Host))
	}
	return hostname.Join(host, u.Port()) + " " + u.Path
}

// recorders are all whose recordings are merged.
type recorders []*recorder

// machine returns the machine on which a recording was made, or "" if unknown.
func (r *recorder) machine() string {
	if len(r.machines) == 1 {
		for id := range r.machines {
			return id
		}
	}
	return ""
}

// at returns the agent at one of the ports of a machine; nil if no agent or several fit.
func (all recorders) at(machine string, ports ...uint16) *agent {
	var found *agent
	for _, r := range all {
		if machine == "" || r.machine() != machine {
			continue
		}
		for _, a := range r.agents {
			if !a.called || a.port == 0 || !slices.Contains(ports, a.port) {
				continue
			}
			if found != nil && found.innermost().label != a.innermost().label {
				return nil
			}
			found = a
		}
	}
	return found
}

// nameReceivers finds the webhooks that are agents: those at an address where an agent of the same machine listens.
func (all recorders) nameReceivers() {
	for _, r := range all {
		for _, a := range r.agents {
			if !a.called && a.port != 0 && a.behind == nil {
				a.behind = all.at(r.machine(), a.port)
			}
		}
	}
}

// loopbackPort returns the port of a URL that has a loopback address; 0 of others.
func loopbackPort(text string) uint16 {
	u, err := url.Parse(text)
	if err != nil || !hostname.IsLoopback(hostname.Normal(u.Hostname())) {
		return 0
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	n, _ := strconv.ParseUint(port, 10, 16) // 0 if it is not a port number
	return uint16(n)
}

// nameAlike names agents that have the same name in their captures. Agents of one host with the same name are one
// agent, as are agents at the same address.
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

// client returns the name of an agent's client in the merged capture. If the client is known to be an agent, because
// its process listens where an agent of another recorder on the same machine is reached, it has the agent's name.
func (r *recorder) client(p capture.Peer, of *agent) capture.Peer {
	if home, ok := p.Home(); ok && p.Anonymous() {
		if a := r.all.at(home.Machine, home.Ports...); a != nil && a.innermost().label != of.innermost().label {
			p.Name, p.How = a.innermost().label, "socket of the agent's process"
		}
		return p
	}
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
