package peers

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A User asks an agent something, with the Go SDK's 2.x line.
type User struct {
	Text  string
	Trace string // the traceparent from which its requests derive theirs; empty for none
	Proxy string // the URL of the proxy that it uses; empty for none
}

// Ask asks the agent whose card is found at agentURL, waits for the task to end, and returns it. The id is the
// message's.
func (u User) Ask(ctx context.Context, t testing.TB, agentURL string) (id string, task Observation, err error) {
	client := newHTTPClient(t)
	if u.Proxy != "" {
		proxy, err := url.Parse(u.Proxy)
		if err != nil {
			return "", Observation{}, err
		}
		client.Transport.(*http.Transport).Proxy = http.ProxyURL(proxy)
	}
	client.Transport = &asUser{inner: client.Transport, trace: u.Trace}
	agent := Go2Client.driver(client).(*go2Driver)
	if _, err := agent.discover(ctx, agentURL, JSONRPC); err != nil {
		return "", Observation{}, fmt.Errorf("read the card of %s: %w", agentURL, err)
	}
	request := agent.request(turn{text: u.Text})
	id = request.Message.ID
	answer, err := agent.client.SendMessage(ctx, request)
	if err != nil {
		return id, Observation{}, fmt.Errorf("send to %s: %w", agentURL, err)
	}
	ended, whole := answer.(*a2a.Task)
	if !whole {
		return id, Observation{}, fmt.Errorf("%s answers with a %T, not a task", agentURL, answer)
	}
	task, err = go2Task(ended, nil)
	return id, task, err
}

// An asUser transport adds the user and the trace to requests.
type asUser struct {
	inner http.RoundTripper
	trace string
}

// RoundTrip implements http.RoundTripper.
func (a *asUser) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", "user/1.0")
	if a.trace != "" {
		r.Header.Set("Traceparent", childOf(a.trace))
	}
	return a.inner.RoundTrip(r)
}
