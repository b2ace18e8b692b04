package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/proxy/internal/card"
)

// maxFurtherTaps is how many taps may open by themselves: a card can name any number of ports.
const maxFurtherTaps = 32

// route finds the tap for an address in an agent's card. It opens another tap if the address is on the agent's host.
// text is a notice for the user if no tap serves the address. Both results are zero if no notice is needed: for an
// address that already is a tap, or one without a host, which reaches the tap anyway.
func (p *Proxy) route(from *Tap, address card.URL) (to *Tap, text string) {
	foreign := from.notTapped(address)
	if address.IsPath() {
		return nil, ""
	}
	u, ok := address.Agent()
	if !ok {
		return nil, foreign
	}
	at := hostname.OriginOf(u)
	p.mu.Lock()
	defer p.mu.Unlock()
	to = p.known(from, at)
	// For an address without a scheme, the client chooses whether to use TLS, and clients of an agent on TLS do.
	if u.Scheme == "" && cmp.Or(to, from).spec.Agent.Scheme == "https" {
		if to != nil {
			foreign += " (the tap there does not use TLS, and clients may do so without a scheme)"
		}
		return nil, foreign
	}
	if to != nil {
		return to, ""
	}
	if p.tapAt(at) != nil {
		return nil, ""
	}
	if at.Host != from.agent.Host {
		return nil, foreign
	}
	u.Scheme = cmp.Or(u.Scheme, from.spec.Agent.Scheme)
	to, err := p.openFurther(from, u, at)
	if err != nil {
		return nil, fmt.Sprintf("%s (%v)", foreign, err)
	}
	return to, ""
}

// known returns the tap in front of the agent at an origin, as seen from the card of an agent. The caller holds p.mu.
func (p *Proxy) known(from *Tap, at hostname.Origin) *Tap {
	if t := p.aliases[at]; t != nil {
		return t
	}
	// A loopback spelling with the agent's port means the agent, wherever it runs: servers that do not know their
	// public name write it.
	if at == from.agent || at.Host == hostname.Loopback && at.Port == from.agent.Port {
		return from
	}
	for _, t := range p.taps {
		if t.agent == at {
			return t
		}
	}
	return nil
}

// tapAt returns the tap that listens at an origin.
func (p *Proxy) tapAt(at hostname.Origin) *Tap {
	for _, t := range p.taps {
		if t.listener.Origin() == at {
			return t
		}
	}
	return nil
}

// openFurther opens a tap in front of another port of an agent's host, on a free port at the first tap's address. The
// caller holds p.mu.
func (p *Proxy) openFurther(from *Tap, u *url.URL, at hostname.Origin) (*Tap, error) {
	if err := p.failed[at]; err != nil {
		return nil, err
	}
	further := 0
	for _, t := range p.taps {
		if t.further {
			further++
		}
	}
	if further == maxFurtherTaps {
		return nil, fmt.Errorf("%d additional taps are already open; name the agent with --agent", further)
	}
	if p.stopped || p.ctx == nil {
		return nil, errors.New("the recording has ended")
	}
	t, err := p.listen(TapSpec{
		Name:   from.furtherName(u, at),
		Agent:  &url.URL{Scheme: u.Scheme, Host: u.Host},
		Listen: net.JoinHostPort(from.listener.IP().String(), "0"),
	})
	if err != nil {
		if len(p.failed) < maxNotices {
			p.failed[at] = err
		}
		return nil, err
	}
	t.further, t.family, t.faults = true, from.family, from.faults
	p.taps = append(p.taps, t)
	p.serve(t)
	p.callback(func() {
		if p.opts.OnTap != nil {
			p.opts.OnTap(t)
		}
	})
	return t, nil
}

// furtherName names a further tap NAME:PORT, or HOST:PORT where the agent is named after its host and port.
func (t *Tap) furtherName(u *url.URL, at hostname.Origin) string {
	if strings.Contains(t.family, ":") {
		return hostname.HostPort(u)
	}
	return t.family + ":" + at.Port
}

// routeCard is card.Site.Route.
func (t *Tap) routeCard(address card.URL, used string, local net.Addr) (authority, notice string) {
	to, notice := t.proxy.route(t, address)
	switch to {
	case nil:
		return "", notice
	case t:
		return t.listener.Authority(used, local), notice
	}
	return to.listener.At(local), notice
}

// leaveCard is card.Site.Route if cards pass unchanged: it reports gRPC addresses, where clients bypass the tap. For
// the other bindings, the user who wants unchanged cards has directed the client to the tap.
func (t *Tap) leaveCard(address card.URL, _ string, _ net.Addr) (authority, notice string) {
	if !address.IsGRPC() {
		return "", ""
	}
	if u, ok := address.Agent(); ok && t.proxy.isTapped(hostname.OriginOf(u)) {
		return "", ""
	}
	return "", t.notTapped(address)
}

// notTapped returns the note that an address in the agent's card bypasses the taps.
func (t *Tap) notTapped(address card.URL) string {
	return t.family + " advertises " + address.String() + capture.NotTapped
}

// noticeOfCard is card.Site.Notice. It adds the flag that would tap the address.
func (t *Tap) noticeOfCard(text string) {
	before, _, found := strings.Cut(text, capture.NotTapped)
	_, address, named := strings.Cut(before, " advertises ")
	if found && named && !t.proxy.opts.NoRewrite {
		text += aliasAdvice(t.family, address)
	}
	t.proxy.notice(text)
}

// aliasAdvice returns the flags that lead an address through a tap; nothing if no flag does.
func aliasAdvice(agent, address string) string {
	plain, isGRPC := strings.CutSuffix(address, " (gRPC)")
	if isGRPC && !strings.Contains(plain, "://") {
		if _, _, err := net.SplitHostPort(plain); err != nil {
			return "" // --alias and gRPC have other default ports
		}
		plain = "http://" + plain
	}
	alias := agent + "=" + plain
	if _, err := ParseAlias(alias); err != nil {
		return ""
	}
	return fmt.Sprintf("; if it also leads to %s, add --alias %s; if it is another agent, add --agent NAME=%s", agent, alias,
		plain)
}

// cardState is card.Site.State: what route depends on.
func (t *Tap) cardState(used string, local net.Addr) []string {
	p := t.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	parts := []string{t.listener.Authority(used, local)}
	for _, other := range p.taps {
		parts = append(parts, other.Name()+" "+other.agent.Host+" "+other.agent.Port+" "+other.listener.At(local))
	}
	for _, at := range slices.SortedFunc(maps.Keys(p.aliases), compareOrigins) {
		parts = append(parts, at.Host+" "+at.Port+" "+p.aliases[at].Name())
	}
	return parts
}

// isTapped reports whether a tap listens at an origin.
func (p *Proxy) isTapped(at hostname.Origin) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tapAt(at) != nil
}

// agentOrAliasAt is agentAt for an origin that may also be an alias of an agent.
func (p *Proxy) agentOrAliasAt(at hostname.Origin) (capture.Peer, bool) {
	p.mu.Lock()
	t := p.aliases[at]
	p.mu.Unlock()
	if t != nil {
		return t.peer(), true
	}
	return p.agentAt(at)
}

// agentAt returns the agent at an origin under its recorded name, if a tap is in front of it.
func (p *Proxy) agentAt(at hostname.Origin) (capture.Peer, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.taps {
		if t.agent == at {
			return t.peer(), true
		}
	}
	return capture.Peer{}, false
}

func compareOrigins(a, b hostname.Origin) int {
	return strings.Compare(a.Host+" "+a.Port, b.Host+" "+b.Port)
}
