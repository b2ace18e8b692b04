package scenarios_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/jws"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/card"
	"a2atap/replay/refagent"
)

// A signing agent signs its card, and serves its key at /keys.
type signing struct {
	jku     string // of the signature; %s is the agent's origin
	key     string // replaces the key at /keys; empty serves the real key
	changed bool   // the card is changed after it was signed
	given   bool   // the prober is given the key
}

func (s signing) probe(t *testing.T) probe.Result {
	t.Helper()
	a, err := refagent.New("spec", refagent.Options{})
	must.Do(t, err)
	t.Cleanup(func() { a.Close() })
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	public := base64.RawURLEncoding.EncodeToString(private.Public().(ed25519.PublicKey))
	keys := fmt.Sprintf(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"key-1","x":%q}]}`, public)
	signed := agenttest.OnAnswer(func(r *http.Request, _ string, w *httptest.ResponseRecorder) {
		if !strings.HasSuffix(r.URL.Path, "/agent-card.json") {
			return
		}
		payload, err := jws.Canonical(w.Body.Bytes())
		expect.OK(t, err)
		head := map[string]string{"alg": "EdDSA", "kid": "key-1", "typ": "JOSE"}
		if s.jku != "" {
			head["jku"] = strings.ReplaceAll(s.jku, "%s", "http://"+r.Host)
		}
		header, err := json.Marshal(head)
		expect.OK(t, err)
		protected := base64.RawURLEncoding.EncodeToString(header)
		signature := base64.RawURLEncoding.EncodeToString(ed25519.Sign(private, jws.SigningInput(protected, payload)))
		card := map[string]any{}
		expect.OK(t, json.Unmarshal(payload, &card))
		card["signatures"] = []any{map[string]string{"protected": protected, "signature": signature}}
		if s.changed {
			card["description"] = "Another one."
		}
		text, err := json.Marshal(card)
		expect.OK(t, err)
		w.Body.Reset()
		w.Body.Write(text)
	})(a)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/keys" {
			signed.ServeHTTP(w, r)
			return
		}
		if s.key != "" {
			w.Write([]byte(s.key))
			return
		}
		w.Write([]byte(keys))
	}))
	t.Cleanup(server.Close)
	o := probe.Options{Scenarios: card.Signatures, Timeout: 5 * time.Second}
	if s.given {
		if o.Keys, err = jws.ParseKeySet([]byte(keys)); err != nil {
			t.Fatal(err)
		}
	}
	report := must.Get(probe.Run(t.Context(), server.URL+a.Path(), o))(t)
	if len(report.Results) != 1 {
		t.Fatalf("%d results, want 1", len(report.Results))
	}
	return report.Results[0]
}

func TestSignatureScenario(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		signing
		want probe.Status
	}{
		{"key of its own", signing{jku: "%s/keys"}, probe.Pass},
		{"given key", signing{given: true}, probe.Pass},
		{"changed", signing{jku: "%s/keys", changed: true}, probe.Failed},
		{"changed, given key", signing{given: true, changed: true}, probe.Failed},
		{"no keys", signing{jku: "%s/keys", key: "[]"}, probe.Failed},
		{"no key", signing{changed: true}, probe.Skipped},
		{"keys elsewhere", signing{jku: "https://keys.example/keys", changed: true}, probe.Skipped},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if r := tt.probe(t); r.Status != tt.want {
				t.Errorf("got %s: %s, want %s", r.Status, r.Message, tt.want)
			}
		})
	}
}
