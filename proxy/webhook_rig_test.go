package proxy_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
	"a2atap/proxy/webhook"
)

// hookKey is the key that webhooks are sealed with in tests.
var hookKey = []byte("0123456789abcdef0123456789abcdef")

// withWebhooks leads webhooks through taps.
func withWebhooks(o *proxy.Options, _ *recording.Options) {
	o.Webhooks = &webhook.Spec{Key: hookKey}
}

// A taker is a server that keeps the requests that it receives, and gives the configured answer.
type taker struct {
	*httptest.Server
	mu     sync.Mutex
	got    []string // method, target, and body of each request
	heads  []http.Header
	hosts  []string
	length []int64
	answer http.HandlerFunc // nil answers with 200 and {}
}

func newTaker(t *testing.T, answer http.HandlerFunc) *taker {
	t.Helper()
	k := &taker{answer: answer}
	k.Server = httptest.NewServer(http.HandlerFunc(k.serve))
	t.Cleanup(k.Close)
	return k
}

func (k *taker) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	k.mu.Lock()
	k.got = append(k.got, r.Method+" "+r.RequestURI+" "+string(body))
	k.heads, k.hosts = append(k.heads, r.Header.Clone()), append(k.hosts, r.Host)
	k.length = append(k.length, r.ContentLength)
	k.mu.Unlock()
	if k.answer != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		k.answer(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, "{}")
}

// last returns the last request.
func (k *taker) last(t *testing.T) string {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.got) == 0 {
		t.Fatal("nothing came")
	}
	return k.got[len(k.got)-1]
}

var addressOfOurs = regexp.MustCompile(`https?://[^"\s]*?/\.a2atap/webhook/[A-Za-z0-9_-]+`)

// given returns the tap's addresses in a text.
func given(text string) []string { return addressOfOurs.FindAllString(text, -1) }

// post sends JSON to a URL.
func post(t *testing.T, client *http.Client, to, body string, header ...string) (*http.Response, string) {
	t.Helper()
	return fetch(t, client, "POST", to, strings.NewReader(body),
		append([]string{"Content-Type", "application/json", "User-Agent", "planner/1"}, header...)...)
}

// configure sends a config for a webhook through a tap, and returns the address that the agent was given.
func configure(t *testing.T, tap *proxy.Tap, agent *taker, hook string) string {
	t.Helper()
	post(t, newClient(t), tap.URL(), setConfig(hook))
	addresses := given(agent.last(t))
	if len(addresses) != 1 {
		t.Fatalf("the agent got %s", agent.last(t))
	}
	return addresses[0]
}

// setConfig is a call of 1.0 that sets a config.
func setConfig(hook string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"CreateTaskPushNotificationConfig","params":{"taskId":"t1","id":"p1","url":"` +
		hook + `"}}`
}

func parseURL(t *testing.T, s string) *url.URL {
	t.Helper()
	return must.Get(url.Parse(s))(t)
}

// noted returns the notes of all exchanges.
func noted(all []*capture.Exchange) string {
	var notes []string
	for _, x := range all {
		notes = append(notes, x.Notes...)
	}
	return strings.Join(notes, "\n")
}
