package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"time"

	"a2atap/proxy/forward"
	"a2atap/proxy/hold"
	"a2atap/proxy/hostname"
	"a2atap/proxy/injection"
	"a2atap/proxy/outbound"
	"a2atap/proxy/recording"
	"a2atap/proxy/webhook"
)

// DefaultTunnelTimeout is what 0 stands for in Options.TunnelTimeout.
const DefaultTunnelTimeout = time.Hour

// Options say what a Proxy opens. Recorder is required.
type Options struct {
	Taps     []TapSpec
	Aliases  []Alias       // further origins of the agents, as their cards may name them
	Forward  *forward.Spec // the forward proxy; nil for none
	Recorder *recording.Recorder

	NoRewrite   bool // agent cards pass as they came, and clients that follow them leave the tap; so do webhooks
	AllowRemote bool // taps may listen on addresses that other machines reach
	NoCallers   bool // nobody looks which processes clients are, and they go by what they say

	// Webhooks says how the notifications of agents are led through their taps; nil lets them go past. Where they are, the
	// URLs in push notification configs are replaced by addresses of ours, and what comes there is forwarded to the
	// webhook; in answers the client finds its own URLs again.
	Webhooks *webhook.Spec

	// AllowHosts are further hosts that requests to taps may name. A tap lets in those that name a loopback name or
	// address, the tap's listening address, or the agent itself; others get 421, so that no page of the web gets to the
	// agent by a name of its own that leads here. Requests to the forward proxy itself are held to the same, those
	// through it are for any host.
	AllowHosts []hostname.Pattern

	// Faults are made, on purpose, in the answers of agents behind taps. Without any nothing of the path of the traffic
	// is different. Those that came through the forward proxy get none.
	Faults []injection.Spec

	// Hold has the messages through taps that the user holds; nil holds none, and nothing of the path of the traffic is
	// different then. Agents with Faults, and what comes through the forward proxy, are not held. It is closed when the
	// context of Serve ends.
	Hold *hold.Desk

	RootCAs           *x509.CertPool   // that TLS agents are verified against; nil is the system's
	Insecure          bool             // agents are not verified: whoever answers is taken for the agent
	ClientCertificate *tls.Certificate // shown to agents that ask for one; nil is none
	Upstream          *outbound.Proxy  // the proxy on the way to agents that are not on this machine; nil is none

	DialTimeout time.Duration // for the connection to an agent, TLS included; 0 is 10 s
	// HeadTimeout and IdleTimeout are against slow clients; neither runs while an exchange is in flight. 0 is
	// forward.DefaultHeadTimeout and 10 minutes, less than 0 is forever.
	HeadTimeout, IdleTimeout time.Duration

	// AnswerTimeout is how long an agent may take to begin an answer, from the end of a request to the end of the
	// answer's head; then the client gets 504. 0 is forever: calls that wait for a task to end may take long, and some
	// servers send the head of a stream with its first event.
	AnswerTimeout time.Duration
	// TunnelTimeout is how long a tunnel of the forward proxy may be silent in both directions before it is closed; 0 is
	// DefaultTunnelTimeout, less than 0 is forever.
	TunnelTimeout time.Duration

	Grace time.Duration // that exchanges in flight get to end in when the proxy stops; 0 is none

	// OnTap is called with each further tap that opened by itself, OnNotice of what the user should know at once, once
	// for each text. They are called by one goroutine, off the path of the traffic, while Serve runs; either may be
	// nil.
	OnTap    func(*Tap)
	OnNotice func(text string)

	// OnDial is called when a tap has connected to its agent for a client, with the addresses that the client has in the
	// record and the connection has at the agent, before anything is sent on it. It must not block, and may be nil.
	OnDial func(client, connection string)
}
