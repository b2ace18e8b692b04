//go:build linux && !race

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/must"
	"a2atap/replay/refagent/hostile"
)

// What a recorder may take while it is attacked, and how long a call and its end may take on a busy machine.
const (
	attackCeiling = 160 << 20
	attackDelay   = 5 * time.Second
	attackEnd     = 5 * time.Second
)

// TestHostileAgentsAreRecorded asks each hostile agent many times at once through a recorder, and ends it while most
// answers are still to be judged. The calls pass at once, the memory has a ceiling, and the end is quick.
func TestHostileAgentsAreRecorded(t *testing.T) {
	t.Parallel()
	for _, b := range hostile.Behaviors {
		if b.Card || !b.Ends || b.Name == "head-cut" || b.Name == "redirects" {
			continue // clients of the recorder wait for whole answers
		}
		t.Run(b.Name, func(t *testing.T) {
			agent := hostile.New(b)
			t.Cleanup(agent.Close)
			a, times := newAttack(t, agent.ServeHTTP), 20
			if b.Name == "sse-packed" { // whose events are all judged in the end, as those of a stream that is not packed
				times = 5
			}
			a.run(t, times, func() (int64, error) { return a.ask(b.GRPC, "", nil) })
		})
	}
}

// TestHostileRequestsAreRecorded sends requests that are held to look for webhooks.
func TestHostileRequestsAreRecorded(t *testing.T) {
	t.Parallel()
	method, _ := grpc.MethodOf("/" + grpc.Service1_0 + "/SendMessage")
	small := grpc.AppendFrame(nil, must.Get(method.Answer.FromJSON(jsonOf(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"x"}]}}`)))(t))
	for name, test := range map[string]struct {
		encoding string
		frame    func() []byte
	}{
		"parts, packed":        {"gzip", func() []byte { return hostile.Packed(hostile.Parts(method.Request, 31_000_000)) }},
		"parts":                {"", func() []byte { return grpc.AppendFrame(nil, hostile.Parts(method.Request, 7_000_000)) }},
		"parts, within":        {"gzip", func() []byte { return hostile.Packed(hostile.Parts(method.Request, 1_000_000)) }},
		"parts, within a hold": {"gzip", func() []byte { return hostile.Packed(hostile.Parts(method.Request, 60_000)) }},
		"text, packed":         {"gzip", func() []byte { return hostile.Packed(hostile.Text(method.Request, 60_000_000)) }},
		"text, within a hold":  {"gzip", func() []byte { return hostile.Packed(hostile.Text(method.Request, 4_000_000)) }},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAttack(t, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "application/grpc")
				w.Header().Set("Trailer", "Grpc-Status")
				w.Write(small)
				w.Header().Set("Grpc-Status", "0")
			})
			frame := test.frame()
			a.run(t, 80, func() (int64, error) { return a.ask(true, test.encoding, frame) })
		})
	}
}

// An attack is a recorder before a hostile agent.
type attack struct {
	p          *killed
	grpc, http *http.Client
	slowest    time.Duration
	mu         sync.Mutex
}

func newAttack(t *testing.T, agent http.HandlerFunc) *attack {
	t.Helper()
	server := httptest.NewUnstartedServer(agent)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Config.Protocols.SetHTTP1(true)
	server.Start()
	t.Cleanup(server.Close)
	if a, err := http.Post(server.URL, "", nil); err == nil { // what it answers with is made once
		io.Copy(io.Discard, a.Body)
		a.Body.Close()
	}
	h2 := &http.Transport{Protocols: new(http.Protocols)}
	h2.Protocols.SetUnencryptedHTTP2(true)
	h1 := &http.Transport{DisableCompression: true}
	t.Cleanup(h1.CloseIdleConnections)
	t.Cleanup(h2.CloseIdleConnections)
	return &attack{
		p:    startKilled(t, filepath.Join(t.TempDir(), "c.a2atap"), server.URL, false),
		grpc: &http.Client{Transport: h2, Timeout: must.Patience},
		http: &http.Client{Transport: h1, Timeout: must.Patience},
	}
}

// ask sends a message, and returns how much came back.
func (a *attack) ask(overGRPC bool, encoding string, frame []byte) (int64, error) {
	client, url, media, body := a.http, a.p.url, "application/json",
		[]byte(`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`)
	if overGRPC {
		method, _ := grpc.MethodOf("/" + grpc.Service1_0 + "/SendMessage")
		client, media = a.grpc, "application/grpc"
		url = strings.TrimSuffix(strings.TrimSuffix(url, "/"), "/spec") + "/" + method.Service + "/" + method.Name
		if body = frame; body == nil {
			message, err := method.Request.FromJSON(jsonOf(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}}`))
			if err != nil {
				return 0, err
			}
			body = grpc.AppendFrame(nil, message)
		}
	}
	request, err := http.NewRequest("POST", url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", media)
	request.Header.Set("A2A-Version", "1.0")
	if encoding != "" {
		request.Header.Set("Grpc-Encoding", encoding)
	}
	begun := time.Now()
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	n, err := io.Copy(io.Discard, answer.Body)
	a.mu.Lock()
	a.slowest = max(a.slowest, time.Since(begun))
	a.mu.Unlock()
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the status is %d", answer.StatusCode)
	}
	return n, err
}

// run attacks so many times, ten at once, and ends the recorder.
func (a *attack) run(t *testing.T, times int, once func() (int64, error)) {
	t.Helper()
	var calls sync.WaitGroup
	turns := make(chan struct{}, 10)
	for range times {
		turns <- struct{}{}
		calls.Go(func() {
			defer func() { <-turns }()
			if n, err := once(); err != nil || n == 0 {
				t.Errorf("%d bytes came: %v", n, err)
			}
		})
	}
	calls.Wait()
	ending := time.Now()
	took := a.p.endForMemory(t)
	end := time.Since(ending)
	t.Logf("slowest call %v, end %v, %d MiB", a.slowest.Round(time.Millisecond), end.Round(time.Millisecond), took>>20)
	if took > attackCeiling {
		t.Errorf("it took %d MiB, want at most %d", took>>20, attackCeiling>>20)
	}
	if a.slowest > attackDelay || end > attackEnd {
		t.Errorf("a call took %v, and the end %v; want at most %v and %v", a.slowest, end, attackDelay, attackEnd)
	}
}

// jsonOf returns the root of a text.
func jsonOf(text string) jsondoc.Value { return jsondoc.Parse([]byte(text)).Root }
