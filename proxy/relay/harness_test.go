package relay

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"a2atap/proxy/must"
	"a2atap/proxy/paralleltest"
)

func TestMain(m *testing.M) {
	paralleltest.AtOnce(8)
	goleak.VerifyTestMain(m)
}

// A wire is a tap with one agent behind it.
type wire struct {
	*recorder
	t       *testing.T
	connect func() (net.Conn, error) // connects to the tap
	addr    string                   // the tap's address, as clients name it
	agent   net.Listener             // plain or TLS
	accepts chan net.Conn            // connections of the agent
	served  chan error               // what each Serve returned
	stop    context.CancelFunc
}

// testCert is the certificate of agents that speak TLS.
var testCert = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
})

// trustTestCert is the configuration of a client that trusts the test certificate.
func trustTestCert(t testing.TB) *tls.Config {
	leaf := must.Get(x509.ParseCertificate(testCert().Certificate[0]))(t)
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}
}

// newWire starts a tap before an agent whose connections the test takes from accepts. The tap gets what change makes
// of its configuration.
func newWire(t *testing.T, secure bool, change func(*Config)) *wire {
	t.Helper()
	agent, tap := listen(t), listen(t)
	dial := (&net.Dialer{}).DialContext
	if secure {
		agent = tls.NewListener(agent, &tls.Config{Certificates: []tls.Certificate{testCert()}})
		dial = (&tls.Dialer{Config: trustTestCert(t)}).DialContext
	}
	address := agent.Addr().String()
	return startWire(t, tap, agent, func() (net.Conn, error) { return net.Dial("tcp", tap.Addr().String()) }, Config{
		Dial: func(ctx context.Context) (net.Conn, error) { return dial(ctx, "tcp", address) },
	}, change)
}

// newPipes is newWire without a network, for tests in a bubble of testing/synctest, where time passes when all wait.
func newPipes(t *testing.T, change func(*Config)) *wire {
	t.Helper()
	agent, tap := newPipeListener(), newPipeListener()
	return startWire(t, tap, agent, tap.dial, Config{
		Dial: func(context.Context) (net.Conn, error) { return agent.dial() },
	}, change)
}

// startWire relays between the listeners until the test ends. The configuration needs only to say how to dial the
// agent.
func startWire(
	t *testing.T, tap, agent net.Listener, connect func() (net.Conn, error), cfg Config, change func(*Config),
) *wire {
	ctx, cancel := context.WithCancel(context.Background())
	w := &wire{
		recorder: newRecorder(t), t: t, connect: connect, addr: tap.Addr().String(), agent: agent,
		accepts: make(chan net.Conn, 100), served: make(chan error, 100), stop: cancel,
	}
	cfg.Authority, cfg.Observer = agent.Addr().String(), w.recorder
	if change != nil {
		change(&cfg)
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		acceptAll(agent, func(c net.Conn) {
			wait.Go(func() {
				if s, ok := c.(*tls.Conn); ok && s.Handshake() != nil {
					c.Close()
					return
				}
				w.accepts <- c
			})
		})
	})
	wait.Go(func() {
		acceptAll(tap, func(c net.Conn) { wait.Go(func() { w.served <- New(c, cfg).Serve(ctx) }) })
	})
	t.Cleanup(func() {
		cancel()
		tap.Close()
		agent.Close()
		wait.Wait()
		w.allEnded()
	})
	return w
}

// allEnded complains about exchanges that were begun and not ended.
func (w *wire) allEnded() {
	for x, e := range w.exchanges {
		if !e.Ended {
			w.t.Errorf("exchange %d was not ended: %+v", x, e)
		}
	}
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	return must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
}

func acceptAll(l net.Listener, serve func(net.Conn)) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		serve(c)
	}
}

// An end is a connection of a test, with a deadline on everything.
type end struct {
	net.Conn
	t testing.TB
}

// client connects to the tap.
func (w *wire) client() end {
	w.t.Helper()
	return w.end(must.Get(w.connect())(w.t))
}

// accept takes the agent's next connection.
func (w *wire) accept() end {
	w.t.Helper()
	select {
	case c := <-w.accepts:
		return w.end(c)
	case <-time.After(must.Patience):
		w.t.Fatal("the agent was not dialled")
		panic("unreachable")
	}
}

func (w *wire) end(c net.Conn) end {
	c.SetDeadline(time.Now().Add(must.Patience))
	w.t.Cleanup(func() { c.Close() })
	return end{c, w.t}
}

// result waits for the end of a Serve.
func (w *wire) result() error {
	w.t.Helper()
	select {
	case err := <-w.served:
		return err
	case <-time.After(must.Patience):
		w.t.Fatal("Serve did not end")
		panic("unreachable")
	}
}

// host replaces $HOST in a message by the tap's address, as a client writes it.
func (w *wire) host(s string) string { return replaceHost(s, w.addr) }

// agentHost replaces $HOST in a message by the agent's address, as the agent should see it.
func (w *wire) agentHost(s string) string { return replaceHost(s, w.agent.Addr().String()) }

func replaceHost(s, host string) string {
	return string(bytes.ReplaceAll([]byte(s), []byte("$HOST"), []byte(host)))
}

// begin sends a request on a connection of its own and returns both ends when it has arrived.
func (w *wire) begin(request string) (client, agent end) {
	w.t.Helper()
	client = w.client()
	client.send(w.host(request))
	agent = w.accept()
	agent.receive(w.agentHost(request))
	return client, agent
}

func (e end) send(s string) {
	e.t.Helper()
	if _, err := io.WriteString(e.Conn, s); err != nil {
		e.t.Fatalf("write %.40q: %v", s, err)
	}
}

// receive reads exactly the bytes wanted.
func (e end) receive(want string) {
	e.t.Helper()
	must.Do(e.t, e.expect(want))
}

// tells sends what must arrive at the other end as it is.
func (e end) tells(other end, s string) {
	e.t.Helper()
	e.send(s)
	other.receive(s)
}

// expect is receive for goroutines that may not end the test.
func (e end) expect(want string) error {
	got := make([]byte, len(want))
	n, err := io.ReadFull(e.Conn, got)
	if diff := cmp.Diff(want, string(got[:n])); diff != "" {
		return fmt.Errorf("bytes differ (-want +got), read error %v:\n%s", err, diff)
	}
	return nil
}

// rest reads to the end and returns what came, and how it ended: nil for a clean end.
func (e end) rest() (string, error) {
	b, err := io.ReadAll(e.Conn)
	return string(b), err
}

// receiveEnd reads to a clean end.
func (e end) receiveEnd() {
	e.t.Helper()
	if s, err := e.rest(); err != nil || s != "" {
		e.t.Fatalf("got %q and %v, want a clean end", s, err)
	}
}

// receiveBreak reads to an end of any sort, but not the end of the time.
func (e end) receiveBreak() string {
	e.t.Helper()
	s, err := e.rest()
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		e.t.Fatalf("no end within %v, got %q", must.Patience, s)
	}
	return s
}

// bothWires runs a test with an agent on plain TCP and one on TLS.
func bothWires(t *testing.T, test func(t *testing.T, secure bool)) {
	t.Run("plain", func(t *testing.T) { test(t, false) })
	t.Run("tls", func(t *testing.T) { test(t, true) })
}
