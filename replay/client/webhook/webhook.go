// Package webhook receives push notifications for a client, at an address that cannot be guessed, with or without TLS.
//
// A [Receiver] passes each delivery to its owner before it responds, one at a time, and [Receiver.Await] waits for a
// task's deliveries. A notification counts only if it has the token that the agent was given. Requests for other hosts
// or paths are rejected. A Receiver is safe for concurrent use.
package webhook

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/hostname"
	"a2atap/replay/client"
	"a2atap/replay/limits"
)

// maxBody bounds a notification, in bytes.
const maxBody = 16 << 20

// A Delivery is a received notification. If Err is set, the notification is invalid and does not count.
type Delivery struct {
	Event  client.Event
	Header http.Header
	Body   []byte
	Err    error
}

// Errors of deliveries.
var (
	// ErrToken means that a notification lacked the token that the agent was given.
	ErrToken = errors.New("the token that the agent was given is missing")
	// ErrTLS means that the TLS handshake with a sender failed, usually because the sender does not trust the
	// certificate.
	ErrTLS = errors.New("the TLS handshake failed")
)

// Options configure where and how to receive notifications.
type Options struct {
	// Address is where to listen, such as 127.0.0.1:0.
	Address string
	// Public is the URL under which the agent reaches the receiver, such as a proxy's URL; empty if it is the listening
	// address.
	Public string
	// Certificate makes the receiver speak TLS.
	Certificate *tls.Certificate
	// On is called with each delivery, one after another, before it is answered. It may be nil.
	On func(Delivery)
	// Any accepts every notification: neither the token nor the body is checked. It is for push configs that someone
	// else wrote.
	Any bool
	// Limits bound how many notifications are taken: as many as a stream may have events. More get 429.
	Limits limits.Limits
	// Record is called with each request to the address that the agent was given, in the same way, and with the status
	// that answers it. It may be nil.
	Record func(at *url.URL, r *http.Request, body []byte, status int)
}

// A Server listens for the notifications of any number of receivers. It is safe for concurrent use.
type Server struct {
	listener net.Listener
	base     *url.URL // beneath which agents reach it
	hosts    []string // names of this server, in addition to loopback names
	server   *http.Server
	served   chan struct{}

	mu        sync.Mutex
	receivers map[string]*Receiver // by the last part of their path
}

// Serve starts to listen as configured by the options. On, Any and Record are for [Server.Receive].
func Serve(o Options) (*Server, error) {
	public, err := url.Parse(o.Public)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, err
	}
	s := &Server{listener: l, base: public, served: make(chan struct{}), receivers: make(map[string]*Receiver)}
	scheme := "http"
	if o.Certificate != nil {
		scheme = "https"
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{*o.Certificate}, MinVersion: tls.VersionTLS12})
	}
	if o.Public == "" {
		s.base = &url.URL{Scheme: scheme, Host: s.named(o.Address)}
	}
	for _, authority := range []string{s.address(), s.base.Host} {
		if host, _, ok := hostname.Split(authority); ok {
			s.hosts = append(s.hosts, host)
		}
	}
	s.server = &http.Server{
		Handler: s, ReadHeaderTimeout: 30 * time.Second, ReadTimeout: time.Minute, ErrorLog: log.New(handshakes{s}, "", 0),
	}
	go func() {
		defer close(s.served)
		s.server.Serve(l) // it ends when it is closed
	}()
	return s, nil
}

// parting bounds the time for responses to received notifications after the receiver has stopped.
const parting = time.Second

// Close stops listening. It first answers received notifications, so that no agent considers them lost.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), parting)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		s.server.Close()
	}
	<-s.served
}

// Receive starts a receiver at a separate address. It uses the options On, Any, Limits and Record.
func (s *Server) Receive(o Options) *Receiver {
	o.Limits = o.Limits.OrDefaults()
	r := &Receiver{from: s, path: "/" + uuid.NewString(), token: uuid.NewString(), opts: o, changed: make(chan struct{})}
	r.url = s.base.JoinPath(r.path)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.receivers[r.path] = r
	return r
}

// address returns the listening address as host:port.
func (s *Server) address() string { return s.listener.Addr().String() }

// named returns the listening address with the host name from address, which is the certificate's.
func (s *Server) named(address string) string {
	host, _, err := net.SplitHostPort(address)
	_, port, _ := net.SplitHostPort(s.address()) // a listener's address has a port
	if err != nil || host == "" || net.ParseIP(host) != nil {
		return s.address()
	}
	return net.JoinHostPort(host, port)
}

// isMine reports whether a request is for this server. A request that a web page sends here under its own host name is
// not.
func (s *Server) isMine(authority string) bool {
	host, _, ok := hostname.Split(authority)
	return ok && (hostname.IsLoopback(host) || slices.Contains(s.hosts, host))
}

// receiver returns the receiver at a path, or nil.
func (s *Server) receiver(path string) *Receiver {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.receivers[path[max(0, strings.LastIndexByte(path, '/')):]] // a proxy may put something before it
}

// ServeHTTP implements http.Handler: it receives a notification.
func (s *Server) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if !s.isMine(q.Host) {
		http.Error(w, "this receiver of push notifications does not serve "+q.Host, http.StatusMisdirectedRequest)
		return
	}
	r := s.receiver(q.URL.Path)
	if r == nil {
		http.NotFound(w, q)
		return
	}
	if q.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxBody))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	d := Delivery{Header: q.Header, Body: body}
	status := http.StatusNoContent
	if r.opts.Any {
		// the reader of the body checks it
	} else if !r.knows(q.Header) {
		d.Err, status = ErrToken, http.StatusUnauthorized
	} else if d.Event, err = client.ReadNotification(body); err != nil {
		d.Err, status = fmt.Errorf("read the notification: %w", err), http.StatusBadRequest
	}
	if !r.take(d, func() {
		if r.opts.Record != nil {
			r.opts.Record(r.url, q, body, status)
		}
	}) {
		status = http.StatusTooManyRequests
	}
	w.WriteHeader(status)
}

// handshakes turns failed TLS handshakes in the log of net/http into deliveries. Their intended receiver is unknown, so
// every receiver gets them.
type handshakes struct{ s *Server }

func (h handshakes) Write(line []byte) (int, error) {
	_, rest, ok := strings.Cut(string(line), "TLS handshake error from ")
	if !ok {
		return len(line), nil
	}
	_, why, _ := strings.Cut(rest, ": ")
	if strings.Contains(why, net.ErrClosed.Error()) { // by this server
		return len(line), nil
	}
	h.s.mu.Lock()
	all := slices.Collect(maps.Values(h.s.receivers))
	h.s.mu.Unlock()
	for _, r := range all {
		r.take(Delivery{Err: fmt.Errorf("%w: %s", ErrTLS, strings.TrimSpace(why))}, func() {})
	}
	return len(line), nil
}

// A Receiver receives notifications at a separate address. It is safe for concurrent use.
type Receiver struct {
	from        *Server
	alone       bool     // the server is only for this receiver
	url         *url.URL // that the agent is given
	path, token string
	opts        Options

	mu       sync.Mutex
	received []heard
	full     bool          // more came than the limits allow
	changed  chan struct{} // closed when something is received
}

// Listen starts a Receiver with its own server.
func Listen(o Options) (*Receiver, error) {
	s, err := Serve(o)
	if err != nil {
		return nil, err
	}
	r := s.Receive(o)
	r.alone = true
	return r, nil
}

// Config returns the push config for the agent, without the task.
func (r *Receiver) Config() client.PushConfig { return client.PushConfig{URL: r.URL(), Token: r.token} }

// Close stops receiving: nothing is found at the address any more.
func (r *Receiver) Close() {
	r.from.mu.Lock()
	delete(r.from.receivers, r.path)
	r.from.mu.Unlock()
	if r.alone {
		r.from.Close()
	}
}

// URL returns the address that the agent is given.
func (r *Receiver) URL() string { return r.url.String() }

// knows reports whether a request has the token, as the value of a header field or as a bearer token. The specification
// names X-A2A-Notification-Token up to 1.0.0 as an example, and agents use other fields too (0.3 §6.8, 1.0 §4.3.1).
func (r *Receiver) knows(h http.Header) bool {
	known := false
	for _, values := range h {
		for _, got := range values {
			got = strings.TrimPrefix(got, "Bearer ")
			known = subtle.ConstantTimeCompare([]byte(got), []byte(r.token)) == 1 || known
		}
	}
	return known
}

// heard is the remembered part of a delivery.
type heard struct {
	task string
	over bool // the task has ended or waits
}

// take notes a delivery after it has called first. It returns false if too many deliveries have come.
func (r *Receiver) take(d Delivery, first func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.received) >= r.opts.Limits.Events {
		if !r.full {
			r.full = true
			close(r.changed)
			r.changed = make(chan struct{})
		}
		return false
	}
	first()
	if r.opts.On != nil {
		r.opts.On(d)
	}
	s := d.Event.State()
	h := heard{over: d.Err == nil && (s.Terminal() || s.Interrupted())}
	if h.over {
		h.task = strings.Clone(d.Event.TaskID())
	}
	r.received = append(r.received, h)
	close(r.changed)
	r.changed = make(chan struct{})
	return true
}

// Await waits for a delivery, from number from on, that reports that the task has ended or waits. It returns the number
// of the next delivery. It fails when the context ends.
func (r *Receiver) Await(ctx context.Context, task string, from int) (next int, err error) {
	for {
		r.mu.Lock()
		received, full, changed := r.received, r.full, r.changed
		r.mu.Unlock()
		for ; from < len(received); from++ {
			if h := received[from]; h.over && h.task == task {
				return from + 1, nil
			}
		}
		if full {
			return from, fmt.Errorf("wait for the end of task %s: %w", task, r.opts.Limits.TooManyNotifications())
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return from, fmt.Errorf("none of %d notifications reported the end of task %s: %w", from, task, ctx.Err())
		}
	}
}
