package peers

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"a2atap/proxy"
	"a2atap/proxy/ca"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/expect"
	"a2atap/proxy/forward"
	"a2atap/proxy/must"
	"a2atap/proxy/record"
)

// TestForward plays the script over TLS through a forward proxy: the client sees what it sees with nothing in between,
// and the same is found in the traffic as in that of a tap.
func TestForward(t *testing.T) {
	t.Parallel()
	for _, binding := range []string{JSONRPC, HTTPJSON} {
		pair := Pair{Go2Client, Go2Agent, binding}
		t.Run(pair.String(), func(t *testing.T) {
			t.Parallel()
			agent := startForwardedGo2(t, true, JSONRPC, HTTPJSON)
			f := startForward(t, agent.Certificate())
			f.play(t, pair, agent, go2Through(f, a2aclient.WithJSONRPCTransport(f.client), a2aclient.WithRESTTransport(f.client)))
		})
	}
}

// go2Through is the client of [Go2Client] on its way through a forward proxy.
func go2Through(f *forwarded, transports ...a2aclient.FactoryOption) Client {
	return Client{Run: func(ctx context.Context, _ testing.TB, agentURL, binding, webhook string) ([]Observation, error) {
		d := &go2Driver{http: f.client, parser: agentcard.DefaultCardParser, transports: transports}
		defer func() { go2GRPCDriver{d}.Close() }()
		return (&script{webhook: webhook, driver: d}).play(ctx, agentURL, binding)
	}}
}

// TestForwardOverGRPC is TestForward over gRPC, in TLS and in the clear.
func TestForwardOverGRPC(t *testing.T) {
	t.Parallel()
	testForwardOverGRPC(t, "go2", func(f *forwarded, secure bool) Client {
		creds := insecure.NewCredentials()
		if secure {
			creds = credentials.NewTLS(&tls.Config{RootCAs: f.trusts})
		}
		return go2Through(f, a2agrpc.WithGRPCTransport(grpc.WithTransportCredentials(creds), grpc.WithContextDialer(f.dial)))
	})
}

// dial connects to an agent by CONNECT, as clients of gRPC do, whatever comes then.
func (f *forwarded) dial(ctx context.Context, target string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", f.proxy.Host)
	if err != nil {
		return nil, err
	}
	r := &http.Request{Method: http.MethodConnect, URL: &url.URL{Host: target}, Host: target, Header: http.Header{}}
	r.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(f.proxy.User.String())))
	if err := r.Write(c); err != nil {
		return nil, err
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), r)
	if err != nil || answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the proxy answers %v, %w", answer, err)
	}
	return c, nil
}

func testForwardOverGRPC(t *testing.T, name string, client func(f *forwarded, secure bool) Client) {
	pair := Pair{Client{Name: name}, Go2GRPCAgent, GRPC}
	for _, secure := range []bool{true, false} {
		t.Run(fmt.Sprintf("%s/tls=%t", pair, secure), func(t *testing.T) {
			t.Parallel()
			agent := startForwardedGo2(t, secure, GRPC)
			f := startForward(t, agent.Certificate())
			f.play(t, pair, agent, client(f, secure))
		})
	}
}

// play plays the script through the proxy. What the client sees is what it sees with nothing in between, and the capture
// has what happened.
func (f *forwarded) play(t *testing.T, pair Pair, agent *httptest.Server, client Client) {
	t.Helper()
	hook := newWebhook(t)
	ctx, cancel := context.WithTimeout(t.Context(), playTimeout)
	defer cancel()
	seen, err := client.Run(ctx, t, agent.URL, pair.Binding, hook.URL)
	if err != nil {
		t.Fatalf("play the script: %v\nseen until then:\n%s", err, strings.Join(Lines(seen, agent.URL, hook.URL), "\n"))
	}
	lines := Lines(append(seen, hook.all(ctx, t, pair)...), agent.URL, hook.URL)
	slices.Sort(lines[len(seen):])
	golden(t, pair, lines)
	f.check(t, pair, agent)
}

// startForwardedGo2 starts the agent of [Go2Agent], on TLS or in the clear, with a card that has these bindings.
func startForwardedGo2(t *testing.T, secure bool, bindings ...string) *httptest.Server {
	mux := http.NewServeMux()
	server := httptest.NewUnstartedServer(mux)
	origin := "http://" + server.Listener.Addr().String()
	if secure {
		origin = "https://" + server.Listener.Addr().String()
	}
	handler := a2asrv.NewHandler(
		&go2Executor{gates: gates{ended: t.Context().Done()}},
		a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil)),
		a2asrv.WithLogger(slog.New(slog.DiscardHandler)),
		a2asrv.WithTaskStore(taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{
			Authenticator: func(context.Context) (string, error) { return "anyone", nil },
		})),
	)
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle("/rest/", http.StripPrefix("/rest", a2asrv.NewRESTHandler(handler)))
	card := go2Card(origin)
	card.SupportedInterfaces = append(card.SupportedInterfaces,
		a2a.NewAgentInterface(server.Listener.Addr().String(), a2a.TransportProtocolGRPC))
	card.SupportedInterfaces = slices.DeleteFunc(card.SupportedInterfaces, func(i *a2a.AgentInterface) bool {
		return !slices.Contains(bindings, string(i.ProtocolBinding))
	})
	service := grpc.NewServer()
	a2agrpc.NewHandler(handler).RegisterWith(service)
	mux.Handle("/lf.a2a.v1.A2AService/", service)
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	if secure {
		server.EnableHTTP2 = true
		server.StartTLS()
	} else {
		server.Config.Protocols = new(http.Protocols)
		server.Config.Protocols.SetHTTP1(true)
		server.Config.Protocols.SetUnencryptedHTTP2(true)
		server.Start()
	}
	t.Cleanup(server.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections) // of the sender of notifications
	return server
}

// A forwarded client goes through a forward proxy, which records into memory.
type forwarded struct {
	client    *http.Client
	memory    *capture.Memory
	recording *record.Recording
	proxy     *url.URL
	trusts    *x509.CertPool // the proxy's authority
	trustFile string         // the same for programs, with the agent's own certificate
}

// startForward starts a forward proxy to agents in the clear, or on TLS with a certificate that it trusts.
func startForward(t *testing.T, own *x509.Certificate) *forwarded {
	authority := must.Get(ca.Open(t.TempDir()))(t)
	theirs, ours := x509.NewCertPool(), x509.NewCertPool()
	ours.AddCert(authority.Certificate())
	f := &forwarded{
		memory: capture.NewMemory(capture.Info{}), trusts: ours, trustFile: filepath.Join(t.TempDir(), "trusted.pem"),
	}
	trusted := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate().Raw})
	if own != nil {
		theirs.AddCert(own)
		trusted = append(trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Raw})...)
	}
	must.Do(t, os.WriteFile(f.trustFile, trusted, 0o600))
	f.recording = record.New(f.memory, record.Options{
		Proxy: proxy.Options{
			RootCAs: theirs, NoCallers: true, Forward: &forward.Spec{Listen: "127.0.0.1:0", Leaf: authority.Leaf},
			OnNotice: func(text string) { t.Errorf("the user was told: %s", text) },
		},
		Redact: redact.Options{Keep: true},
	})
	must.Do(t, f.recording.Start())
	address := must.Get(url.Parse(f.recording.Forward().URL()))(t)
	address.User = url.UserPassword("traveller", "ticket")
	f.proxy = address
	transport := &http.Transport{Proxy: http.ProxyURL(address), TLSClientConfig: &tls.Config{RootCAs: ours}}
	f.client = &http.Client{Transport: transport}
	return f
}

// check ends the recording and compares the capture with the actual traffic.
func (f *forwarded) check(t *testing.T, pair Pair, agent *httptest.Server) {
	t.Helper()
	f.client.CloseIdleConnections()
	agent.CloseClientConnections()
	expect.OK(t, f.recording.Close(t.Context()))
	for _, x := range capturetest.ReadAll(t, f.memory) {
		if x.Client.Name != "traveller" || x.Agent.URL != agent.URL {
			t.Errorf("%s: from %s to %s", title(x), x.Client.Name, x.Agent.URL)
		}
	}
	checkCalls(t, pair, f.memory)
}

// checkCalls demands that what is recorded of a script is whole, and judged to what is confirmed for the pair. The card
// may have come past the recording.
func checkCalls(t *testing.T, pair Pair, memory *capture.Memory) {
	t.Helper()
	exchanges := capturetest.ReadAll(t, memory)
	checkFaults(t, pair, exchanges)
	for _, x := range exchanges {
		if x.State != capture.StateClosed || x.Lost != 0 || len(x.Notes) > 0 || len(x.Rewrites) > 0 {
			t.Errorf("%s: state %s, %d bytes lost, notes %q, rewrites %v; want it closed and nothing else", title(x), x.State,
				x.Lost, x.Notes, x.Rewrites)
		}
	}
	judged := judge(t, memory)
	if judged.Counts.Judged != len(exchanges) || len(exchanges) < 20 {
		t.Errorf("%d of %d exchanges were judged, want all of many", judged.Counts.Judged, len(exchanges))
	}
	want := confirmedFor(pair)
	if !slices.ContainsFunc(exchanges, isWellKnown) {
		want = slices.DeleteFunc(want, func(line string) bool { return strings.Contains(line, " card-") })
	}
	compareFindings(t, pair, want, judged.Findings)
}
