package replay

import (
	"strings"
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client/auth"
)

// An agent may have two bindings at the same path on two ports: each is followed to where the live card has it.
func TestInterfacesOnSeveralPorts(t *testing.T) {
	card := func(rpc, rest string) a2a.Card {
		return a2a.DecodeCard(a2a.Parse([]byte(`{"supportedInterfaces":[{"url":"` + rpc + `","protocolBinding":"JSONRPC",` +
			`"protocolVersion":"1.0"},{"url":"` + rest + `","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}]}`)).Root)
	}
	e := must.Get(newEndpoints("http://127.0.0.1:1"))(t)
	e.learn(card("http://recorded:8/", "http://recorded:9/"), card("http://127.0.0.1:1/", "http://127.0.0.1:2/"))
	for from, to := range map[string]string{"http://recorded:8": "127.0.0.1:1", "http://recorded:9": "127.0.0.1:2"} {
		if at := e.locate(from, "/message:send"); at.host != to {
			t.Errorf("a request to %s goes to %s, want %s", from, at.host, to)
		}
	}
}

// A card leads requests with credentials only to the agent's address, even on one machine, unless another address was
// named too.
func TestCardsLeaveCredentials(t *testing.T) {
	card := func(url string) a2a.Card {
		return a2a.DecodeCard(a2a.Parse([]byte(`{"supportedInterfaces":[{"url":"` + url +
			`","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`)).Root)
	}
	for _, tt := range []struct {
		name      string
		authorize Authorizer
		to        []string
		stay      bool
		live      string // interface of the live card
		want      string // where a call goes
	}{
		{"no credentials", nil, nil, false, "http://127.0.0.1:2/b", "http://127.0.0.1:2/b"},
		{"another port", auth.Bearer("t"), nil, false, "http://127.0.0.1:2/b", "http://127.0.0.1:1/a"},
		{"another scheme", auth.Bearer("t"), nil, false, "https://localhost/b", "http://127.0.0.1:1/a"},
		{"named", auth.Bearer("t"), []string{"http://localhost:2"}, false, "http://127.0.0.1:2/b", "http://127.0.0.1:2/b"},
		{"another machine", auth.Bearer("t"), []string{"http://b.example"}, false, "http://b.example/b", "http://127.0.0.1:1/a"},
		{"staying", nil, nil, true, "http://127.0.0.1:2/b", "http://127.0.0.1:1/a"},
		{"staying, another path", nil, nil, true, "http://localhost:1/b", "http://127.0.0.1:1/b"},
		{"another spelling", auth.Bearer("t"), nil, false, "http://0.0.0.0:1/b", "http://127.0.0.1:1/b"},
	} {
		p := &player{opts: Options{Authorize: tt.authorize, CredentialsTo: tt.to, Stay: tt.stay}}
		target := must.Get(p.newTarget("booker", "http://127.0.0.1:1/a"))(t)
		notes := strings.Join(target.endpoints.learn(card("http://recorded:9/a"), card(tt.live)), "\n")
		at := target.endpoints.locate("http://recorded:9/a", "/a")
		expect.Equal(t, tt.name+": a call goes to", tt.want, at.scheme+"://"+at.host+at.target)
		if stays := tt.want == "http://127.0.0.1:1/a"; stays != strings.Contains(notes, "so requests are not sent there") {
			t.Errorf("%s: noted is %q", tt.name, notes)
		}
	}
}
