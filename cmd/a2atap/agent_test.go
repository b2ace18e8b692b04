package main

import (
	"context"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/must"
)

// A lineWriter hands on what is written to it, a write at a time.
type lineWriter struct{ lines chan string }

func (w lineWriter) Write(p []byte) (int, error) {
	w.lines <- string(p)
	return len(p), nil
}

// startAgent runs the agent command until the test ends. It returns the URL that the command prints first, and what it
// writes to standard error.
func startAgent(t *testing.T, args ...string) (url string, notices <-chan string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, errs := lineWriter{make(chan string, 16)}, lineWriter{make(chan string, 64)}
	var ended sync.WaitGroup
	ended.Go(func() {
		e := cli.Env{Out: out, Err: errs, Getenv: os.Getenv}
		if code := run(ctx, e, append([]string{"agent"}, args...)); code != cli.ExitOK {
			t.Errorf("the agent ends with %d", code)
			out.lines <- ""
		}
	})
	t.Cleanup(func() { stop(); ended.Wait() })
	_, url, _ = strings.Cut(strings.TrimSpace(<-out.lines), " ")
	return url, errs.lines
}

func postJSON(t *testing.T, url, body string) string {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body)))(t)
	resp := must.Get(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	text := must.Get(io.ReadAll(resp.Body))(t)
	return string(text)
}

// A receiver with a certificate of its own is trusted where --webhook-ca names it, and nowhere else.
func TestWebhookAuthority(t *testing.T) {
	got := make(chan string, 16)
	hook := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- string(text)
	}))
	defer hook.Close()
	file := filepath.Join(t.TempDir(), "hook.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw})
	must.Do(t, os.WriteFile(file, block, 0o600))
	send := `{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"t1","sessionId":"s",` +
		`"message":{"role":"user","parts":[{"type":"text","text":"task-failure"}]},` +
		`"pushNotification":{"url":"` + hook.URL + `/a"}}}`

	url, _ := startAgent(t, "legacy", "--push", "--webhook-ca", file)
	postJSON(t, url+"/", send)
	if text := <-got; !strings.Contains(text, `"taskId":"t1"`) {
		t.Errorf("the receiver got %s", text)
	}
	url, notices := startAgent(t, "legacy", "--push", "--step", "1ms")
	postJSON(t, url+"/", send)
	for text := range notices {
		if strings.Contains(text, "push notification of task t1 to "+hook.URL) {
			if !strings.Contains(text, "certificate") || strings.Contains(text, "/a") {
				t.Errorf("got %q", text)
			}
			break
		}
	}
}

// The card that the page about agents shows can be served, and its program be a skill of it.
func TestCardOfThePage(t *testing.T) {
	page := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "agents.md")))(t)
	_, rest, _ := strings.Cut(string(page), "```json\n")
	card, _, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("the page shows no card")
	}
	file := filepath.Join(t.TempDir(), "travel.json")
	must.Do(t, os.WriteFile(file, []byte(card), 0o600))
	_, rest, _ = strings.Cut(rest, "```sh\n")
	program, _, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("the page shows no program")
	}
	script := filepath.Join(t.TempDir(), "book.sh")
	must.Do(t, os.WriteFile(script, []byte(program), 0o600))
	url, _ := startAgent(t, "spec", "--card", file, "--skill", "book-flight=sh "+script)
	booked := postJSON(t, url+"/message:send",
		`{"message":{"messageId":"b","role":"ROLE_USER","parts":[{"text":"book-flight to Rome"}]}}`)
	for _, want := range []string{
		"TASK_STATE_COMPLETED", `{"text":"booked"}`, `{"text":"seat "},{"text":"12A"}`, `{"data":{"EUR":90}}`,
	} {
		if !strings.Contains(booked, want) {
			t.Errorf("got %s, want %s in it", booked, want)
		}
	}
	text := postJSON(t, url+"/message:send",
		`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"plan a trip"}]}}`)
	if !strings.Contains(text, "[plan] Received initial message: plan a trip") {
		t.Errorf("got %s", text)
	}
}
