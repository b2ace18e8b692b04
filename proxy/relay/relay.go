package relay

import (
	"context"
	"net"
	"time"
)

// DefaultHeadLimit is how many bytes one head may have where Config says nothing: what net/http allows, since a tap
// should not refuse what the agent would take.
const DefaultHeadLimit = 1 << 20

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

	// Authority is what the value of Host becomes, such as "127.0.0.1:9000". Empty leaves Host as it is.
	Authority string

	// Accept is asked about each host that a request names: the value of Host, with its port if there is one, and the
	// authority of a target in absolute form. Where it returns an error, the request gets 421 with the error's text (RFC
	// 9110 section 15.5.20) and is not forwarded. Beside Forward it is asked about requests in origin form, which no
	// forward proxy takes: those get 400 if it accepts. Nil accepts all. The slice is valid during the call.
	Accept func(authority []byte) error

	// Observer gets what passes; nil is Discard.
	Observer Observer

	// Editor changes heads and held messages; nil changes nothing.
	Editor Editor

	// HeadLimit is how many bytes one head or trailer section may have; 0 is DefaultHeadLimit.
	HeadLimit int

	// HeadTimeout is how long a client may take from the first byte of a head to its last, IdleTimeout how long it may
	// be silent between exchanges; 0 is for ever. Neither runs while an exchange is in flight, so that no quiet stream
	// is ended.
	HeadTimeout, IdleTimeout time.Duration

	// AnswerTimeout is how long an agent may take from the end of a request, or of the answer before, to the end of the
	// head of its final answer; then the client gets 504. 0 is for ever. What follows a head may take as long as it likes.
	AnswerTimeout time.Duration

	// Advise says what to do about an error of the connection to an agent at host:port, which is Authority where there
	// is no Forward, and may be empty. Its text is part of our own answer; empty leaves that to the relay. It is called
	// off the path of the traffic, where a connection failed. Nil is for always empty.
	Advise func(err error, authority string) string

	// Mark names the speaker in our own answers, in their Server header and body; empty is "a2atap".
	Mark string

	linger time.Duration // in place of lingerTime, for tests
}

// A Session is a client's connection that is to be relayed. The zero Session must not be used.
type Session struct{ pair *pair }

// New returns the session of a client's connection, which it owns.
//
// A connection that is not a *net.TCPConn or *tls.Conn should have CloseWrite() error, and NetConn() net.Conn for the
// connection below, so that half-closes and resets can be passed on.
func New(client net.Conn, cfg Config) Session { return Session{newPair(client, cfg)} }

// Serve relays between client and the agent until both directions have ended, and closes both connections. When ctx
// ends, it ends in bounded time, and exchanges in flight are reported as a Fault of KindShutdown. It is called once, and
// by a function whose stack is small: while a stream is silent, its stack is most of what is held.
//
// The error is nil if every exchange ended as HTTP says it should. Otherwise it wraps the Fault of the connection, or
// says that Observer or Editor panicked. It repeats what the Observer was given and needs no handling.
func (s Session) Serve(ctx context.Context) error { return s.pair.serve(ctx) }
