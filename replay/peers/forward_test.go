package peers

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"a2atap/proxy"
	"a2atap/proxy/ca"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/forward"
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
			agent := startSecureGo2(t)
			f := startForward(t, agent)
			hook := newWebhook(t)
			ctx, cancel := context.WithTimeout(t.Context(), playTimeout)
			defer cancel()
			s := &script{webhook: hook.URL, driver: &go2Driver{
				http: f.client, parser: agentcard.DefaultCardParser,
				transports: []a2aclient.FactoryOption{
					a2aclient.WithJSONRPCTransport(f.client),
					a2aclient.WithRESTTransport(f.client),
				},
			}}
			seen, err := s.play(ctx, agent.URL, binding)
			if err != nil {
				t.Fatalf("play the script: %v\nseen until then:\n%s", err, strings.Join(Lines(seen, agent.URL, hook.URL), "\n"))
			}
			lines := Lines(append(seen, hook.all(ctx, t, pair)...), agent.URL, hook.URL)
			slices.Sort(lines[len(seen):])
			golden(t, pair, lines)
			f.check(t, pair, agent)
		})
	}
}

// startSecureGo2 starts the agent of [Go2Agent] on TLS.
func startSecureGo2(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	server := httptest.NewUnstartedServer(mux)
	origin := "https://" + server.Listener.Addr().String()
	handler := a2asrv.NewHandler(
		&go2Executor{},
		a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil)),
		a2asrv.WithLogger(slog.New(slog.DiscardHandler)),
		a2asrv.WithTaskStore(taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{
			Authenticator: func(context.Context) (string, error) { return "anyone", nil },
		})),
	)
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle("/rest/", http.StripPrefix("/rest", a2asrv.NewRESTHandler(handler)))
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(go2Card(origin)))
	server.StartTLS()
	t.Cleanup(server.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections) // of the sender of notifications
	return server
}

// A forwarded client goes through a forward proxy, which records into memory.
type forwarded struct {
	client    *http.Client
	memory    *capture.Memory
	recording *record.Recording
}

func startForward(t *testing.T, agent *httptest.Server) *forwarded {
	authority, err := ca.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours := x509.NewCertPool(), x509.NewCertPool()
	theirs.AddCert(agent.Certificate())
	ours.AddCert(authority.Certificate())
	f := &forwarded{memory: capture.NewMemory(capture.Info{})}
	f.recording = record.New(f.memory, record.Options{
		Proxy: proxy.Options{
			RootCAs: theirs, Forward: &forward.Spec{Listen: "127.0.0.1:0", Leaf: authority.Leaf},
			OnNotice: func(text string) { t.Errorf("the user was told: %s", text) },
		},
		Redact: redact.Options{Keep: true},
	})
	if err := f.recording.Start(); err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(f.recording.Forward().URL())
	if err != nil {
		t.Fatal(err)
	}
	address.User = url.User("traveller")
	transport := &http.Transport{Proxy: http.ProxyURL(address), TLSClientConfig: &tls.Config{RootCAs: ours}}
	f.client = &http.Client{Transport: transport}
	return f
}

// check ends the recording and holds the capture against what happened.
func (f *forwarded) check(t *testing.T, pair Pair, agent *httptest.Server) {
	t.Helper()
	f.client.CloseIdleConnections()
	agent.CloseClientConnections()
	if err := f.recording.Close(t.Context()); err != nil {
		t.Error(err)
	}
	exchanges := capturetest.ReadAll(t, f.memory)
	checkFaults(t, pair, exchanges)
	for _, x := range exchanges {
		if x.State != capture.StateClosed || x.Lost != 0 || len(x.Notes) > 0 || len(x.Rewrites) > 0 {
			t.Errorf("%s: state %s, %d bytes lost, notes %q, rewrites %v; want it closed and nothing else", title(x), x.State,
				x.Lost, x.Notes, x.Rewrites)
		}
		if x.Client.Name != "traveller" || x.Agent.URL != agent.URL {
			t.Errorf("%s: from %s to %s", title(x), x.Client.Name, x.Agent.URL)
		}
	}
	judged := judge(t, f.memory)
	if judged.Counts.Judged != len(exchanges) || len(exchanges) < 20 {
		t.Errorf("%d of %d exchanges were judged, want all of many", judged.Counts.Judged, len(exchanges))
	}
	checkFindings(t, pair, judged.Findings)
}
