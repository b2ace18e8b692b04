package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/proxy/outbound"
	"a2atap/replay/client"
	"a2atap/replay/compare"
	"a2atap/replay/live"
)

// ErrSeveralAgents is wrapped by the error of Run for a capture with requests to an agent without a URL.
var ErrSeveralAgents = errors.New("the capture has several agents")

// aim creates the targets of the plan: those of Options.Agents by name, and the other agent at the URL.
func (p *player) aim(to string) error {
	agents := p.plan.agents()
	var others []string
	for _, name := range agents {
		if p.opts.Agents[name] == "" {
			others = append(others, name)
		}
	}
	for name := range p.opts.Agents {
		if len(agents) > 0 && !slices.Contains(agents, name) {
			return fmt.Errorf("the capture has no requests to an agent %q, only to %s", name, strings.Join(agents, ", "))
		}
	}
	switch {
	case len(others) > 1, len(others) == 1 && to == "":
		return fmt.Errorf("%w, and there is no URL for %s", ErrSeveralAgents, strings.Join(others, ", "))
	case len(others) == 0 && len(p.opts.Agents) == 0:
		others = []string{""} // nothing will be sent
	}
	for _, name := range append(slices.Clone(agents), others...) {
		if p.targets[name] != nil {
			continue
		}
		at := p.opts.Agents[name]
		if at == "" {
			at = to
		}
		t, err := p.newTarget(name, at)
		if err != nil {
			return err
		}
		p.targets[name] = t
		p.order = append(p.order, t)
	}
	for _, t := range p.order {
		for _, other := range p.order {
			if other != t {
				t.values.Share(other.values)
			}
		}
	}
	return nil
}

func (p *player) newTarget(name, to string) (*target, error) {
	e, err := newEndpoints(to)
	if err != nil {
		return nil, err
	}
	e.stay = p.opts.Stay
	t := &target{url: to, endpoints: e, agent: capture.Peer{Name: e.live.Host, URL: to, Addr: e.live.Host}}
	if name != "" {
		t.agent.Name = name
	}
	t.authorize = p.opts.Authorize
	if own, ok := p.opts.AuthorizeAgent[name]; ok {
		t.authorize = own
	}
	if t.authorize != nil {
		e.private = &client.Options{CredentialsTo: p.opts.CredentialsTo}
	}
	t.values, err = compare.NewValues()
	return t, err
}

// reach checks that the agents accept connections, and waits for them up to Options.Wait.
func (p *player) reach(ctx context.Context) error {
	deadline := time.Now().Add(p.opts.Wait)
	for _, t := range p.order {
		if err := p.reachOne(ctx, t, deadline); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) reachOne(ctx context.Context, t *target, deadline time.Time) error {
	at := address{scheme: t.endpoints.live.Scheme, host: hostname.HostPort(t.endpoints.live)}
	for {
		conn, err := live.Dial(ctx, p.opts.Dialer, at.host, at.scheme == "https", p.opts.Timeout)
		if err == nil {
			return conn.Close()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !time.Now().Before(deadline) || !live.Sleep(ctx, 20*time.Millisecond) {
			return fmt.Errorf("reach the agent at %s: %w; start it, or wait for it to listen", t.url, outbound.Cause(err))
		}
	}
}

// destination returns where the requests went, for the report.
func (p *player) destination() string {
	if len(p.order) == 1 {
		return p.order[0].url
	}
	var list []string
	for _, t := range p.order {
		list = append(list, t.agent.Name+"="+t.url)
	}
	return strings.Join(list, ", ")
}
