package replay

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"

	"a2atap/proxy/capture"
	"a2atap/proxy/outbound"
	"a2atap/replay/client/webhook"
	"a2atap/replay/compare"
	"a2atap/replay/live"
)

// hooks receives the live agents' notifications instead of the recorded webhooks, at local addresses. It is safe for
// concurrent use.
type hooks struct {
	server     *webhook.Server // nil if nothing is received
	everywhere bool            // agents on other machines can reach it, too
	log        *live.Log
	note       func(string)

	mu        sync.Mutex
	receivers map[hook]*webhook.Receiver
	received  map[*target][]delivery
	changed   chan struct{} // closed when something is received
}

// A hook is a recorded webhook of one agent.
type hook struct {
	of       *target
	recorded string // its URL
}

// newHooks listens, if that is wanted: the recording has webhooks.
func newHooks(o webhook.Options, wanted bool, log *live.Log, note func(string)) (*hooks, error) {
	h := &hooks{
		log: log, note: note, receivers: map[hook]*webhook.Receiver{}, received: map[*target][]delivery{},
		changed: make(chan struct{}),
	}
	o.Address = cmp.Or(o.Address, "127.0.0.1:0")
	host, _, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, fmt.Errorf("listen for notifications: %w", err)
	}
	h.everywhere = o.Public != "" || !isLoopback(host)
	if !wanted {
		return h, nil
	}
	if h.server, err = webhook.Serve(o); err != nil {
		return nil, fmt.Errorf("listen for notifications on %s: %w; choose another address with --webhook-listen",
			o.Address, outbound.Cause(err))
	}
	return h, nil
}

func (h *hooks) close() {
	if h.server != nil {
		h.server.Close()
	}
}

// unreachable explains why an agent gets no local address.
const unreachable = "the agent is on another machine and cannot reach a2atap's webhook; give --webhook-url URL"

// reach reports whether an agent can reach our addresses.
func (h *hooks) reach(t *target) bool { return h.everywhere || isLoopback(t.endpoints.live.Hostname()) }

// address returns the replacement of a recorded webhook URL for an agent that can reach it.
func (h *hooks) address(t *target, recorded string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.receivers[hook{t, recorded}]
	if r == nil {
		r = h.server.Receive(webhook.Options{
			Any: true,
			On:  h.refused,
			Record: func(at *url.URL, q *http.Request, body []byte, status int) {
				from := capture.Peer{Name: t.agent.Name, How: "webhook"}
				to := capture.Peer{Name: "webhook", URL: (&url.URL{Scheme: at.Scheme, Host: at.Host}).String()}
				h.take(t, readDelivery(h.log.Received(from, to, q, body, status)))
			},
		})
		h.receivers[hook{t, recorded}] = r
		t.values.Pair(&compare.Pairing{Role: compare.NoRole, Recorded: recorded, Live: r.URL()})
	}
	return r.URL()
}

// refused notes a connection that brought no notification.
func (h *hooks) refused(d webhook.Delivery) {
	if d.Err != nil {
		h.note(fmt.Sprintf("a notification did not arrive: %v", d.Err))
	}
}

func (h *hooks) take(t *target, came []delivery) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.received[t] = append(h.received[t], came...)
	close(h.changed)
	h.changed = make(chan struct{})
}

// asked reports whether an agent was given a local address.
func (h *hooks) asked(t *target) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for k := range h.receivers {
		if k.of == t {
			return true
		}
	}
	return false
}

// await returns the notifications of an agent once they are sufficient, or the context has ended.
func (h *hooks) await(ctx context.Context, t *target, enough func([]delivery) bool) []delivery {
	for {
		h.mu.Lock()
		got, changed := h.received[t], h.changed
		h.mu.Unlock()
		if enough(got) {
			return got
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return got
		}
	}
}
