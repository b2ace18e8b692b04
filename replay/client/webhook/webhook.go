// Package webhook receives push notifications for a client, at an address that nobody can guess.
package webhook

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"a2atap/replay/client"
)

// maxBody bounds a notification, in bytes.
const maxBody = 16 << 20

// A Delivery is a notification that came. Err says what is wrong with it: then it stands for nothing.
type Delivery struct {
	Event client.Event
	Body  []byte
	Err   error
}

// ErrToken says that a notification came without the token that the agent was given.
var ErrToken = errors.New("it came without the token that the agent was given")

// A Receiver listens for notifications. It is safe for concurrent use.
type Receiver struct {
	listener         net.Listener
	url, path, token string
	server           *http.Server
	served           chan struct{}
	on               func(Delivery)

	mu       sync.Mutex
	received []Delivery
	changed  chan struct{} // closed when something is received
}

// Listen listens on an address, such as 127.0.0.1:0, and calls on with each delivery, one after another, before it is
// answered. The agent is given that address, or the public URL under which it reaches it, if that is not empty.
func Listen(address, public string, on func(Delivery)) (*Receiver, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	r := &Receiver{
		listener: l, path: "/" + uuid.NewString(), token: uuid.NewString(), on: on,
		served: make(chan struct{}), changed: make(chan struct{}),
	}
	if r.url = strings.TrimRight(public, "/") + r.path; public == "" {
		r.url = (&url.URL{Scheme: "http", Host: r.address(), Path: r.path}).String()
	}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 30 * time.Second, ReadTimeout: time.Minute}
	go func() {
		defer close(r.served)
		r.server.Serve(l) // it ends when it is closed
	}()
	return r, nil
}

// Config returns what the agent is told, but for the task.
func (r *Receiver) Config() client.PushConfig { return client.PushConfig{URL: r.url, Token: r.token} }

// address returns where it listens, as host:port.
func (r *Receiver) address() string { return r.listener.Addr().String() }

// Close stops listening.
func (r *Receiver) Close() {
	r.server.Close()
	<-r.served
}

// ServeHTTP implements http.Handler: it takes a notification.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if !strings.HasSuffix(q.URL.Path, r.path) { // a proxy may put something before it
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
	d := Delivery{Body: body}
	status := http.StatusNoContent
	if !r.knows(q.Header) {
		d.Err, status = ErrToken, http.StatusUnauthorized
	} else if d.Event, err = client.ReadNotification(body); err != nil {
		d.Err, status = fmt.Errorf("read the notification: %w", err), http.StatusBadRequest
	}
	r.take(d)
	w.WriteHeader(status)
}

// knows reports whether a request has the token: in the field of A2A 0.2 and later, or as a bearer token, as in 0.1.
func (r *Receiver) knows(h http.Header) bool {
	for _, got := range []string{
		h.Get("X-A2A-Notification-Token"), strings.TrimPrefix(h.Get("Authorization"), "Bearer "),
	} {
		if subtle.ConstantTimeCompare([]byte(got), []byte(r.token)) == 1 {
			return true
		}
	}
	return false
}

func (r *Receiver) take(d Delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.on != nil {
		r.on(d)
	}
	r.received = append(r.received, d)
	close(r.changed)
	r.changed = make(chan struct{})
}

// Await returns when a delivery says that the task has ended or waits, counting from that number on, and then the
// number of the next. It fails when the context ends.
func (r *Receiver) Await(ctx context.Context, task string, from int) (next int, err error) {
	for {
		r.mu.Lock()
		received, changed := r.received, r.changed
		r.mu.Unlock()
		for ; from < len(received); from++ {
			d := received[from]
			s := d.Event.State()
			if d.Err == nil && d.Event.TaskID() == task && (s.Terminal() || s.Interrupted()) {
				return from + 1, nil
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return from, fmt.Errorf("no notification of the end of task %s, of %d in all: %w", task, from, ctx.Err())
		}
	}
}
