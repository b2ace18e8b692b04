package peers

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"a2atap/proxy/must"
)

// A hop is the simplest intermediary that a client may meet: an ordinary reverse proxy that, if told so, puts its own
// origin into the agent card. It shows that the script does not depend on there being nothing in between, and that a
// request which goes around an intermediary is noticed.
type hop struct {
	rewrite bool

	mu    sync.Mutex
	local []string
}

// route implements [Route].
func (h *hop) route(t testing.TB, agentURL string) string {
	t.Helper()
	target := must.Get(url.Parse(agentURL))(t)
	transport := &http.Transport{DialContext: h.dial, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	server := httptest.NewUnstartedServer(nil)
	origin := "http://" + server.Listener.Addr().String()
	proxy := &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if isCard(r.Out) {
				r.Out.Header.Del("Accept-Encoding")
			}
		},
		ModifyResponse: func(r *http.Response) error {
			if !h.rewrite || !isCard(r.Request) {
				return nil
			}
			return replaceBody(r, agentURL, origin)
		},
	}
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Otherwise the server closes the request's body at the first byte of the answer, which the transport may take
		// for a request that failed, and cut off the answer.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			t.Errorf("enable full duplex: %v", err)
		}
		proxy.ServeHTTP(w, r)
	})
	server.Start()
	t.Cleanup(server.Close)
	return origin
}

func (h *hop) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err == nil {
		h.mu.Lock()
		h.local = append(h.local, conn.LocalAddr().String())
		h.mu.Unlock()
	}
	return conn, err
}

// dialled returns the local addresses of the connections to the agent.
func (h *hop) dialled() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.local
}

func isCard(r *http.Request) bool { return strings.Contains(r.URL.Path, "/.well-known/agent") }

func replaceBody(r *http.Response, old, replacement string) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	body = bytes.ReplaceAll(body, []byte(old), []byte(replacement))
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// TestAround shows that a client which follows a card that was not rewritten is found to go around the hop.
func TestAround(t *testing.T) {
	t.Parallel()
	h := &hop{}
	got := Play(t, Pair{Go2Client, Go2Agent, JSONRPC}, h.route)
	around := got.Around(h.dialled())
	if len(around) != len(got.Arrivals)-1 {
		t.Errorf("%d of %d requests went around the hop, want all but the one for the card", len(around), len(got.Arrivals))
	}
	for _, a := range around {
		if strings.Contains(a.Target, ".well-known") || "http://"+a.Host != got.AgentURL {
			t.Errorf("%+v went around the hop, want only requests to %s for what is not the card", a, got.AgentURL)
		}
	}
	seen := strings.Join(got.Seen, "\n")
	if !strings.Contains(seen, got.AgentURL+"/rpc") || strings.Contains(seen, "{agent}/rpc") {
		t.Errorf("the client saw\n%s\nwant the agent's own URL in the card, not replaced", seen)
	}
}
