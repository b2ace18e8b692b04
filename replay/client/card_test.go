package client

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

const hybridCard = `{"name":"Hybrid","description":"d","version":"2","protocolVersion":"0.3.0","url":"/old","preferredTransport":"JSONRPC",
"additionalInterfaces":[{"url":"/old","transport":"JSONRPC"},{"url":"http://h/rest03","transport":"HTTP+JSON"}],
"supportedInterfaces":[{"url":"grpc.example:443","protocolBinding":"GRPC","protocolVersion":"1.0"},
 {"url":"http://h/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0.1","tenant":"acme"},{"url":"http://h/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
"capabilities":{"streaming":true,"pushNotifications":true},"supportsAuthenticatedExtendedCard":true,
"skills":[{"id":"s","name":"S","description":"d","tags":["t"],"examples":["e"]}]}`

func TestDecodeCard(t *testing.T) {
	card := must.Get(decodeCard([]byte(hybridCard), "http://h/.well-known/agent-card.json"))(t)
	want := &Card{
		URL: "http://h/.well-known/agent-card.json", Name: "Hybrid", Description: "d", Version: "2", Streaming: true,
		Push: true, Extended: true,
		Interfaces: []Interface{
			{"http://grpc.example:443", GRPC10, ""},
			{"http://h/rest", REST10, "acme"},
			{"http://h/rpc", JSONRPC10, ""},
			{"http://h/old", JSONRPC03, ""},
			{"http://h/rest03", Protocol{"0.3", "HTTP+JSON"}, ""},
		},
		Skills: []Skill{{"s", "S", "d", []string{"t"}, []string{"e"}}}, Raw: []byte(hybridCard),
	}
	expect.Same(t, "", want, card)
}

func TestChoose(t *testing.T) {
	card := must.Get(decodeCard([]byte(hybridCard), "http://h/"))(t)
	for _, tt := range []struct {
		prefer []Protocol
		want   string
	}{
		{nil, "http://grpc.example:443"}, // the card's first supported interface
		{[]Protocol{JSONRPC10, REST10}, "http://h/rpc"},
		{[]Protocol{JSONRPC03}, "http://h/old"},
	} {
		expect.Equal(t, tt.prefer, tt.want, must.Get(card.Choose(tt.prefer...))(t).URL)
	}
	only := &Card{Name: "g", Interfaces: []Interface{{"http://h", Protocol{"1.0", "WS"}, ""}}}
	if _, err := only.Choose(); err == nil ||
		err.Error() != `agent "g" offers A2A 1.0 WS, but not A2A 1.0 JSONRPC, A2A 1.0 HTTP+JSON, A2A 1.0 GRPC, A2A 0.3 JSONRPC, A2A 0.3 HTTP+JSON, A2A 0.3 GRPC, A2A 0.1 JSONRPC, A2A legacy JSONRPC` {
		t.Errorf("got %v, want what is offered and what is spoken", err)
	}
	expect.ErrorHas(t, "", "offers no interface", expect.Err(new(Card).Choose(JSONRPC10)))
}

func TestDiscover(t *testing.T) {
	for _, tt := range []struct {
		name, url, at string
		asked         []string
	}{
		{"beneath", "/x", "/x/.well-known/agent-card.json", []string{"/x/.well-known/agent-card.json"}},
		{
			"old name", "/x/", "/x/.well-known/agent.json",
			[]string{"/x/.well-known/agent-card.json", "/x/.well-known/agent.json"},
		},
		{
			"at the origin", "/old?y=z", "/.well-known/agent-card.json",
			[]string{"/old/.well-known/agent-card.json", "/old/.well-known/agent.json", "/.well-known/agent-card.json"},
		},
		{"the card itself", "/my/card.json", "/my/card.json", []string{"/my/card.json"}},
		{"nowhere", "", "", []string{"/.well-known/agent-card.json", "/.well-known/agent.json"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := agent(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != tt.at {
					http.NotFound(w, r)
					return
				}
				reply(200, "application/json", hybridCard)(w, r)
			})
			c, err := Connect(t.Context(), a.url+tt.url, Options{Prefer: []Protocol{JSONRPC03}})
			if (err == nil) != (tt.at != "") {
				t.Errorf("got error %v", err)
			}
			if err == nil && (c.Endpoint().URL != a.url+"/old" || c.Card().Name != "Hybrid") {
				t.Errorf("got %v, %v, want the endpoint of the card", c.Endpoint(), c.Card())
			}
			var asked []string
			for range tt.asked {
				s := <-a.seen
				asked = append(asked, s.path)
				expect.Equal(t, "a 0.3 client asked for version", "", s.header.Get("A2A-Version"))
			}
			if diff := cmp.Diff(tt.asked, asked); diff != "" || len(a.seen) > 0 {
				t.Errorf("asked (-want +got):\n%s and %d more", diff, len(a.seen))
			}
		})
	}
	for _, url := range []string{"ftp://x", "127.0.0.1:80", "http://127.0.0.1:1"} {
		if _, err := Discover(t.Context(), url, Options{}); err == nil ||
			!strings.HasPrefix(err.Error(), "find the card of "+url) {
			t.Errorf("%s: got %v, want what was attempted", url, err)
		}
	}
	a := agent(t, reply(200, "application/json", `[]`))
	expect.ErrorHas(t, "",
		"read the card at "+a.url+"/.well-known/agent-card.json", expect.Err(Discover(t.Context(), a.url, Options{})))
}

// S2-M3, S2-E1: the client uses the given address. A card elsewhere on the host applies only if it names the address;
// any other is a suggestion.
func TestGivenAddress(t *testing.T) {
	const named, other = `{"name":"N","supportedInterfaces":[
		{"url":"/other","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},
		{"url":"/given/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, hybridCard
	missing := reply(404, "text/plain", "404 page not found")
	card := func(text string) http.HandlerFunc { return reply(200, "application/json", text) }
	const suggestion = "/.well-known/agent-card.json is for another address: to use that agent, give http://"
	for _, tt := range []struct {
		name          string
		below, origin http.HandlerFunc
		want, not     string // in the error; empty for none
		noCard        bool
	}{
		{name: "own card", below: card(named), origin: card(other)},
		{name: "the origin's names it", below: missing, origin: card(named)},
		{name: "no card", below: missing, origin: card(other), want: suggestion, noCard: true},
		{name: "gone", below: reply(410, "", ""), origin: card(other), want: suggestion, noCard: true},
		{name: "none anywhere", below: missing, origin: missing, want: "HTTP 404", not: "to use that agent", noCard: true},
		{name: "503", below: reply(503, "", ""), origin: card(other), want: "HTTP 503"},
		{name: "503 and named", below: reply(503, "", ""), origin: card(named), want: "HTTP 503"},
		{name: "401", below: reply(401, "", ""), origin: card(other), want: suggestion},
		{name: "a page", below: reply(200, "text/html", "<html>"), origin: card(other), want: suggestion},
		{name: "half a card", below: card(`{"name":`), origin: card(other), want: "it is not a card"},
		{
			name: "a redirect to the origin's", origin: card(named),
			below: func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/.well-known/agent-card.json", http.StatusFound)
			},
		},
		{
			name: "a redirect in a circle", origin: card(other), want: "it redirects more than 10 times",
			below: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) },
		},
		{
			name: "cut", origin: card(other), want: "EOF", not: "to use that agent",
			below: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.HandleFunc("/given/", tt.below)
			mux.HandleFunc("/.well-known/", tt.origin)
			server := httptest.NewServer(mux)
			defer server.Close()
			for _, given := range []string{"/given", "/given/", "/given?x=y"} {
				c, err := Connect(t.Context(), server.URL+given, Options{Prefer: []Protocol{JSONRPC10, REST10}})
				switch {
				case tt.want == "":
					must.Do(t, err)
					expect.Equal(t, given, server.URL+"/given", c.Endpoint().URL)
				default:
					expect.ErrorHas(t, given, tt.want, err)
					if tt.not != "" && strings.Contains(err.Error(), tt.not) || errors.Is(err, ErrNoCard) != tt.noCard {
						t.Errorf("%s: got %v", given, err)
					}
				}
			}
			_, err := Connect(t.Context(), server.URL+"/given", Options{Prefer: []Protocol{REST10}})
			if tt.name == "the origin's names it" {
				expect.ErrorHas(t, "another interface of the card", "offers A2A 1.0 JSONRPC, but not A2A 1.0 HTTP+JSON; the card at", err)
			}
		})
	}
}

// A card with members of wrong types is usable as far as its other members allow.
func TestDecodeMistypedCard(t *testing.T) {
	card, err := decodeCard([]byte(`{"name":["n"],"url":"http://h/a","capabilities":{"streaming":"true",
		"pushNotifications":true},"skills":[{"id":1,"name":"one","examples":"e"},{"id":"two"}]}`), "http://h/")
	must.Do(t, err)
	want := &Card{
		URL: "http://h/", Push: true, Skills: []Skill{{Name: "one"}, {ID: "two"}},
		Interfaces: []Interface{{URL: "http://h/a", Protocol: JSONRPC03}},
	}
	card.Raw, card.Possible = nil, nil
	expect.Same(t, "", want, card)
	for _, body := range []string{`[{"name":"n"}]`, `{"name":"n"`, `"n"`, ``} {
		if card, err := decodeCard([]byte(body), "http://h/"); err == nil {
			t.Errorf("%q: read as %+v", body, card)
		}
	}
}
