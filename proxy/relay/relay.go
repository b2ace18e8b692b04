package relay

import (
	"context"
	"net"
	"time"

	"a2atap/proxy/budget"
)

// DefaultHeadLimit is the maximum size of a head in bytes if Config sets none. It equals net/http's limit, since a tap
// should accept every head that the agent accepts.
const DefaultHeadLimit = budget.HeaderBytes

// Config configures how one client connection is served. It requires only Dial, or Forward instead.
type Config struct {
	// Dial connects to the agent, including TLS. It is called once, when the first request head has arrived and is
	// valid. It must return in bounded time, and its context ends with the context of Serve.
	Dial func(ctx context.Context) (net.Conn, error)

	// Forward sends each request to the agent that the request names; nil sends all requests to the agent of Dial. With
	// Forward, Authority is ignored.
	Forward *Forward

	// Route takes certain requests elsewhere than to the agent that Dial connects to; nil takes none. With Forward,
	// Route has no meaning.
	Route *Route

	// HTTP2 serves a client that speaks HTTP/2 with prior knowledge (RFC 9113 section 3.3), instead of the Session, and
	// takes over the connection. begun is the data read so far, which starts with the preface; HTTP2 owns it. If HTTP2
	// is nil, such clients are refused.
	HTTP2 func(ctx context.Context, client net.Conn, begun []byte) error

	// Authority is the new value of Host, such as "127.0.0.1:9000". If it is empty, Host stays unmodified.
	Authority string

	// Accept checks each host in a request: the value of Host, including any port, and the authority of a target in
	// absolute form. If Accept returns an error, the request gets 421 with the error's text (RFC 9110 section 15.5.20)
	// and is not forwarded. With Forward, Accept checks requests in origin form, which no forward proxy accepts; if
	// Accept admits them, they get 400. Nil admits all. The slice is valid during the call.
	Accept func(authority []byte) error

	// Observer observes the traffic; nil is Discard.
	Observer Observer

	// Editor changes heads and held messages; nil changes nothing.
	Editor Editor

	// HeadLimit is the maximum size of one head or trailer section in bytes; 0 is DefaultHeadLimit.
	HeadLimit int

	// HeadTimeout limits the time from the first to the last byte of a client's head. IdleTimeout limits a client's
	// silence between exchanges. 0 means no limit. Neither runs while an exchange is in flight, so they never end a
	// quiet stream.
	HeadTimeout, IdleTimeout time.Duration

	// AnswerTimeout is how long an agent may take from the end of a request, or of the answer before, to the end of the
	// head of its final answer; then the client gets 504. 0 means no limit. The rest of the answer is not limited.
	AnswerTimeout time.Duration

	// Advise returns advice about an error of the connection to an agent at host:port. Without Forward, authority is
	// Authority, and may be empty. The advice becomes part of the relay's own answer; an empty result leaves the advice
	// to the relay. Advise is called outside the path of the traffic, where a connection failed. Nil always gives no
	// advice.
	Advise func(err error, authority string) string

	// Mark names the sender of the relay's own answers, in their Server header and body; empty means "a2atap".
	Mark string

	linger time.Duration // replaces LingerTime in tests
}

// A Session is a client's connection to be relayed. The zero Session must not be used.
type Session struct{ pair *pair }

// New returns a session for a client's connection, and takes ownership of the connection.
//
// A connection that is not a *net.TCPConn or *tls.Conn should have CloseWrite() error, and NetConn() net.Conn for the
// connection below, so that half-closes and resets can be passed on.
func New(client net.Conn, cfg Config) Session { return Session{newPair(client, cfg)} }

// Serve relays between client and agent until both directions have ended, and closes both connections. When ctx ends,
// Serve returns in bounded time, and exchanges in flight are reported as a TransportError of KindShutdown. Call it
// once, from a function with a small stack: while a stream is silent, the stack is most of its memory.
//
// The error is nil if every exchange ended as HTTP requires. Otherwise it wraps the TransportError of the connection,
// or reports a panic of Observer or Editor. It repeats what the Observer received and needs no handling.
func (s Session) Serve(ctx context.Context) error { return s.pair.serve(ctx) }

// Forward makes a relay serve clients of a forward proxy. Their requests have targets in absolute form, and each may go
// to another agent.
//
// A request is forwarded with its target in origin form (RFC 9112 section 3.2.1) and without fields whose names begin
// with "Proxy-", since these are meant for the proxy. Host stays unmodified if it names the target, and otherwise
// becomes the target's authority (RFC 9112 section 3.2.2). The Observer gets the original head.
//
// One agent is connected at a time. A request for another agent waits until all earlier requests have been answered;
// then the old connection is closed and the new one opened. Fields listed in Connection pass: each client connection
// has its own agent connection, even if several agents follow one another.
type Forward struct {
	// Dial connects to a target, including TLS if its scheme requires it. It must return in bounded time, and its
	// context ends with the context of Serve.
	Dial func(ctx context.Context, to Target) (net.Conn, error)

	// Admit checks the head of each request. If it returns false, the client gets 407 and the connection ends. Nil
	// admits all.
	Admit func(head []byte) bool
}

// A Route sends certain requests to another receiver than the agent of Config.Dial: those whose target, in origin form,
// begins with Prefix. Only the target decides, so Config.Accept is not called for the hosts in such requests.
//
// Such a request is forwarded with another target and the receiver's authority in Host; everything else passes
// unmodified. As with a forward proxy (see [Forward]), one connection is open at a time: a request to another receiver
// waits until all earlier requests have been answered.
type Route struct {
	Prefix string

	// Accept is like Config.Accept, for the requests that the Route takes; nil accepts all.
	Accept func(authority []byte) error

	// Resolve returns the destination of a request with that target: the receiver, the authority for Host, and the new
	// target in origin form. If it fails, the request gets 403 with the error's text and is not forwarded.
	Resolve func(target string) (to Target, authority, rest string, err error)

	// Dial connects to a receiver, including TLS if its scheme requires it. It must return in bounded time, and its
	// context ends with the context of Serve.
	Dial func(ctx context.Context, to Target) (net.Conn, error)

	// Receiver names the receiver in messages, such as "the webhook". It must begin with "the".
	Receiver string
}
