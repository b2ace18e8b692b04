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

	"a2atap/proxy/a2a"
	"a2atap/proxy/hostname"
	"a2atap/proxy/outbound"
	"a2atap/replay/limits"
)

// A Protocol is a version of A2A over a binding.
type Protocol struct {
	Version string // Major.Minor, or "legacy"
	Binding string // as cards spell it: JSONRPC, HTTP+JSON, GRPC
}

// The protocols of this package.
var (
	JSONRPC10 = Protocol{"1.0", "JSONRPC"}
	REST10    = Protocol{"1.0", "HTTP+JSON"}
	GRPC10    = Protocol{"1.0", bindingGRPC}
	JSONRPC03 = Protocol{"0.3", "JSONRPC"} // also 0.2, which is the same dialect on the wire
	REST03    = Protocol{"0.3", "HTTP+JSON"}
	GRPC03    = Protocol{"0.3", bindingGRPC}
	JSONRPC01 = Protocol{"0.1", "JSONRPC"}
	Early     = Protocol{"legacy", "JSONRPC"} // the protocol before 0.1 was published
)

// Protocols returns the protocols of this package, the newest first.
func Protocols() []Protocol {
	return []Protocol{JSONRPC10, REST10, GRPC10, JSONRPC03, REST03, GRPC03, JSONRPC01, Early}
}

// String returns the protocol as people write it: "A2A 1.0 JSONRPC".
func (p Protocol) String() string { return "A2A " + p.Version + " " + p.Binding }

// dialect returns how package a2a calls the version. The protocol before 0.1 counts as 0.1.
func (p Protocol) dialect() a2a.Dialect {
	d, _ := a2a.VersionDialects(p.Version).Single()
	return d
}

// An Outgoing is a request about to be sent.
type Outgoing struct {
	Operation a2a.Operation
	Method    string
	URL       string
	Header    http.Header
	Body      []byte // may be nil
}

// Options configures a client. The zero value is a client without credentials.
type Options struct {
	// Prefer orders the protocols by preference; empty leaves it to the card.
	Prefer []Protocol
	// Token is sent as bearer token with every request, if it is not empty.
	Token string
	// Header is sent with every request, including the card's, and replaces fields that the client would send itself.
	Header http.Header
	// Authorize adds credentials to every request, including the card's. It is called after Token and Header, so its
	// Authorization wins, and must be safe for concurrent use. This package's messages never have the added
	// credentials.
	Authorize func(context.Context, *Outgoing) error
	// CredentialsTo lists URLs to whose addresses, in addition to the given one, Connect may send Token, Header or
	// Authorize if the card lists them.
	CredentialsTo []string
	// Tenant replaces the interface's, if it is not empty.
	Tenant string
	// Stay keeps Connect at the given address, even if the card lists another.
	Stay bool
	// A2AVersion is sent as A2A-Version with every request, in any protocol; empty sends what the protocol requires.
	A2AVersion string
	// Version is a2atap's version, for the User-Agent header; UserAgent replaces the whole header.
	Version   string
	UserAgent string
	// Timeout bounds a request that is not a stream, and the wait for the head of a stream. Default 2 minutes.
	Timeout time.Duration
	// Limits bound the data that a call receives. A call that reaches one fails with a *limits.ReachedError.
	Limits limits.Limits
	// ProtoJSON makes the client write 0.3 over HTTP+JSON as the proto definition specifies; otherwise it writes the
	// form of the JSON-RPC binding. It reads both.
	ProtoJSON bool
	// Break returns a function that edits the requests of one client of a protocol, one after another, before they
	// are sent, like the faults of package fault; nil for a faithful client.
	Break func(Protocol) (func(*Outgoing), error)
	// Edit may change a request before it is sent. It must be safe for concurrent use.
	Edit func(*Outgoing)
	// Dialer connects to agents; nil trusts the system's authorities. If it names no proxy, the environment's proxy is
	// used. It is ignored if Transport is set.
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

// ErrPrivate means that a card points to an address for which the credentials are not intended. Connect returns it,
// wrapped.
var ErrPrivate = errors.New("credentials are not sent to another address")

// private reports whether requests have credentials, or header fields that may contain some.
func (o *Options) private() bool { return o.Token != "" || o.Authorize != nil || len(o.Header) > 0 }

// Trusts reports whether credentials for the given URL may go to another one. Names of this machine are one address
// if the port is the same.
func (o *Options) Trusts(given, to string) bool {
	at, err := url.Parse(to)
	return err == nil && slices.ContainsFunc(append(slices.Clip(o.CredentialsTo), given), func(text string) bool {
		u, err := url.Parse(text)
		return err == nil && hostname.SameOrigin(at, u)
	})
}

// A Client speaks one protocol with one agent.
type Client struct {
	endpoint Interface
	card     *Card
	http     *httpClient

	options  Options
	possible []Interface // other meanings of the card's interface that have not been tried
}

// Connect reads the card of the agent at a URL and returns a client for the interface that [Card.Choose] returns. If
// the card is the origin's, it chooses among the interfaces at the URL. It fails if the interface is elsewhere and
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
			err = fmt.Errorf("%w; the card at %s may name other addresses for it", err, card.URL)
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
	c.card, c.options = card, o
	if len(o.Prefer) == 0 {
		c.possible = card.Possible
	}
	return c, nil
}

// Reconsider returns a client for another version that the card may mean, after the agent refused a call because it
// does not know the method or the path. It returns nil if the card states its version, if the caller chose the
// protocol, if no version is left to try, or after any other error.
func (c *Client) Reconsider(after error) *Client {
	refused, ok := errors.AsType[*Error](after)
	if !ok || len(c.possible) == 0 || refused.Code != -32601 &&
		refused.HTTPStatus != http.StatusNotFound && refused.HTTPStatus != http.StatusMethodNotAllowed {
		return nil
	}
	other, err := New(c.possible[0], c.options)
	if err != nil {
		return nil
	}
	other.card, other.options, other.possible = c.card, c.options, c.possible[1:]
	return other
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

// Close closes idle connections. Pending requests continue.
func (c *Client) Close() { c.http.client.CloseIdleConnections() }

// A call is an operation in all protocols.
type call struct {
	op     a2a.Operation
	params any    // as of 1.0 over JSON-RPC
	patch  []byte // changes the parameters in the form of the protocol; may be nil
	gets   bool   // over HTTP+JSON by GET, where POST is usual

	session string // the session of the task, before 0.2; may be empty
	webhook string // URL of the push config that is sent along; may be empty
}
