package proxy

import (
	"maps"
	"net"
	"sync"
	"time"
)

// handoverWait bounds the time that a new connection to a tap waits for its client: the forward proxy's dial returns a
// moment after the tap has accepted the connection. A wrong name is better than a delay.
const handoverWait = time.Second

// maxHandovers bounds the connections whose clients are kept until the taps ask for them.
const maxHandovers = 4096

// A handover tells taps for which clients the forward proxy connects to them. If a program's model URL is a tap's, the
// program often reaches the tap through the forward proxy, which would otherwise hide its process.
type handover struct {
	mu      sync.Mutex
	ended   *sync.Cond // a dial
	last    uint64
	dialing map[uint64]bool
	clients map[string]net.Conn // by local address of the connection to the tap
}

func newHandover() *handover {
	h := &handover{dialing: make(map[uint64]bool), clients: make(map[string]net.Conn)}
	h.ended = sync.NewCond(&h.mu)
	return h
}

// dial connects to a tap for a client.
func (h *handover) dial(client net.Conn, dial func() (net.Conn, error)) (net.Conn, error) {
	h.mu.Lock()
	h.last++
	n := h.last
	h.dialing[n] = true
	h.mu.Unlock()
	conn, err := dial()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.dialing, n)
	if err == nil {
		if len(h.clients) >= maxHandovers {
			clear(h.clients)
		}
		h.clients[conn.LocalAddr().String()] = client
	}
	h.ended.Broadcast()
	return conn, err
}

// client returns the client for which a connection to a tap was made: the forward proxy's client, or else the one at
// the connection's other end. The dial may not have returned yet, so it waits for pending dials, up to handoverWait.
func (h *handover) client(conn net.Conn) net.Conn {
	at := conn.RemoteAddr().String()
	h.mu.Lock()
	defer h.mu.Unlock()
	if begun := maps.Clone(h.dialing); h.clients[at] == nil && len(begun) > 0 {
		late := false
		timer := time.AfterFunc(handoverWait, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			late = true
			h.ended.Broadcast()
		})
		defer timer.Stop()
		for h.clients[at] == nil && !late && h.anyOf(begun) {
			h.ended.Wait()
		}
	}
	client := h.clients[at]
	if client == nil {
		return conn
	}
	delete(h.clients, at)
	return client
}

// anyOf reports whether a dial is pending. The caller holds h.mu.
func (h *handover) anyOf(dials map[uint64]bool) bool {
	for n := range dials {
		if h.dialing[n] {
			return true
		}
	}
	return false
}
