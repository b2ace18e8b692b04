package client

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

// deaf is an agent that nobody reaches.
type deaf struct{}

func (deaf) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("nobody listens")
}

// Every fault says what it does, changes a request of the operation that it is about, and does so alone.
func TestFaultsChangeRequests(t *testing.T) {
	for _, p := range Protocols() {
		for _, f := range Faults(p) {
			if !strings.HasSuffix(f.Doc, ".") {
				t.Errorf("%s: doc %q is no sentence", f.Slug, f.Doc)
			}
			if got, want := requestsOf(t, p, f.Slug, f.On), requestsOf(t, p, "", f.On); got == want {
				t.Errorf("%s over %s: nothing is changed: %s", f.Slug, p, got)
			}
		}
	}
}

// requestsOf returns what a client sends for an operation on a task.
func requestsOf(t *testing.T, p Protocol, fault string, op Operation) string {
	t.Helper()
	var sent strings.Builder
	n := 0
	c, err := New(Interface{URL: "http://127.0.0.1:9", Protocol: p}, Options{
		Break: named(fault),
		NewID: func() string { n++; return "id-" + string(rune('a'+n)) },
		Edit: func(o *Outgoing) {
			sent.WriteString(o.Method + " " + o.URL + "\n")
			o.Header.Write(&sent) //nolint:errcheck // into memory
			sent.Write(o.Body)
		},
		Transport: deaf{},
	})
	if err != nil {
		t.Fatal(err)
	}
	if op == "" {
		op = SendMessage
	}
	ask := func() error { return c.Ask(t.Context(), op, &Task{ID: "t1", ContextID: "c1"}) }
	switch op { // for these Ask would have to create a config first
	case GetPushConfig:
		ask = func() error { _, err := c.GetPush(t.Context(), "t1", "p1"); return err }
	case DeletePushConfig:
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
	_, err := New(Interface{URL: "http://127.0.0.1:9", Protocol: REST10}, Options{Break: Named("rpc-request-jsonrpc")})
	if !errors.Is(err, ErrNoFault) || !strings.Contains(err.Error(), "json-wellformed") {
		t.Errorf("error %v; want one that names the faults that there are", err)
	}
	if _, err := FaultOf(JSONRPC10, "rpc-request-jsonrpc"); err != nil {
		t.Error(err)
	}
}

// named is Named, but for a faithful client.
func named(fault string) func(Protocol) (func(*Outgoing), error) {
	if fault == "" {
		return nil
	}
	return Named(fault)
}
