package card

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"a2atap/proxy/a2a"
)

// Valid JSON stays valid, and nothing but the tokens of URLs changes.
func FuzzApplyReplacements(f *testing.F) {
	for _, seed := range []string{
		`{"url":"http://a:1/x","additionalInterfaces":[{"url":"http:\/\/b","transport":"GRPC"}],` +
			`"supportedInterfaces":[{"url":"\u0068ttp://c/é"}]}`,
		`{"result":{"url":"https://u:p@[::1]:9/?q#f"},"url":"x"}`, "\ufeff{\"url\":\"\xff\"}", `{"url":""}`, `[]`,
		`{"url":"a://b","url":"c://d"}`,
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, doc []byte, rpc bool) {
		urls, _, ok := URLs(doc, rpc)
		if !ok && urls != nil {
			t.Fatal("URLs of what is no card")
		}
		var splices []Replacement
		rest := bytes.Clone(doc)
		for i := len(urls) - 1; i >= 0; i-- {
			u := urls[i]
			rest = append(rest[:u.Start:u.Start], rest[u.End:]...)
			splices = append([]Replacement{{u, u.Through("127.0.0.1:7001")}}, splices...)
		}
		out := Apply(doc, splices)
		if len(urls) == 0 {
			if !bytes.Equal(out, doc) {
				t.Fatal("changed without a reason")
			}
			return
		}
		if a2a.Parse(out).Err != nil {
			t.Fatalf("no JSON any more: %q", out)
		}
		after, _, _ := URLs(out, rpc)
		if len(after) != len(urls) {
			t.Fatalf("%d URLs, then %d", len(urls), len(after))
		}
		for i := len(after) - 1; i >= 0; i-- {
			u := after[i]
			if u.Text != splices[i].By || u.Pointer != urls[i].Pointer || u.Transport != urls[i].Transport {
				t.Fatalf("URL %d: got %+v, want %q", i, u, splices[i].By)
			}
			out = append(out[:u.Start:u.Start], out[u.End:]...)
		}
		if !bytes.Equal(out, rest) {
			t.Fatalf("outside the tokens: got %q, want %q", out, rest)
		}
	})
}

// Requests of the network decide nothing but whether they may ask for a card.
func FuzzCardRequest(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}`, `{"method":"tasks/get"}`,
		`[`, `{"method":{"xtended":1}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		q := &request{body: body, call: true}
		q.end()
		if !callsForCard(q.body) {
			return
		}
		var call struct{ Method string }
		if err := json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &call); err == nil &&
			!strings.Contains(call.Method, "xtended") {
			t.Fatalf("%q calls for a card", body)
		}
	})
}
