package relay

import (
	"context"
	"net"
	"time"

	"a2atap/proxy/budget"
)

// DefaultHeadLimit is the maximum size of one head in bytes if Config sets none. It is net/http's limit, since a tap
// should not refuse a head that the agent would accept.
const DefaultHeadLimit = budget.HeaderBytes

// Config configures how one client connection is served. It requires only Dial, or Forward instead.
type Config struct {
	// Dial connects to the agent, TLS included. It is called once, when the first request head has arrived, complete
	// and valid. It bounds its own time, and its context ends with the context of Serve.
	Dial func(ctx context.Context) (net.Conn, error)

	// Forward takes requests to the agents that they name; nil takes all to the one that Dial connects to. With
	// Forward, Authority has no meaning.
	Forward *Forward

	// Route takes certain requests elsewhere than to the agent that Dial connects to; nil takes none. With Forward,
	// Route has no meaning.
	Route *Route

	// HTTP2 serves a client that speaks HTTP/2 with prior knowledge (RFC 9113 section 3.3), instead of the Session, and
	// owns the connection from then on. begun is the part read so far, which starts with the preface; HTTP2 owns it,
	// too. Nil refuses such clients.
	HTTP2 func(ctx context.Context, client net.Conn, begun []byte) error

	// Authority is the new value of Host, such as "127.0.0.1:9000". If it is empty, Host stays unmodified.
	Authority string

	// Accept checks each host that a request names: the value of Host, with its port if any, and the authority of a
	// target in absolute form. If it returns an error, the request gets 421 with the error's text (RFC 9110 section
	// 15.5.20) and is not forwarded. With Forward, Accept checks requests in origin form, which no forward proxy
	// accepts: those get 400 if Accept admits them. Nil accepts all. The slice is valid during the call.
	Accept func(authority []byte) error

	// Observer observes the traffic; nil is Discard.
	Observer Observer

	// Editor changes heads and held messages; nil changes nothing.
	Editor Editor

	// HeadLimit is the maximum size of one head or trailer section in bytes; 0 is DefaultHeadLimit.
	HeadLimit int

	// HeadTimeout is how long a client may take from the first byte of a head to its last. IdleTimeout is how long it
	// may be silent between exchanges. 0 means no limit. Neither runs while an exchange is in flight, so they never end
	// a quiet stream.
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

// A Session is a client's connection that is to be relayed. The zero Session must not be used.
type Session struct{ pair *pair }

// New returns the session of a client's connection, which it owns.
//
// A connection that is not a *net.TCPConn or *tls.Conn should have CloseWrite() error, and NetConn() net.Conn for the
// connection below, so that half-closes and resets can be passed on.
func New(client net.Conn, cfg Config) Session { return Session{newPair(client, cfg)} }

// Serve relays between client and the agent until both directions have ended, and closes both connections. When ctx
// ends, Serve returns in bounded time, and exchanges in flight are reported as a TransportError of KindShutdown. It
// must be called once, by a function with a small stack: while a stream is silent, the stack is most of its memory.
//
// The error is nil if every exchange ended as HTTP requires. Otherwise it wraps the TransportError of the connection,
// or reports that Observer or Editor panicked. It repeats what the Observer received and needs no handling.
func (s Session) Serve(ctx context.Context) error { return s.pair.serve(ctx) }

// Forward makes a relay serve the clients of a forward proxy. Their requests have targets in absolute form, and each
// may go to another agent.
//
// A request is forwarded with its target in origin form (RFC 9112 section 3.2.1) and without the fields whose names
// begin with "Proxy-", since these are meant for the proxy. Host stays unmodified if it names the target, and otherwise
// becomes the target's authority (RFC 9112 section 3.2.2). The Observer gets the head as it came.
//
// One agent is connected at a time. A request for another agent waits until those before it have been answered; then
// that connection is closed and the next one opened. The fields that Connection names pass: each connection of the
// client belongs to one connection of an agent, even if several agents follow one another.
type Forward struct {
	// Dial connects to a target, including TLS if its scheme requires it. It bounds its own time, and its context ends
	// with the context of Serve.
	Dial func(ctx context.Context, to Target) (net.Conn, error)

	// Admit checks the head of each request. If it returns false, the client gets 407 and the connection ends. Nil
	// admits all.
	Admit func(head []byte) bool
}

// A Route takes certain requests to another receiver than the agent that Config.Dial connects to: those whose target,
// in origin form, begins with Prefix. The target alone decides where they go, so Config.Accept is not called for the
// host that they name.
//
// Such a request is forwarded with another target and the receiver's authority in Host; everything else passes
// unmodified. As with a forward proxy (see [Forward]), one connection is open at a time: a request to another receiver
// waits until those before it have been answered.
type Route struct {
	Prefix string

	// Accept is like Config.Accept, for the requests that the Route takes; nil accepts all.
	Accept func(authority []byte) error

	// Resolve returns the destination of a request with that target: the receiver, the authority for Host, and the new
	// target in origin form. If it fails, the request gets 403 with the error's text and is not forwarded.
	Resolve func(target string) (to Target, authority, rest string, err error)

	// Dial connects to a receiver, including TLS if its scheme requires it. It bounds its own time, and its context
	// ends with the context of Serve.
	Dial func(ctx context.Context, to Target) (net.Conn, error)

	// Receiver names the receiver in messages, such as "the webhook". It has to begin with "the".
	Receiver string
}
