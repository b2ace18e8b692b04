package client

import (
	"net/http"
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
		{nil, "http://grpc.example:443"}, // the card's first that is spoken here
		{[]Protocol{JSONRPC10, REST10}, "http://h/rpc"},
		{[]Protocol{JSONRPC03}, "http://h/old"},
	} {
		expect.Equal(t, tt.prefer, tt.want, must.Get(card.Choose(tt.prefer...))(t).URL)
	}
	only := &Card{Name: "g", Interfaces: []Interface{{"http://h", Protocol{"1.0", "WS"}, ""}}}
	if _, err := only.Choose(); err == nil ||
		err.Error() != `agent "g" offers A2A 1.0 WS; none of it is A2A 1.0 JSONRPC, A2A 1.0 HTTP+JSON, A2A 1.0 GRPC, A2A 0.3 JSONRPC, A2A 0.3 HTTP+JSON, A2A 0.3 GRPC, A2A 0.1 JSONRPC, A2A legacy JSONRPC` {
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
			"at the origin", "/x?y=z", "/.well-known/agent-card.json",
			[]string{"/x/.well-known/agent-card.json", "/x/.well-known/agent.json", "/.well-known/agent-card.json"},
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

// A card with members of wrong types is of use as far as the others go.
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
