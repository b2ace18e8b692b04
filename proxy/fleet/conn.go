package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Options configure a connection. With the zero value, only the address counts.
type Options struct {
	// Credentials in addition to the address; at most one kind of them. No error contains them.
	CredentialsFile string // in the format of `nsc`: a JWT and the seed of its key
	User, Password  string
	Token           string

	Roots       *x509.CertPool   // trusted authorities for TLS; nil means the system's
	Certificate *tls.Certificate // shown to the server; nil for none

	// Patience bounds each request; 0 means 5 s.
	Patience time.Duration

	// Client is the connection's name, which administrators see on the server.
	Client string

	// OnTrouble receives an error that wraps ErrAway if the connection broke and cannot be restored, nil when it is
	// back, and other errors from the server. It may be nil.
	OnTrouble func(error)
}

const defaultPatience = 5 * time.Second

// A Conn is a connection to the server of a stream. It reconnects by itself. It is safe for concurrent use.
type Conn struct {
	address  Address
	nats     *nats.Conn
	js       jetstream.JetStream
	patience time.Duration
	subjects uint64        // the most subjects of the stream that are read to list recorders
	idle     time.Duration // how long to wait for a message before asking whether one will come

	life context.Context // of its sockets
	cut  func()          // closes the sockets at once, so that nothing waits for a silent server
}

// Connect connects to the server of an address until the context ends. It fails if the server is away.
func Connect(ctx context.Context, a Address, o Options) (*Conn, error) {
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	options, err := o.nats(a)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		options = append(options, nats.Timeout(min(o.Patience, time.Until(deadline))))
	}
	c := &Conn{address: a, patience: o.Patience, subjects: maxSubjects, idle: idleMost}
	c.life, c.cut = context.WithCancel(context.Background())
	connected := context.AfterFunc(ctx, c.cut)
	options = append(options, nats.SetCustomDialer(o.dialer(c.life, a)), nats.SkipHostLookup())
	c.nats, err = nats.Connect(a.server, options...)
	if !connected() && err == nil {
		c.nats.Close()
		err = ctx.Err()
	}
	if err != nil {
		c.cut()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("connect to %s: %w", a, explain(err))
	}
	if c.js, err = jetstream.New(c.nats, jetstream.WithDefaultTimeout(o.Patience)); err != nil {
		c.Close()
		return nil, fmt.Errorf("connect to %s: %w", a, err)
	}
	return c, nil
}

// ErrAway means that the server cannot be reached at the moment. The connection is retried.
var ErrAway = errors.New("the server is unreachable")

// An away is an error of the connection.
type away struct{ error }

// Is reports whether the target is ErrAway.
func (away) Is(target error) bool { return target == ErrAway } //nolint:errorlint // it is for errors.Is

// Unwrap returns the connection's error.
func (a away) Unwrap() error { return a.error }

func (o *Options) nats(a Address) ([]nats.Option, error) {
	trouble := o.OnTrouble
	if trouble == nil {
		trouble = func(error) {}
	}
	options := []nats.Option{
		nats.Name(o.Client), nats.Timeout(o.Patience), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(),
		nats.CustomReconnectDelay(reconnectDelay), nats.ReconnectBufSize(-1), // unsent steps wait in the capture
		nats.FlusherTimeout(o.Patience), nats.PingInterval(2 * o.Patience),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // otherwise Close has closed it
				trouble(away{err})
			}
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { trouble(away{explain(err)}) }),
		nats.ReconnectHandler(func(*nats.Conn) { trouble(nil) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { trouble(explain(err)) }),
	}
	user, password, token := o.User, o.Password, o.Token
	kinds := 0
	for _, given := range []bool{o.CredentialsFile != "", user != "", token != "", a.user != "" || a.password != ""} {
		if given {
			kinds++
		}
	}
	if kinds > 1 {
		return nil, fmt.Errorf("connect to %s: several kinds of credentials are given; choose one: a credentials file, a "+
			"user with a password, a token, or those in the URL", a)
	}
	if a.user != "" {
		user, password = a.user, a.password
	} else if a.password != "" {
		token = a.password
	}
	switch {
	case o.CredentialsFile != "":
		options = append(options, nats.UserCredentials(o.CredentialsFile))
	case user != "":
		options = append(options, nats.UserInfo(user, password))
	case token != "":
		options = append(options, nats.Token(token))
	}
	if o.secure() {
		options = append(options, nats.Secure())
	}
	return options, nil
}

// secure reports whether the options require TLS; the address can require it, too.
func (o *Options) secure() bool { return o.Roots != nil || o.Certificate != nil }

// dialer returns a dialer for the connection's sockets.
func (o *Options) dialer(life context.Context, a Address) *dialer {
	config := &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12}
	if o.Certificate != nil {
		config.Certificates = []tls.Certificate{*o.Certificate}
	}
	scheme, at, _ := strings.Cut(a.server, "://")
	host, _, _ := net.SplitHostPort(at)
	return &dialer{life: life, patience: o.Patience, secure: o.secure() || scheme == "tls", config: config, host: host}
}

// Pauses between attempts to reconnect. Random jitter up to doubles each, because many recorders lose a server at the
// same moment.
const (
	firstReconnect = 100 * time.Millisecond
	lastReconnect  = 5 * time.Second
)

func reconnectDelay(attempts int) time.Duration {
	pause := lastReconnect
	if attempts < 6 {
		pause = min(pause, firstReconnect<<attempts)
	}
	return pause/2 + rand.N(pause/2)
}

// explain adds to a connection's error what to do about it.
func explain(err error) error {
	switch {
	case errors.Is(err, nats.ErrNoServers):
		return fmt.Errorf("%w; check that the server is running there", err)
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return fmt.Errorf("%w; check the user, token or credentials file", err)
	}
	return err
}

// Close closes the connection.
func (c *Conn) Close() {
	c.nats.Close()
	c.cut()
}

const (
	maxSubjects   = 100_000
	fetchBytes    = 4 << 20 // that may be in flight, or twice the longest message
	idleBeat      = 2 * time.Second
	idleMost      = 3 * idleBeat // without a message, before asking whether one will come
	idleExpiry    = 10 * time.Second
	forgotten     = time.Minute // after which the server forgets an unused consumer
	readPause     = 50 * time.Millisecond
	readPauseMost = 2 * time.Second
	awayAtMost    = 30 * time.Second // how long Read waits for a server that has gone
	goodbyeTime   = 500 * time.Millisecond
)
