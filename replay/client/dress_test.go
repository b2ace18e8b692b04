package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// Every request, including the card's, has what the options add. Credentials override headers, and no message
// contains them.
func TestEveryRequestIsDressed(t *testing.T) {
	a := agent(t, reply(404, "application/json", `{"error":{"code":404,"message":"no"}}`))
	o := Options{
		Header:     http.Header{"Authorization": {"Basic loses"}, "X-Trace": {"one", "two"}},
		A2AVersion: "1.0.1", Tenant: "t 1",
		Authorize: func(_ context.Context, out *Outgoing) error {
			out.Header.Set("Authorization", "Bearer wins")
			out.URL += "?key=s3cretpw"
			return nil
		},
	}
	_, err := Discover(t.Context(), a.url, o)
	expect.ErrorIs(t, "", ErrNoCard, err)
	c := speak(t, a, REST10, o)
	_, getErr := c.Get(t.Context(), "t", nil)
	for _, want := range []string{"/.well-known/agent-card.json", "/.well-known/agent.json", "/a/t%201/tasks/t"} {
		got := <-a.seen
		if got.path != want+"?key=s3cretpw" || got.header.Get("Authorization") != "Bearer wins" ||
			got.header.Get("A2A-Version") != "1.0.1" || len(got.header.Values("X-Trace")) != 2 {
			t.Errorf("got %+v, want %s with all that the options say", got, want)
		}
	}
	c, newErr := New(Interface{URL: "http://127.0.0.1:1", Protocol: REST10}, o)
	must.Do(t, newErr)
	_, downErr := c.Get(t.Context(), "t", nil)
	for _, err := range []error{err, getErr, downErr} {
		if err == nil || strings.Contains(err.Error(), "s3cretpw") || strings.Contains(err.Error(), "wins") {
			t.Errorf("got %v, want an error without credentials", err)
		}
	}
	o.Authorize = func(context.Context, *Outgoing) error { return errors.New("none today") }
	expect.ErrorHas(t, "", "none today", expect.Err(Discover(t.Context(), a.url, o)))
	expect.Equal(t, "a request without credentials was sent", 0, len(a.seen))
}

// A redirect to another origin carries no credentials, whatever their name.
func TestRedirectsLeaveCredentials(t *testing.T) {
	other := agent(t, reply(200, "application/json", taskResult))
	a := agent(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.url+"/elsewhere", http.StatusFound)
	})
	c := speak(t, a, REST10, Options{Authorize: func(_ context.Context, out *Outgoing) error {
		out.Header.Set("Authorization", "Bearer s3cretpw")
		out.Header.Set("X-Api-Key", "s3cretpw")
		out.URL += "?key=s3cretpw"
		return nil
	}})
	must.Get(c.Get(t.Context(), "t", nil))(t)
	got := <-other.seen
	for name, values := range got.header {
		if strings.Contains(strings.Join(values, " "), "s3cretpw") {
			t.Errorf("%s went along", name)
		}
	}
	if got.header.Get("A2A-Version") != "1.0" || strings.Contains(got.path, "s3cretpw") {
		t.Errorf("got %+v", got)
	}
}

// A client that must stay at the given address rejects a redirect to another one, and names its target.
func TestRedirectsWhileStaying(t *testing.T) {
	other := agent(t, reply(200, "application/json", taskResult))
	for name, elsewhere := range map[string]bool{"elsewhere": true, "here": false} {
		var to string
		a := agent(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/there" {
				reply(200, "application/json", taskResult)(w, r)
				return
			}
			http.Redirect(w, r, to, http.StatusFound)
		})
		if to = a.url + "/there"; elsewhere {
			to = other.url + "/there?key=s3cretpw"
		}
		_, err := speak(t, a, REST10, Options{Stay: true}).Get(t.Context(), "t", nil)
		switch {
		case !elsewhere:
			must.Do(t, err)
		case !errors.Is(err, ErrElsewhere), !strings.Contains(err.Error(), other.url+"/there"), strings.Contains(err.Error(), "s3cretpw"):
			t.Errorf("%s: got %v", name, err)
		}
	}
	expect.Equal(t, "requests that reached the other address", 0, len(other.seen))
}

// A card leads credentials to no address other than the given one, unless the options name that address too.
func TestCardsLeaveCredentials(t *testing.T) {
	other := agent(t, reply(200, "application/json", taskResult))
	a := agent(t, reply(200, "application/json",
		`{"supportedInterfaces":[{"url":"`+other.url+`","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}]}`))
	authorize := func(_ context.Context, out *Outgoing) error {
		out.Header.Set("X-Api-Key", "s3cretpw")
		return nil
	}
	for name, o := range map[string]Options{
		"token": {Token: "s3cretpw"}, "header": {Header: http.Header{"X-Key": {"s3cretpw"}}},
		"authorize": {Authorize: authorize},
		"another":   {Authorize: authorize, CredentialsTo: []string{a.url, "http://other.example"}},
		"none":      {},
		"named":     {Authorize: authorize, CredentialsTo: []string{other.url}},
	} {
		c, err := Connect(t.Context(), a.url, o)
		if name == "none" || name == "named" {
			if err == nil {
				_, err = c.Get(t.Context(), "t", nil)
			}
			if got := <-other.seen; err != nil || (got.header.Get("X-Api-Key") != "") != (name == "named") {
				t.Errorf("%s: %v, got %v", name, err, got.header)
			}
			continue
		}
		if !errors.Is(err, ErrPrivate) || !strings.Contains(err.Error(), other.url) || len(other.seen) > 0 {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A missing card and a protected card are different errors.
func TestNoCard(t *testing.T) {
	for status, want := range map[int]bool{404: true, 405: true, 410: true, 401: false, 403: false, 500: false} {
		a := agent(t, reply(status, "application/json", `{}`))
		if _, err := Connect(t.Context(), a.url+"/a", Options{}); errors.Is(err, ErrNoCard) != want {
			t.Errorf("HTTP %d: got %v, want no card: %v", status, err, want)
		}
	}
}

func TestPatch(t *testing.T) {
	for _, tt := range []struct {
		protocol    Protocol
		patch, want string
	}{
		{
			REST10, `{"message":{"role":null,"metadata":{"n":12345678901234567890,"t":"<&>"}},"configuration":{"historyLength":0}}`,
			`{"configuration":{"historyLength":0},"message":{"messageId":"id","metadata":{"n":12345678901234567890,"t":"<&>"},"parts":[{"text":"x"}]}}`,
		},
		{
			JSONRPC03, `{"configuration":{"blocking":false}}`,
			`{"jsonrpc":"2.0","id":"id","method":"message/send","params":{"configuration":{"blocking":false},"message":{"kind":"message","messageId":"id","parts":[{"kind":"text","text":"x"}],"role":"user"}}}`,
		},
	} {
		a := agent(t, reply(200, "application/json", taskResult))
		speak(t, a, tt.protocol, Options{}).Send(t.Context(), Text("x"), SendOptions{Patch: json.RawMessage(tt.patch)})
		expect.Same(t, tt.protocol, tt.want, (<-a.seen).body)
	}
	a := agent(t, reply(200, "application/json", taskResult))
	c := speak(t, a, REST10, Options{})
	for _, patch := range []string{`[]`, `5`, `{`, `{} {}`, `null`} {
		o := SendOptions{Patch: json.RawMessage(patch)}
		_, err := c.Send(t.Context(), Text("x"), o)
		for _, err := range []error{err, drain(c.Stream(t.Context(), Text("x"), o))} {
			expect.ErrorHas(t, patch, "read the patch", err)
		}
	}
	expect.Equal(t, "a message with a broken patch was sent", 0, len(a.seen))
}

// A stream that breaks off is reported. The end marker of model providers is not an event.
func TestCutStreams(t *testing.T) {
	const event = "data: {\"task\":{\"id\":\"t\"}}\n\n"
	a := agent(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write([]byte(event + "data: [DONE]\n\n" + event))
		http.NewResponseController(w).Flush() // an error means that the client has left
		panic(http.ErrAbortHandler)
	})
	n := 0
	var last error
	for e, err := range speak(t, a, REST10, Options{}).Subscribe(t.Context(), "t") {
		if last = err; err == nil {
			n++
			expect.Equal(t, e.Result, `{"task":{"id":"t"}}`, string(e.Result))
		}
	}
	if n != 2 || !errors.Is(last, ErrCut) {
		t.Errorf("got %d events, then %v; want 2, then that it was cut", n, last)
	}
}
