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

// Options say how to connect. The zero value takes what the address says.
type Options struct {
	// Credentials beside those of the address; at the most one kind of them. None of it stands in an error.
	CredentialsFile string // as `nsc` writes it: a JWT and the seed of its key
	User, Password  string
	Token           string

	Roots       *x509.CertPool   // whom to trust with TLS; nil is the system's
	Certificate *tls.Certificate // shown to the server; nil for none

	// Patience bounds each request; 0 means 5 s.
	Patience time.Duration

	// Client is how the connection calls itself, for those who look at the server.
	Client string

	// OnTrouble is told when the connection broke and cannot be made again, by errors that wrap ErrAway, when it is there
	// again (nil), and what else the server complains of. It may be nil.
	OnTrouble func(error)
}

const defaultPatience = 5 * time.Second

// A Conn is a connection to the server of a stream. It comes back by itself when it breaks. It may be used by several
// goroutines.
type Conn struct {
	address  Address
	nats     *nats.Conn
	js       jetstream.JetStream
	patience time.Duration
	subjects uint64        // of the stream that are looked at to list recorders, at the most
	idle     time.Duration // how long a message may take until it is asked whether one will come

	life context.Context // of its sockets
	cut  func()          // ends them at once, so that nothing waits for a server that is silent
}

// Connect connects to the server of an address, within the context's time. With a server that is away it fails.
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

// ErrAway says that there is no connection to the server for now. It is tried again.
var ErrAway = errors.New("the server is away")

// An away is an error of the connection.
type away struct{ error }

// Is reports whether the target is ErrAway.
func (away) Is(target error) bool { return target == ErrAway } //nolint:errorlint // it is for errors.Is

// Unwrap returns what the connection says.
func (a away) Unwrap() error { return a.error }

func (o *Options) nats(a Address) ([]nats.Option, error) {
	trouble := o.OnTrouble
	if trouble == nil {
		trouble = func(error) {}
	}
	options := []nats.Option{
		nats.Name(o.Client), nats.Timeout(o.Patience), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(),
		nats.CustomReconnectDelay(reconnectDelay), nats.ReconnectBufSize(-1), // what waits is in the capture
		nats.FlusherTimeout(o.Patience), nats.PingInterval(2 * o.Patience),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // else it was closed by Close
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

// secure reports whether TLS is wanted, besides where the address says so.
func (o *Options) secure() bool { return o.Roots != nil || o.Certificate != nil }

// dialer returns what makes the sockets.
func (o *Options) dialer(life context.Context, a Address) *dialer {
	config := &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12}
	if o.Certificate != nil {
		config.Certificates = []tls.Certificate{*o.Certificate}
	}
	scheme, at, _ := strings.Cut(a.server, "://")
	host, _, _ := net.SplitHostPort(at)
	return &dialer{life: life, patience: o.Patience, secure: o.secure() || scheme == "tls", config: config, host: host}
}

// The pauses between attempts to come back, each with as much again by chance at the most: many recorders lose a server
// in the same moment.
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

// explain says what to do about an error of a connection.
func explain(err error) error {
	switch {
	case errors.Is(err, nats.ErrNoServers):
		return fmt.Errorf("%w; is the server running there?", err)
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
	fetchBytes    = 4 << 20 // that may be under way, or twice the longest message
	idleBeat      = 2 * time.Second
	idleMost      = 3 * idleBeat // without a message, until it is asked whether one will come
	idleExpiry    = 10 * time.Second
	forgotten     = time.Minute // after which the server forgets a consumer that nobody asks
	readPause     = 50 * time.Millisecond
	readPauseMost = 2 * time.Second
	awayAtMost    = 30 * time.Second // how long Read waits for a server that has gone
	goodbyeTime   = 500 * time.Millisecond
)
