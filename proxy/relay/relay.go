package relay

import (
	"context"
	"net"
	"time"

	"a2atap/proxy/budget"
)

// DefaultHeadLimit is how many bytes one head may have where Config says nothing: what net/http allows, since a tap
// should not refuse what the agent would take.
const DefaultHeadLimit = budget.HeaderBytes

// Config says how one client connection is served. Only Dial is required, or Forward in its place.
type Config struct {
	// Dial connects to the agent, TLS included. It is called once, when the first request head is there, whole and
	// valid; it bounds its own time, and its context ends with that of Serve.
	Dial func(ctx context.Context) (net.Conn, error)

	// Forward takes requests to the agents that they name; nil takes all to the one that Dial connects to. Authority
	// has no meaning beside it.
	Forward *Forward

	// Route takes certain requests elsewhere than to the agent that Dial connects to; nil takes none. It has no meaning
	// beside Forward.
	Route *Route

	// HTTP2 serves a client that speaks HTTP/2 with prior knowledge (RFC 9113 section 3.3), in the place of the
	// Session: it owns the connection from then on. Begun is what was read of it, which starts with the preface, and
	// belongs to it. Nil refuses such clients.
	HTTP2 func(ctx context.Context, client net.Conn, begun []byte) error

	// Authority is what the value of Host becomes, such as "127.0.0.1:9000". Empty leaves Host as it is.
	Authority string

	// Accept is asked about each host that a request names: the value of Host, with its port if there is one, and the
	// authority of a target in absolute form. Where it returns an error, the request gets 421 with the error's text
	// (RFC 9110 section 15.5.20) and is not forwarded. Beside Forward it is asked about requests in origin form, which
	// no forward proxy takes: those get 400 if it accepts. Nil accepts all. The slice is valid during the call.
	Accept func(authority []byte) error

	// Observer gets what passes; nil is Discard.
	Observer Observer

	// Editor changes heads and held messages; nil changes nothing.
	Editor Editor

	// HeadLimit is how many bytes one head or trailer section may have; 0 is DefaultHeadLimit.
	HeadLimit int

	// HeadTimeout is how long a client may take from the first byte of a head to its last, IdleTimeout how long it may
	// be silent between exchanges; 0 is forever. Neither runs while an exchange is in flight, so that no quiet stream
	// is ended.
	HeadTimeout, IdleTimeout time.Duration

	// AnswerTimeout is how long an agent may take from the end of a request, or of the answer before, to the end of the
	// head of its final answer; then the client gets 504. 0 is forever. What follows a head may take as long as it
	// likes.
	AnswerTimeout time.Duration

	// Advise says what to do about an error of the connection to an agent at host:port, which is Authority where there
	// is not a Forward, and may be empty. Its text is part of our own answer; empty leaves that to the relay. It is
	// called off the path of the traffic, where a connection failed. Nil is for always empty.
	Advise func(err error, authority string) string

	// Mark names the speaker in our own answers, in their Server header and body; empty is "a2atap".
	Mark string

	linger time.Duration // in place of LingerTime, for tests
}

// A Session is a client's connection that is to be relayed. The zero Session must not be used.
type Session struct{ pair *pair }

// New returns the session of a client's connection, which it owns.
//
// A connection that is not a *net.TCPConn or *tls.Conn should have CloseWrite() error, and NetConn() net.Conn for the
// connection below, so that half-closes and resets can be passed on.
func New(client net.Conn, cfg Config) Session { return Session{newPair(client, cfg)} }

// Serve relays between client and the agent until both directions have ended, and closes both connections. When ctx
// ends, it ends in bounded time, and exchanges in flight are reported as a TransportError of KindShutdown. It is called
// once, and by a function whose stack is small: while a stream is silent, its stack is most of what is held.
//
// The error is nil if every exchange ended as HTTP says it should. Otherwise it wraps the TransportError of the
// connection, or says that Observer or Editor panicked. It repeats what the Observer was given and needs no handling.
func (s Session) Serve(ctx context.Context) error { return s.pair.serve(ctx) }

// Forward makes a relay serve the clients of a forward proxy. Their requests have targets in absolute form, and each
// may go to another agent.
//
// A request goes on with its target in origin form (RFC 9112 section 3.2.1) and without the fields whose names begin
// with "Proxy-", since these are meant for us. Host stays as it is if it names the target, and otherwise becomes the
// target's authority (RFC 9112 section 3.2.2). The Observer gets the head as it came.
//
// One agent is connected at a time. A request for another one waits until those before it have been answered; then that
// connection is closed and the next one opened. Fields that Connection names pass: each connection of the client
// belongs to one connection of an agent, also where these follow one another.
type Forward struct {
	// Dial connects to a target, TLS included where its scheme asks for it. It bounds its own time, and its context
	// ends with that of Serve.
	Dial func(ctx context.Context, to Target) (net.Conn, error)

	// Admit is shown the head of each request; where it returns false the client gets 407 and the connection ends. Nil
	// admits all.
	Admit func(head []byte) bool
}

// A Route takes requests to somebody else than the agent that Config.Dial connects to: those whose target, in origin
// form, begins with Prefix. Where they go is the target's own affair, so Config.Accept is not asked about the host that
// they name.
//
// Such a request goes on with another target and the receiver's authority in Host; everything else passes as it came.
// As with a forward proxy (see [Forward]) one connection is open at a time: a request to somebody else waits until
// those before it have been answered.
type Route struct {
	Prefix string

	// Accept is as Config.Accept, for the requests that the Route takes; nil accepts all.
	Accept func(authority []byte) error

	// Resolve returns where a request with that target goes, the authority that Host is to name, and the target in
	// origin form that it has there. With an error the request gets 403 with the error's text and is not forwarded.
	Resolve func(target string) (to Target, authority, rest string, err error)

	// Dial connects to a receiver, TLS included where its scheme asks for it. It bounds its own time, and its context
	// ends with that of Serve.
	Dial func(ctx context.Context, to Target) (net.Conn, error)

	// Receiver is what messages call the one that is dialled, such as "the webhook". It has to begin with "the".
	Receiver string
}
