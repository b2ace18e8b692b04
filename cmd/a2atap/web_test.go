package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/must"
)

// A running is a command that runs in this process until it is interrupted.
type running struct {
	t         *testing.T
	lines     chan string // that it prints
	talk      bytes.Buffer
	interrupt context.CancelFunc
	ended     chan int
}

// start starts a command.
func start(t *testing.T, args ...string) *running {
	t.Helper()
	out, in := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{t: t, lines: make(chan string, 10_000), interrupt: cancel, ended: make(chan int, 1)}
	home := t.TempDir()
	e := cli.Env{In: strings.NewReader(""), Out: in, Err: &r.talk, Now: time.Now, Getenv: func(name string) string {
		return map[string]string{"HOME": home, "XDG_CONFIG_HOME": home}[name]
	}}
	go func() {
		code := run(ctx, e, args)
		in.Close()
		r.ended <- code
	}()
	go func() {
		defer close(r.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			r.lines <- lines.Text()
		}
	}()
	t.Cleanup(func() { r.end() })
	return r
}

// line returns the next line that it prints which begins so, without that.
func (r *running) line(begins string) string {
	r.t.Helper()
	for line := range r.lines {
		if rest, is := strings.CutPrefix(line, begins); is {
			return rest
		}
	}
	r.t.Fatalf("there is no line that begins with %q; it ends with %d", begins, r.end())
	return ""
}

// end interrupts it, and returns its exit status.
func (r *running) end() int {
	r.interrupt()
	select {
	case code := <-r.ended:
		r.ended <- code
		return code
	case <-time.After(must.Patience):
		r.t.Fatal("it does not end")
		return 0
	}
}

// asked asks a page for something, and returns the answer.
func asked(t *testing.T, address, path string, body io.Reader) (status int, answer string) {
	t.Helper()
	base, token, ok := strings.Cut(address, "#token=")
	if !ok {
		t.Fatalf("%q has no token", address)
	}
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	req := must.Get(http.NewRequestWithContext(t.Context(), method, base+path, body))(t)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Origin", strings.TrimSuffix(base, "/"))
	req.Close = true
	res := must.Get(http.DefaultClient.Do(req))(t)
	defer res.Body.Close()
	text := must.Get(io.ReadAll(res.Body))(t)
	return res.StatusCode, string(text)
}

// answers asks a page until the answer has a text.
func answers(t *testing.T, address, path, want string) {
	t.Helper()
	for end := time.Now().Add(must.Patience); ; {
		status, answer := asked(t, address, path, nil)
		if status == http.StatusOK && strings.Contains(answer, want) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %d %s has no %s", path, status, answer, want)
		}
		<-time.After(10 * time.Millisecond) // what is looked at is judged meanwhile
	}
}

// Two pages run in parallel. They have different tokens, and each ends with an interrupt.
func TestWeb(t *testing.T) {
	session := filepath.Join("..", "..", "tui", "testdata", "journey.txtar")
	one, two := start(t, "web", session), start(t, "web", session)
	first, second := one.line(""), two.line("")
	form := regexp.MustCompile(`^http://127\.0\.0\.1:\d+/#token=[A-Z2-7]{26}$`)
	if !form.MatchString(first) || !form.MatchString(second) {
		t.Errorf("the addresses are %s and %s", first, second)
	}
	for _, address := range []string{first, second} {
		answers(t, address, "api/list?n=50", `"traveller","booker"`)
	}
	_, token, _ := strings.Cut(first, "#")
	base, _, _ := strings.Cut(second, "#")
	if status, _ := asked(t, base+"#"+token, "api/list?n=50", nil); status != http.StatusUnauthorized {
		t.Errorf("the token of another page: %d", status)
	}
	for _, r := range []*running{one, two} {
		if code := r.end(); code != cli.ExitOK {
			t.Errorf("it ends with %d: %s", code, r.talk.String())
		}
	}
}

// A recording has a page, from which a message goes through its tap; it ends with the recording.
func TestRecordWeb(t *testing.T) {
	agent := start(t, "agent", "spec", "--step", "1ms", "--fault", "stream-closed-on-terminal")
	file := filepath.Join(t.TempDir(), "c.a2atap")
	recording := start(t, "record", "--agent", "booker="+agent.line("spec "), "-o", file, "--web")
	tap, _, _ := strings.Cut(recording.line("booker "), " ")
	address := recording.line("page ")
	answers(t, address, "api/agents", `{"agents":[{"name":"booker","url":"`+tap+`"}],"recorded":true}`)
	text := must.Get(json.Marshal(map[string]any{"to": tap, "text": "streaming two tickets", "stream": true}))(t)
	status, answer := asked(t, address, "api/send", bytes.NewReader(text))
	for _, want := range []string{
		"two tickets", "stream-closed-on-terminal", `"failed":false`, `"verdict":"findings: 1 error`,
		"[streaming] Stream complete",
	} {
		if status != http.StatusOK || !strings.Contains(answer, want) {
			t.Errorf("sending: %d %s has no %s", status, answer, want)
		}
	}
	answers(t, address, "api/list?n=50", `"SendStreamingMessage"`)
	answers(t, address, "api/part?name=findings", "stream-closed-on-terminal")
	if code := recording.end(); code != cli.ExitOK {
		t.Errorf("the recording ends with %d: %s", code, recording.talk.String())
	}
	base, _, _ := strings.Cut(address, "#")
	if res, err := http.Get(base); err == nil {
		res.Body.Close()
		t.Error("the page goes on without its recording")
	}
}
