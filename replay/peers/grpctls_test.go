//go:build peers

package peers

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/a2aclient"
	a2aclient2 "github.com/a2aproject/a2a-go/v2/a2aclient"
	agentcard2 "github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	a2agrpc2 "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"a2atap/proxy"
	"a2atap/proxy/ca"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/record"
)

// TestServicesOnTLS is TestProgramsOverGRPC with agents that serve gRPC on TLS, with a given authority: through a
// tap, whose address the client uses, and through a forward proxy.
func TestServicesOnTLS(t *testing.T) {
	t.Parallel()
	for _, ends := range []struct {
		name  string
		agent Program
		clear Client
		dials func(f *forwarded, options ...grpc.DialOption) driver
	}{
		{"go03", JS03, Go03GRPCClient, dial03},
		{"go03", Py03, Go03GRPCClient, dial03},
		{"go2", JS1, Go2GRPCClient, dial2},
		{"go2", Py1, Go2GRPCClient, dial2},
	} {
		for _, way := range []string{"tap", "forward"} {
			pair := Pair{Client{Name: ends.name}, Agent{Name: ends.agent.Name}, GRPC}
			t.Run(pair.String()+"/"+way, func(t *testing.T) {
				t.Parallel()
				authority := must.Get(ca.Open(t.TempDir()))(t)
				cert, key := identity(t, authority)
				agent := ends.agent.In("PEER_CERT="+cert, "PEER_KEY="+key).GRPCAgent().Start(t)
				pair.Client = ends.clear
				var memory *capture.Memory
				var recording *record.Recording
				if way == "tap" {
					memory, recording = startTapOnTLS(t, authority, serviceOf(t, agent.URL))
					agent.URL = cardFor(t, agent.URL, recording.Taps()[0].URL())
				} else {
					f := startForward(t, authority.Certificate())
					memory, recording = f.memory, f.recording
					pair.Client = driven(ends.name, func(*http.Client) driver {
						return ends.dials(f, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: f.trusts})),
							grpc.WithContextDialer(f.dial))
					})
				}
				got := Play(t, Pair{pair.Client, Agent{Start: func(testing.TB) Running { return agent }}, GRPC}, Direct)
				golden(t, pair, got.Seen)
				expect.OK(t, recording.Close(t.Context()))
				checkCalls(t, pair, memory)
			})
		}
	}
}

func dial03(f *forwarded, options ...grpc.DialOption) driver {
	return go03GRPCDriver{&go03Driver{http: f.client, transport: a2aclient.WithGRPCTransport(options...)}}
}

func dial2(f *forwarded, options ...grpc.DialOption) driver {
	return go2GRPCDriver{&go2Driver{
		http: f.client, parser: agentcard2.DefaultCardParser,
		transports: []a2aclient2.FactoryOption{a2agrpc2.WithGRPCTransport(options...)},
	}}
}

// startTapOnTLS starts a tap before a service, which records into memory.
func startTapOnTLS(t *testing.T, authority *ca.Authority, service string) (*capture.Memory, *record.Recording) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(authority.Certificate())
	memory := capture.NewMemory(capture.Info{})
	recording := record.New(memory, record.Options{
		Proxy: proxy.Options{
			Taps:    []proxy.TapSpec{{Name: "agent", Agent: &url.URL{Scheme: "https", Host: service}, Listen: "127.0.0.1:0"}},
			RootCAs: roots, NoCallers: true,
			OnNotice: func(text string) { t.Errorf("the user was told: %s", text) },
		},
		Redact: redact.Options{Keep: true},
	})
	must.Do(t, recording.Start())
	return memory, recording
}

var serviceAddress = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// serviceOf returns the gRPC address in the card of one of this package's agents.
func serviceOf(t *testing.T, agentURL string) string {
	t.Helper()
	return string(serviceAddress.Find(cardOf(t, agentURL)))
}

func cardOf(t *testing.T, agentURL string) []byte {
	t.Helper()
	response := must.Get(newHTTPClient(t).Get(agentURL + "/.well-known/agent-card.json"))(t)
	defer response.Body.Close()
	return must.Get(io.ReadAll(response.Body))(t)
}

// cardFor serves an agent's card with another address in it.
func cardFor(t *testing.T, agentURL, service string) string {
	t.Helper()
	card := serviceAddress.ReplaceAll(cardOf(t, agentURL), []byte(strings.TrimPrefix(service, "http://")))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "%s", card)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// identity returns the files of a certificate for 127.0.0.1, and of its key.
func identity(t *testing.T, authority *ca.Authority) (cert, key string) {
	t.Helper()
	leaf := must.Get(authority.Leaf("127.0.0.1"))(t)
	private := must.Get(x509.MarshalPKCS8PrivateKey(leaf.PrivateKey))(t)
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: leaf.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: private},
	} {
		must.Do(t, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	}
	return cert, key
}
