package main

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/ca"
	"a2atap/proxy/must"
	"a2atap/replay/refagent"
)

// writePEM writes blocks of one kind into a file of its own, and returns its name.
func writePEM(t *testing.T, kind string, blocks ...[]byte) string {
	t.Helper()
	var text []byte
	for _, b := range blocks {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b})...)
	}
	name := filepath.Join(t.TempDir(), strings.ReplaceAll(kind, " ", "-")+".pem")
	must.Do(t, os.WriteFile(name, text, 0o600))
	return name
}

// From before A2A 0.1, an agent may know of no webhook that comes with a message: then it is set by a call of its own.
// The receiver proves itself by the certificate that it is given.
func TestWebhookOfItsOwn(t *testing.T) {
	authority := must.Get(ca.Open(t.TempDir()))(t)
	leaf := must.Get(authority.Leaf("127.0.0.1"))(t)
	key := must.Get(x509.MarshalPKCS8PrivateKey(leaf.PrivateKey))(t)
	roots := x509.NewCertPool()
	roots.AddCert(authority.Certificate())
	agent, err := refagent.New("legacy", refagent.Options{Push: true, StepTime: time.Millisecond, WebhookRoots: roots})
	must.Do(t, err)
	var set atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call struct {
			JSONRPC string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Method  string          `json:"method"`
			Params  map[string]any  `json:"params"`
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if json.Unmarshal(body, &call) == nil {
			if call.Params["pushNotification"] != nil {
				delete(call.Params, "pushNotification")
			}
			if call.Method == "tasks/pushNotification/set" {
				set.Store(true)
			}
			if body, err = json.Marshal(call); err != nil {
				t.Error(err)
			}
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		agent.ServeHTTP(w, r)
	}))
	defer func() {
		agent.Close()
		server.Close()
	}()
	certificate, private := writePEM(t, "CERTIFICATE", leaf.Certificate...), writePEM(t, "PRIVATE KEY", key)
	say := func(in string, args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		e := cli.Env{In: strings.NewReader(in), Out: &out, Err: &errs, Getenv: os.Getenv, Now: time.Now}
		code := run(t.Context(), e, append([]string{"send", server.URL}, args...))
		return code, out.String(), errs.String()
	}

	// The task waits for input, so that it still exists when the notification is sent.
	code, out, errs := say("done\n", "multi-turn hello", "--push", "--interactive", "--webhook-cert", certificate,
		"--webhook-key", private, "--poll-interval", "1ms", "--poll-timeout", "30s")
	if code != cli.ExitOK || !strings.Contains(out, "push: status: completed") || !set.Load() {
		t.Errorf("exit %d, set %v:\n%s%s", code, set.Load(), out, errs)
	}
	_, _, errs = say("", "x", "--push", "--webhook-cert", private, "--webhook-key", certificate)
	if !strings.Contains(errs, "--webhook-cert "+private) {
		t.Errorf("got %q, want which files are wrong", errs)
	}
}
