package proxy

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/proxy/capture/credential"
	"a2atap/proxy/forward"
	"a2atap/proxy/hostname"
	"a2atap/proxy/injection"
	"a2atap/proxy/internal/card"
	"a2atap/proxy/listener"
	"a2atap/proxy/outbound"
	"a2atap/proxy/stdio"
	"a2atap/proxy/webhook"
)

// A Proxy holds the taps of one recording.
type Proxy struct {
	opts        Options
	dialer      *outbound.Dialer // to agents
	hooks       *webhook.Hooks   // nil if webhooks bypass the taps
	inFlight    inFlight
	served      sync.WaitGroup
	callbacks   chan func()   // calls of OnTap and OnNotice
	stopTimeout time.Duration // with a capture that holds up the end of Serve
	callers     *callers
	handover    *handover
	tools       *stdio.Listener // nil if tools cannot join

	mu      sync.Mutex
	taps    []*Tap
	forward *forward.Proxy // nil without a forward proxy; set by New
	aliases map[hostname.Origin]*Tap
	noticed map[string]bool           // notices
	ctx     context.Context           // of the connections, nil before Serve
	stopped bool                      // no tap is opened any more
	failed  map[hostname.Origin]error // further taps that could not be opened
}

// maxNotices bounds the messages to the user, so that an agent that changes its card each time cannot flood the screen.
const maxNotices = 1000

// Forward returns the forward proxy, nil if the proxy has none.
func (p *Proxy) Forward() *forward.Proxy { return p.forward }

func (p *Proxy) tap(name string) *Tap {
	for _, t := range p.taps {
		if t.Name() == name {
			return t
		}
	}
	return nil
}

func (p *Proxy) names() string {
	var names []string
	for _, t := range p.taps {
		names = append(names, t.Name())
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// Taps returns the taps: first the configured ones, then those that opened by themselves.
func (p *Proxy) Taps() []*Tap {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.taps)
}

// notice shows the user a message, once, without passwords in URLs.
func (p *Proxy) notice(text string) {
	text = credential.WithoutUserinfo(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.noticed[text] || len(p.noticed) >= maxNotices {
		return
	}
	p.noticed[text] = true
	p.callback(func() {
		if p.opts.OnNotice != nil {
			p.opts.OnNotice(text)
		}
	})
}

// callback queues a call. There is always room: notices and further taps are counted.
func (p *Proxy) callback(call func()) {
	select {
	case p.callbacks <- call:
	default:
	}
}

// inFlight counts the exchanges that are in flight.
type inFlight struct {
	mu   sync.Mutex
	n    int
	zero chan struct{} // to be closed at zero; nil if no one waits
}

func (f *inFlight) add(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n += n; f.n == 0 && f.zero != nil {
		close(f.zero)
		f.zero = nil
	}
}

// drained returns a channel that is closed when no exchange is in flight.
func (f *inFlight) drained() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	zero := make(chan struct{})
	if f.n == 0 {
		close(zero)
	} else {
		f.zero = zero
	}
	return zero
}

// isSelf returns the name of the proxy's own listening address that a connection to remote reaches, or "".
func (p *Proxy) isSelf(local, remote net.Addr) string {
	for _, t := range p.Taps() {
		if t.listener.Reaches(local, remote) {
			return "the tap of " + t.Name()
		}
	}
	if p.forward != nil && p.forward.Reaches(local, remote) {
		return "this forward proxy"
	}
	return ""
}

// A Tap is one listening address and the agent behind it. It maps origin to origin: it leaves the path of a request
// unmodified.
type Tap struct {
	proxy       *Proxy
	spec        TapSpec
	agent       hostname.Origin
	listener    *listener.Listener
	cards       *card.Site      // for the agent's card
	hooks       *webhook.Site   // routes webhooks through the tap; nil if they bypass it
	misdirected sync.Once       // the user was told of a request for another host
	further     bool            // it opened by itself
	family      string          // the name of its agent in the record, which further taps share
	faults      *injection.Plan // injected into its answers, or nil

	reached atomic.Pointer[netip.AddrPort] // where the agent was; nil before
}
