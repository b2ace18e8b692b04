package fleet

import (
	"bytes"
	"net"
	"strings"
	"sync"
	"testing"

	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
)

// What a way does with what a server says.
const (
	passes = iota
	cuts   // drops the next message to the client, such as an acknowledgement, and closes the connection
	hangs  // says nothing, and takes everything
)

// A way is a stretch of network between a shipper and its server, on which things go wrong.
type way struct {
	t        testing.TB
	listener net.Listener
	server   string
	all      sync.WaitGroup

	mu    sync.Mutex
	does  int
	cut   int // connections
	conns map[net.Conn]bool
}

func newWay(t testing.TB, s *fleettest.Server) *way {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	w := &way{t: t, listener: l, conns: map[net.Conn]bool{}}
	if s != nil {
		w.server = strings.TrimPrefix(s.ClientURL(), "nats://")
	}
	w.all.Go(w.accept)
	t.Cleanup(func() {
		l.Close()
		w.closeAll()
		w.all.Wait()
	})
	return w
}

// url is the address of a stream by this way.
func (w *way) url(stream string) string { return "nats://" + w.listener.Addr().String() + "/" + stream }

func (w *way) set(does int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.does = does
}

// cuts is how many connections were cut.
func (w *way) cutSoFar() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cut
}

func (w *way) closeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.conns {
		c.Close()
	}
}

func (w *way) accept() {
	for {
		c, err := w.listener.Accept()
		if err != nil {
			return
		}
		w.mu.Lock()
		w.conns[c] = true
		w.mu.Unlock()
		w.all.Go(func() {
			defer c.Close()
			w.carry(c)
		})
	}
}

func (w *way) carry(client net.Conn) {
	if w.server == "" {
		w.swallow(client)
		return
	}
	server, err := net.Dial("tcp", w.server)
	if err != nil {
		return
	}
	defer server.Close()
	w.all.Go(func() {
		defer server.Close()
		w.copy(server, client, false)
	})
	w.copy(client, server, true)
}

func (w *way) swallow(c net.Conn) {
	for buffer := make([]byte, 64<<10); ; {
		if _, err := c.Read(buffer); err != nil {
			return
		}
	}
}

func (w *way) copy(to, from net.Conn, answers bool) {
	for buffer := make([]byte, 64<<10); ; {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		w.mu.Lock()
		does := w.does
		if answers && does == cuts && bytes.Contains(buffer[:n], []byte("MSG ")) {
			w.does = passes
			w.cut++
			w.mu.Unlock()
			return
		}
		w.mu.Unlock()
		if answers && does == hangs {
			continue
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}
