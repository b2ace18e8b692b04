package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"a2atap/proxy/forward"
	"a2atap/proxy/hostname"
	"a2atap/proxy/injection"
	"a2atap/proxy/internal/card"
	"a2atap/proxy/listener"
	"a2atap/proxy/outbound"
	"a2atap/proxy/recording"
	"a2atap/proxy/webhook"
)

// New opens the listening addresses of all taps. Serve must be called next, or Close.
//
// The error names the tap that could not be opened, the cause, and what to do.
func New(opts Options) (*Proxy, error) {
	if opts.Recorder == nil {
		return nil, errors.New("open taps: there is no recorder")
	}
	setDefault(&opts.DialTimeout, 10*time.Second)
	setDefault(&opts.HeadTimeout, forward.DefaultHeadTimeout)
	setDefault(&opts.IdleTimeout, 10*time.Minute)
	setDefault(&opts.TunnelTimeout, DefaultTunnelTimeout)
	p := &Proxy{
		opts:        opts,
		callbacks:   make(chan func(), maxNotices+maxFurtherTaps),
		stopTimeout: defaultStopTimeout,
		aliases:     make(map[hostname.Origin]*Tap),
		noticed:     make(map[string]bool),
		failed:      make(map[hostname.Origin]error),
	}
	p.callers, p.handover = newCallers(p), newHandover()
	p.dialer = &outbound.Dialer{
		Roots: opts.RootCAs, Insecure: opts.Insecure, Certificate: opts.ClientCertificate, Proxy: opts.Upstream,
		Asked: p.certificateAsked, Unverified: p.unverified,
	}
	if opts.Webhooks != nil && (!opts.NoRewrite || opts.Webhooks.Leave != "") {
		var err error
		if p.hooks, err = webhook.New(webhook.Options{
			Spec: *opts.Webhooks, Dial: p.dialWebhook(), Tapped: p.isTapped, Agent: p.agentAt, Notice: p.notice,
		}); err != nil {
			return nil, err
		}
	}
	if err := p.open(); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func setDefault(d *time.Duration, to time.Duration) {
	if *d == 0 {
		*d = to
	}
}

// open opens the taps and checks that they do not conflict.
func (p *Proxy) open() error {
	for _, spec := range p.opts.Taps {
		if p.tap(spec.Name) != nil {
			return fmt.Errorf("open tap %s: there are two agents of that name; give each a separate NAME=", spec.Name)
		}
		t, err := p.listen(spec)
		if err != nil {
			return err
		}
		p.taps = append(p.taps, t)
	}
	for _, t := range p.taps {
		t.faults = injection.PlanFor(t.Name(), p.opts.Faults)
		if other := p.tapAt(t.agent); other != nil {
			return fmt.Errorf("open tap %s: its agent %s is the tap of %s itself, which would loop; "+
				"use the address at which the agent itself listens", t.Name(), t.spec.Agent, other.Name())
		}
	}
	for _, a := range p.opts.Aliases {
		t := p.tap(a.Name)
		if t == nil {
			return fmt.Errorf("alias %s=%s: unknown agent %q; use %s", a.Name, a.URL, a.Name, p.names())
		}
		p.aliases[hostname.OriginOf(a.URL)] = t
	}
	p.openTools()
	if p.opts.Forward == nil {
		return nil
	}
	var err error
	p.forward, err = p.openForward(*p.opts.Forward)
	return err
}

// openForward opens the forward proxy in addition to the taps.
func (p *Proxy) openForward(spec forward.Spec) (*forward.Proxy, error) {
	f, err := forward.Open(forward.Options{
		Spec: spec, Recorder: p.opts.Recorder,
		Connect: p.connect, Advise: p.advise, Tapped: p.isTapped, Agent: p.agentOrAliasAt,
		HandOver: p.handover.dial,
		OnDial:   p.opts.OnDial, Notice: p.notice, Upgraded: p.upgraded, InFlight: p.forwarded,
		FindCaller:  func(client net.Conn, c *recording.Conn) { p.callers.look(client, "", c) },
		AllowRemote: p.opts.AllowRemote, AllowHosts: p.opts.AllowHosts,
		HeadTimeout: p.opts.HeadTimeout, IdleTimeout: p.opts.IdleTimeout, TunnelTimeout: p.opts.TunnelTimeout,
		AnswerTimeout: p.opts.AnswerTimeout,
	})
	if err != nil {
		return nil, err
	}
	for _, t := range p.taps {
		if t.agent == f.Origin() {
			return nil, errors.Join(f.Close(), fmt.Errorf("open the forward proxy: it would listen where the "+
				"agent %s is, %s; choose another port with --forward", t.Name(), t.spec.Agent))
		}
	}
	return f, nil
}

// forwarded counts what is in flight through the forward proxy.
func (p *Proxy) forwarded(n int) {
	if p.opts.Hold != nil && n > 0 {
		p.opts.Hold.Pass("traffic through the forward proxy is not held")
	}
	p.inFlight.add(n)
}

// Serve accepts connections until ctx ends. Then it closes the listening addresses, gives the exchanges in flight
// Options.Grace to end, breaks off the rest, which is recorded, and returns in bounded time. It must be called only
// once.
func (p *Proxy) Serve(ctx context.Context) error {
	connections, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	p.mu.Lock()
	p.ctx = connections
	for _, t := range p.taps {
		p.serve(t)
	}
	if f := p.forward; f != nil {
		p.served.Go(func() { f.Serve(connections, &p.served) })
	}
	if l := p.tools; l != nil {
		p.served.Go(func() { l.Serve(connections, &p.served, p.serveTool) })
	}
	p.mu.Unlock()
	p.callers.prepare()
	callbacksDone := make(chan struct{})
	go func() {
		defer close(callbacksDone)
		for call := range p.callbacks {
			call()
		}
	}()
	<-ctx.Done()
	if p.opts.Hold != nil { // held messages are released while they can still pass
		p.opts.Hold.Close()
	}
	if p.tools != nil {
		p.tools.End()
	}
	p.Close()
	if p.opts.Grace > 0 {
		timer := time.NewTimer(p.opts.Grace)
		defer timer.Stop()
		select {
		case <-p.inFlight.drained():
		case <-timer.C:
		}
	}
	cut()
	// A stuck capture can delay connections only if requested (policy Wait), and not forever.
	stuck := time.AfterFunc(p.stopTimeout, p.opts.Recorder.StopWaiting)
	p.served.Wait()
	stuck.Stop()
	close(p.callbacks)
	<-callbacksDone
	return nil
}

// serve begins to accept connections of a tap. The caller holds p.mu.
func (p *Proxy) serve(t *Tap) {
	ctx := p.ctx
	p.served.Go(func() { t.listener.Accept(ctx, &p.served, p.notice, t.relay) })
}

// Close closes the listening addresses. Connections continue until the context of Serve ends.
func (p *Proxy) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	for _, t := range p.taps {
		t.listener.Close()
	}
	if p.forward != nil {
		p.forward.Close()
	}
	if p.tools != nil {
		p.tools.Close()
	}
}

// defaultStopTimeout is how long a capture under policy Wait may hold up connections when the proxy stops.
const defaultStopTimeout = 5 * time.Second

// listen opens a tap.
func (p *Proxy) listen(spec TapSpec) (*Tap, error) {
	// Accept the agent's own name. A hosts file or an option directs some clients here by that name, and the agent then
	// gets the Host that it would get without a tap.
	names := []string{spec.Agent.Hostname()}
	for _, a := range p.opts.Aliases {
		if a.Name == spec.Name {
			names = append(names, a.URL.Hostname())
		}
	}
	l, err := listener.Open(listener.Spec{
		Address: spec.Listen, What: "tap " + spec.Name, Itself: "this tap", Where: "after @ (without one, a free port is used)",
		Danger: "anyone who can reach it can reach the agent", AllowRemote: p.opts.AllowRemote, Names: names,
		AllowHosts: p.opts.AllowHosts,
	})
	if err != nil {
		return nil, err
	}
	t := &Tap{proxy: p, spec: spec, agent: hostname.OriginOf(spec.Agent), family: spec.Name, listener: l}
	t.cards = &card.Site{Name: spec.Name, Route: t.routeCard, State: t.cardState, Notice: t.noticeOfCard}
	if p.opts.NoRewrite {
		t.cards.Route, t.cards.Leaves = t.leaveCard, true
	}
	if p.hooks != nil {
		t.hooks = p.hooks.NewSite(spec.Name, spec.Agent, l.At(nil))
	}
	return t, nil
}
