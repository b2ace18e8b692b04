package fault

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
)

// deaf is an unreachable agent.
type deaf struct{}

func (deaf) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("nobody listens")
}

// Every fault has a description, and by itself changes a request of its operation.
func TestFaultsChangeRequests(t *testing.T) {
	for _, p := range client.Protocols() {
		for _, f := range All(p) {
			if !strings.HasSuffix(f.Doc, ".") {
				t.Errorf("%s: doc %q is no sentence", f.Slug, f.Doc)
			}
			if got, want := requestsOf(t, p, f.Slug, f.On), requestsOf(t, p, "", f.On); got == want {
				t.Errorf("%s over %s: nothing is changed: %s", f.Slug, p, got)
			}
		}
	}
}

// requestsOf returns the requests that a client sends for an operation on a task.
func requestsOf(t *testing.T, p client.Protocol, fault string, op a2a.Operation) string {
	t.Helper()
	var sent strings.Builder
	n := 0
	c := must.Get(client.New(client.Interface{URL: "http://127.0.0.1:9", Protocol: p}, client.Options{
		Break: named(fault),
		NewID: func() string { n++; return "id-" + string(rune('a'+n)) },
		Edit: func(o *client.Outgoing) {
			sent.WriteString(o.Method + " " + o.URL + "\n")
			o.Header.Write(&sent) //nolint:errcheck // into memory
			sent.Write(o.Body)
		},
		Transport: deaf{},
	}))(t)
	ask := func() error { return c.Ask(t.Context(), op, &client.Task{ID: "t1", ContextID: "c1"}) }
	switch op { // for these Ask would have to create a config first
	case a2a.GetPushConfig:
		ask = func() error { _, err := c.GetPush(t.Context(), "t1", "p1"); return err }
	case a2a.DeletePushConfig:
		ask = func() error { return c.DeletePush(t.Context(), "t1", "p1") }
	}
	for range 2 {
		if err := ask(); err == nil {
			t.Fatalf("%s: nobody listens, and yet it is answered", op)
		}
	}
	return sent.String()
}

func TestUnknownFault(t *testing.T) {
	_, err := client.New(client.Interface{URL: "http://127.0.0.1:9", Protocol: client.REST10},
		client.Options{Break: Named("rpc-request-jsonrpc")})
	if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "json-wellformed") {
		t.Errorf("error %v; want one that names the faults that there are", err)
	}
	expect.OK(t, expect.Err(Find(client.JSONRPC10, "rpc-request-jsonrpc")))
}

// named is Named, except that an empty name means a faithful client.
func named(fault string) func(client.Protocol) (func(*client.Outgoing), error) {
	if fault == "" {
		return nil
	}
	return Named(fault)
}
