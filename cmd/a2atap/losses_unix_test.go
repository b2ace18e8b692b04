//go:build unix

package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"a2atap/cmd/internal/cli"
)

// TestFileLimit records in a process that may write no file larger than it has to be at the beginning. What it says at
// its end adds up, and its capture is never called complete.
func TestFileLimit(t *testing.T) {
	t.Parallel()
	const sent = 400
	path := filepath.Join(t.TempDir(), "c.a2atap")
	var said bytes.Buffer
	agent := loudAgent(t)
	cmd := exec.Command("sh", "-c", `ulimit -f 1000; exec "$@"`, "sh",
		"a2atap", "record", "--agent", "a="+agent.URL, "-o", path, "--format", "json")
	cmd.Stderr = &said
	p := startCommand(t, cmd, &said)
	s := &callers{url: p.url}
	s.send(sent)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) || ended.ExitCode() != cli.ExitFailed {
		t.Errorf("it ends with %v\n%s", err, said.String())
	}
	match := regexp.MustCompile(`(?m)^record: ([\d,]+) exchanges?, .*; NOT recorded: ([\d,]+) exchanges?,`).
		FindStringSubmatch(said.String())
	if match == nil || !strings.Contains(said.String(), "file too large; make room there") {
		t.Fatalf("it says %s", said.String())
	}
	recorded, lost := parseCount(t, match[1]), parseCount(t, match[2])
	if recorded+lost != sent || lost == 0 {
		t.Errorf("%d recorded and %d lost of %d", recorded, lost, sent)
	}
	if code, verdict := runQuietly(t, "check", path); code != cli.ExitInconclusive {
		t.Errorf("check exits with %d and says %s", code, verdict)
	}
	if code, note := runQuietly(t, "show", path); code != cli.ExitOK ||
		!strings.Contains(note, " lacks "+match[2]+" exchange") {
		t.Errorf("show exits with %d and says %s", code, note)
	}
}

func parseCount(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// loudAgent starts an agent whose answers nobody can compress.
func loudAgent(t *testing.T) *httptest.Server {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer := make([]byte, 2000)
		rand.Read(answer)
		w.Write(answer)
	}))
	t.Cleanup(agent.Close)
	return agent
}

// A callers of clients counts what it sends, and what is answered.
type callers struct {
	url             string
	tried, answered atomic.Int64
}

// send sends requests with four clients, until one fails.
func (s *callers) send(n int) {
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for range n / 4 {
				s.tried.Add(1)
				answer, err := client.Post(s.url, "text/plain", strings.NewReader("hello"))
				if err != nil {
					return
				}
				_, err = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
				if err != nil {
					return
				}
				s.answered.Add(1)
			}
		})
	}
	clients.Wait()
}
