// Package webhook leads push notifications through taps: agents receive a tap's addresses instead of their clients'
// webhooks, and requests to these addresses are recorded and forwarded to the webhook.
//
// An [Editor] replaces the URLs in the push notification configs of requests, of all dialects, and restores them in
// answers, so that the client finds the URLs that it sent. The replacement address contains the webhook's URL, sealed
// with a key of the user. So forwarding a notification needs no state and works across restarts, and without the key no
// one can create or decrypt an address.
//
// # What it promises
//
// Only the URLs change; every other byte of a body stays. A request is held only while it may still turn out to be JSON
// about configs, up to 1 MiB and for half a second, so that an agent can refuse it before it is complete. Of an answer,
// a2atap usually holds back no more than the possible beginning of an address.
//
// Some webhooks cannot be led through the tap: the agent is elsewhere, the body is compressed, too large or too slow,
// or the client waits for 100. Then the URL stays unmodified, and a note in the record and on the
// terminal reports that its notifications are not observed.
//
// The record has what the client and the agent mean: the URLs of the webhooks, and a notification as if no tap were
// between them.
package webhook

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"sync"
	"sync/atomic"

	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/proxy/internal/card"
	"a2atap/proxy/recording"
	"a2atap/proxy/relay"
)

// A Spec configures how push notifications are led through taps.
type Spec struct {
	// Key is the secret with which the addresses of webhooks are sealed. A later process with the same key and
	// listening addresses forwards notifications to the same webhooks.
	Key []byte

	// URL is the address under which agents reach one of the taps, such as that of a tunnel: http or https, without
	// query. Nil routes only notifications of agents on this machine to webhooks on plain HTTP on this machine.
	URL *url.URL

	// Leave is the reason for not changing any webhook's URL, such as "--no-webhooks was given". The recording then
	// lists the webhooks that are not observed, and all traffic passes unmodified. If empty, URLs are changed.
	Leave string
}

// Options are a Spec and the facts about its proxy that a Hooks needs.
type Options struct {
	Spec

	Dial   func(ctx context.Context, to relay.Target) (net.Conn, error) // connects to a webhook
	Tapped func(at hostname.Origin) bool                                // a tap listens there
	Agent  func(at hostname.Origin) (agent capture.Peer, ok bool)       // tapped agents
	Notice func(text string)                                            // tells the user something
}

// Hooks lead the notifications of all agents of a proxy to their webhooks.
type Hooks struct {
	Options
	seals    *sealer
	decoding sync.Mutex // held while a request is decoded to look for webhooks
}

// New returns the Hooks of a proxy.
func New(o Options) (*Hooks, error) {
	seals, err := newSealer(o.Key)
	if err != nil {
		return nil, fmt.Errorf("create a key for webhooks: %w", err)
	}
	return &Hooks{Options: o, seals: seals}, nil
}

// receiver returns the webhook of a delivery under its recorded name: the agent tapped there, or the client that has
// configured it.
func (h *Hooks) receiver(d *delivery) capture.Peer {
	if agent, ok := h.Agent(hostname.NewOrigin(d.to.Host, d.to.Port)); ok {
		return agent
	}
	return capture.Peer{
		Name: cmp.Or(d.client, "webhook"), Addr: d.to.Authority(), URL: d.to.Scheme + "://" + d.authority,
	}
}

// A Site is a tap that webhooks are led through.
type Site struct {
	hooks    *Hooks
	name     string
	agent    *url.URL
	origin   hostname.Origin
	address  string      // host:port of the tap
	replaced atomic.Bool // the agent received one of the tap's addresses
}

// NewSite returns the Site of a tap: its name, the URL of its agent and its listening address, host:port.
func (h *Hooks) NewSite(name string, agent *url.URL, address string) *Site {
	return &Site{hooks: h, name: name, agent: agent, origin: hostname.OriginOf(agent), address: address}
}

// Leaves reports whether the site changes no URL of a webhook: its Editor only observes, and edits nothing.
func (s *Site) Leaves() bool { return s.hooks.Leave != "" }

// NewEditor returns the Editor of a connection that has reached the tap at host:port.
func (s *Site) NewEditor(cards *card.Editor, record *recording.Conn, reached string) *Editor {
	return &Editor{Editor: cards, site: s, record: record, reached: reached}
}

// Route returns the route from the tap's addresses to the webhooks. Notifications may name the hosts that the tap
// admits, and the host of Spec.URL.
func (s *Site) Route(admit func(authority []byte) error) *relay.Route {
	return &relay.Route{
		Prefix: hookPrefix,
		Accept: func(authority []byte) error {
			if to := s.hooks.URL; to != nil {
				host, _, ok := hostname.Split(string(authority))
				if ok && hostname.Normal(host) == hostname.Normal(to.Hostname()) {
					return nil
				}
			}
			return admit(authority)
		},
		Resolve: func(target string) (relay.Target, string, string, error) {
			d, err := s.hooks.seals.deliver(target)
			if err != nil {
				s.hooks.Notice(fmt.Sprintf("tap %s refused a notification: %v", s.name, err))
			}
			return d.to, d.authority, d.target, err
		},
		Dial:     s.hooks.Dial,
		Receiver: "the webhook",
	}
}
