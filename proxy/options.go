package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"time"

	"a2atap/proxy/forward"
	"a2atap/proxy/hold"
	"a2atap/proxy/hostname"
	"a2atap/proxy/injection"
	"a2atap/proxy/outbound"
	"a2atap/proxy/recording"
	"a2atap/proxy/webhook"
)

// DefaultTunnelTimeout is the timeout if Options.TunnelTimeout is 0.
const DefaultTunnelTimeout = time.Hour

// Options configure a Proxy. Only Recorder is required.
type Options struct {
	Taps     []TapSpec
	Aliases  []Alias       // further origins of the agents, as their cards may name them
	Forward  *forward.Spec // the forward proxy; nil for none
	Recorder *recording.Recorder

	Tools bool // tools on standard input and output, which package stdio observes, can join the recording

	NoRewrite   bool // agent cards pass unmodified, so clients that follow them bypass the tap; the same holds for webhooks
	AllowRemote bool // taps may listen on addresses that other machines reach
	NoCallers   bool // do not look up the processes of clients; use the names that they give themselves

	// Webhooks configures how notifications of agents pass through their taps; nil lets them bypass the taps. Otherwise
	// the tap replaces the URLs in push notification configs with its own addresses, and forwards requests to these
	// addresses to the webhook. In answers the client sees its own URLs.
	Webhooks *webhook.Spec

	// AllowHosts are additional hosts that requests to taps may name. A tap accepts requests that name a loopback name
	// or address, the tap's listening address, or the agent itself. Others get 421, so that no web page reaches the
	// agent through its own name for this machine. The same rule applies to requests to the forward proxy itself;
	// requests through it may name any host.
	AllowHosts []hostname.Pattern

	// Faults are made, on purpose, in the answers of agents behind taps. Without Faults, the path of the traffic does
	// not change. Answers through the forward proxy get none.
	Faults []injection.Spec

	// Hold holds messages through taps for the user. Nil holds none, and then the path of the traffic does not change.
	// Messages of agents with Faults, and through the forward proxy, are not held. Hold is closed when the context of
	// Serve ends.
	Hold *hold.Desk

	RootCAs           *x509.CertPool   // that TLS agents are verified against; nil means the system's
	Insecure          bool             // agents are not verified: any server that answers counts as the agent
	ClientCertificate *tls.Certificate // shown to agents that require one; nil means none
	Upstream          *outbound.Proxy  // the proxy on the route to agents that are not on this machine; nil means none

	DialTimeout time.Duration // for the connection to an agent, TLS included; 0 is 10 s
	// HeadTimeout and IdleTimeout protect against slow clients; neither runs while an exchange is in flight. 0 means
	// forward.DefaultHeadTimeout and 10 minutes, a negative value no limit.
	HeadTimeout, IdleTimeout time.Duration

	// AnswerTimeout limits the time from the end of a request to the end of the answer's head; beyond it, the client
	// gets 504. 0 means no limit: calls that wait for a task to end may take long, and some servers send the head of a
	// stream with its first event.
	AnswerTimeout time.Duration
	// TunnelTimeout is how long a tunnel of the forward proxy may be silent in both directions before it is closed; 0
	// means DefaultTunnelTimeout, a negative value no limit.
	TunnelTimeout time.Duration

	Grace time.Duration // for exchanges in flight to end in when the proxy stops; 0 gives them none

	// OnTap is called with each tap that opened by itself, and OnNotice with urgent messages to the user, once for each
	// text. They are called by one goroutine, outside the path of the traffic, while Serve runs; either may be nil.
	OnTap    func(*Tap)
	OnNotice func(text string)

	// Connect returns a connection to a replacement for the agent at an address, or nil to connect to the agent itself.
	// Such a connection is in the clear unless HTTP/2 is among the protocols of a secure one. Connect may be nil.
	Connect func(ctx context.Context, address string, secure bool, protocols []string) (net.Conn, error)

	// OnDial is called when a tap or the forward proxy has connected to an agent for a client, before any byte is sent.
	// client is the client's address in the record, connection the connection's address at the agent. OnDial must not
	// block, and may be nil.
	OnDial func(client, connection string)
}
