package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/outbound"
	"a2atap/replay/limits"
)

// A Protocol is a version of A2A over a binding.
type Protocol struct {
	Version string // Major.Minor, or "legacy"
	Binding string // as cards spell it: JSONRPC, HTTP+JSON, GRPC
}

// The protocols that this package speaks.
var (
	JSONRPC10 = Protocol{"1.0", "JSONRPC"}
	REST10    = Protocol{"1.0", "HTTP+JSON"}
	GRPC10    = Protocol{"1.0", bindingGRPC}
	JSONRPC03 = Protocol{"0.3", "JSONRPC"} // also 0.2, which is the same dialect on the wire
	REST03    = Protocol{"0.3", "HTTP+JSON"}
	GRPC03    = Protocol{"0.3", bindingGRPC}
	JSONRPC01 = Protocol{"0.1", "JSONRPC"}
	Early     = Protocol{"legacy", "JSONRPC"} // what was spoken before 0.1 was written down
)

// Protocols returns the protocols that this package speaks, the newest first.
func Protocols() []Protocol {
	return []Protocol{JSONRPC10, REST10, GRPC10, JSONRPC03, REST03, GRPC03, JSONRPC01, Early}
}

// String returns the protocol as people write it: "A2A 1.0 JSONRPC".
func (p Protocol) String() string { return "A2A " + p.Version + " " + p.Binding }

// An Operation is what a client asks for, named as A2A 1.0 §5.3 names it.
type Operation string

// The operations.
const (
	GetCard          Operation = "GetAgentCard" // the public card, which no binding carries
	SendMessage      Operation = "SendMessage"
	StreamMessage    Operation = "SendStreamingMessage"
	GetTask          Operation = "GetTask"
	ListTasks        Operation = "ListTasks"
	CancelTask       Operation = "CancelTask"
	SubscribeToTask  Operation = "SubscribeToTask"
	CreatePushConfig Operation = "CreateTaskPushNotificationConfig"
	GetPushConfig    Operation = "GetTaskPushNotificationConfig"
	ListPushConfigs  Operation = "ListTaskPushNotificationConfigs"
	DeletePushConfig Operation = "DeleteTaskPushNotificationConfig"
	GetExtendedCard  Operation = "GetExtendedAgentCard"
)

// An Outgoing is a request about to be sent.
type Outgoing struct {
	Operation Operation
	Method    string
	URL       string
	Header    http.Header
	Body      []byte // nil if there is none
}

// Options sets a client up. The zero value is a client without credentials.
type Options struct {
	// Prefer orders the protocols by preference; empty leaves it to the card.
	Prefer []Protocol
	// Token is sent as bearer token with every request, if it is not empty.
	Token string
	// Header is sent with every request, that for the card included, in place of what the client would send itself.
	Header http.Header
	// Authorize adds credentials to every request, that for the card included. It comes after Token and Header, so that
	// its Authorization holds, and must be safe for concurrent use. What it adds is in no message of this package.
	Authorize func(context.Context, *Outgoing) error
	// CredentialsTo are URLs to whose addresses Connect may go with Token, Header or Authorize, beside the given one,
	// where the card says that the agent is there.
	CredentialsTo []string
	// Tenant replaces the interface's, if it is not empty.
	Tenant string
	// Stay keeps Connect from going to another address than the given one, whatever the card says.
	Stay bool
	// A2AVersion is sent as A2A-Version with every request, in any protocol; empty sends what the protocol asks for.
	A2AVersion string
	// Version is that of a2atap, for the User-Agent header; UserAgent replaces the whole header.
	Version   string
	UserAgent string
	// Timeout bounds a request that is not a stream, and the wait for the head of a stream. Default 2 minutes.
	Timeout time.Duration
	// Limits bound what a call receives. What reaches one fails with a *limits.ReachedError.
	Limits limits.Limits
	// ProtoJSON writes 0.3 over HTTP+JSON as its proto definition has it; else as its JSON-RPC binding has it. Both are
	// read.
	ProtoJSON bool
	// Break returns what edits the requests of one client of a protocol, one after another, before they are sent, as
	// the faults of package fault do; nil for a faithful client.
	Break func(Protocol) (func(*Outgoing), error)
	// Edit may change a request before it is sent. It must be safe for concurrent use.
	Edit func(*Outgoing)
	// Dialer says how agents are connected to; nil is by the system's authorities. Where it names no proxy, that of the
	// environment is used. It has no meaning beside Transport.
	Dialer *outbound.Dialer
	// Transport replaces the client's own, which goes through the proxy of the environment except on loopback.
	Transport http.RoundTripper
	// NewID makes the ids of messages and JSON-RPC requests; default random UUIDs.
	NewID func() string
}

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, 2*time.Minute)
	o.Limits = o.Limits.OrDefaults()
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	if o.UserAgent == "" {
		o.UserAgent = "a2atap"
		if o.Version != "" {
			o.UserAgent += "/" + o.Version
		}
	}
	return o
}

// ErrPrivate says that a card leads to an address for which credentials were not given. Connect returns it, wrapped.
var ErrPrivate = errors.New("credentials are not for another address")

// private reports whether requests have credentials, or header fields that may be some.
func (o *Options) private() bool { return o.Token != "" || o.Authorize != nil || len(o.Header) > 0 }

// Trusts reports whether credentials may go to a URL where another one was given. Names of this machine are one address
// if the port is the same.
func (o *Options) Trusts(given, to string) bool {
	at, err := url.Parse(to)
	return err == nil && slices.ContainsFunc(append(slices.Clip(o.CredentialsTo), given), func(text string) bool {
		u, err := url.Parse(text)
		return err == nil && sameAddress(at, u)
	})
}

// A Client speaks one protocol with one agent.
type Client struct {
	endpoint Interface
	card     *Card
	http     *httpClient
}

// Connect reads the card of the agent at a URL and returns a client for the interface that [Card.Choose] gives. If the
// card is the origin's, it chooses among the interfaces at the URL. It is an error if the interface is elsewhere and
// credentials would go along: see [Options].CredentialsTo.
func Connect(ctx context.Context, agent string, o Options) (*Client, error) {
	card, fromOrigin, err := discover(ctx, agent, o)
	if err != nil {
		return nil, err
	}
	if fromOrigin {
		here := *card
		here.Interfaces = card.interfacesAt(agent)
		card = &here
	}
	if o.Stay {
		if card, err = card.At(agent); err != nil {
			return nil, fmt.Errorf("connect to %s: %w", agent, err)
		}
	}
	endpoint, err := card.Choose(o.Prefer...)
	if err != nil {
		if fromOrigin {
			err = fmt.Errorf("%w; the card at %s may have other addresses for that", err, card.URL)
		}
		return nil, fmt.Errorf("connect to %s: %w", agent, err)
	}
	if o.private() && !o.Trusts(agent, endpoint.URL) {
		return nil, fmt.Errorf("connect to %s: %w: the card has %s", agent, ErrPrivate, endpoint.URL)
	}
	c, err := New(endpoint, o)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", agent, err)
	}
	c.card = card
	return c, nil
}

// New returns a client for an endpoint, without reading a card. It fails if the package does not speak its protocol, or
// with the error of Break.
func New(endpoint Interface, o Options) (*Client, error) {
	if !slices.Contains(Protocols(), endpoint.Protocol) {
		return nil, fmt.Errorf("unknown protocol %s; use %s", endpoint.Protocol, join(Protocols()))
	}
	if endpoint.Protocol.OverGRPC() {
		endpoint.URL = GRPCURL(endpoint.URL, "")
	}
	endpoint.URL = strings.TrimRight(endpoint.URL, "/")
	if o.Tenant != "" {
		endpoint.Tenant = o.Tenant
	}
	c := &Client{endpoint: endpoint, http: newHTTP(o, endpoint.Protocol.OverGRPC())}
	if o.Break != nil {
		var err error
		if c.http.fault, err = o.Break(endpoint.Protocol); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Endpoint returns the interface that the client uses.
func (c *Client) Endpoint() Interface { return c.endpoint }

// Card returns the card that Connect read, or nil. It must not be changed.
func (c *Client) Card() *Card { return c.card }

// Close closes idle connections. Requests under way go on.
func (c *Client) Close() { c.http.client.CloseIdleConnections() }

// A call is an operation in all bindings.
type call struct {
	op     Operation
	params any    // of JSON-RPC and gRPC; nil if there are none
	verb   string // of HTTP+JSON
	path   string // below the interface's URL, escaped
	query  url.Values
	body   any // of HTTP+JSON; nil if there is none

	session string // that the client put the task into, before 0.2; empty if it does not say
	webhook string // URL of the push config that goes along; empty if there is none
}
