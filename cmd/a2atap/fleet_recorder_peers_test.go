//go:build peers && unix

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"a2atap/proxy/must"
	"a2atap/replay/refagent"
)

// A shippingRecorder is a2atap record --ship in a process of its own.
type shippingRecorder struct {
	path string            // of the capture
	taps map[string]string // URLs, by name

	cmd       *exec.Cmd
	out, said bytes.Buffer
}

// startShipping starts a recorder, under another command if one is given, and waits until its taps are there.
func startShipping(t *testing.T, under []string, path, url, host string, args ...string) *shippingRecorder {
	t.Helper()
	r := &shippingRecorder{path: path, taps: make(map[string]string)}
	ready := filepath.Join(t.TempDir(), "ready")
	argv := append(slices.Clone(under), "a2atap", "record", "-o", path, "--ship", url, "--ship-host", host,
		"--ready-file", ready)
	argv = append(argv, args...)
	r.cmd = exec.Command(argv[0], argv[1:]...)
	r.cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+filepath.Dir(path))
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.said
	must.Do(t, r.cmd.Start())
	t.Cleanup(r.kill)
	eventually(t, "the recorder's taps", func() bool {
		text, err := os.ReadFile(ready)
		for line := range strings.Lines(string(text)) {
			name, url, _ := strings.Cut(strings.TrimSpace(line), " ")
			r.taps[name] = strings.TrimSuffix(url, "/")
		}
		if r.cmd.Process.Signal(syscall.Signal(0)) != nil {
			t.Fatalf("a2atap record has ended:\n%s", r.said.String())
		}
		return err == nil
	})
	return r
}

// kill ends the recorder as a crash does.
func (r *shippingRecorder) kill() {
	if r.cmd.ProcessState == nil {
		r.cmd.Process.Kill()
		r.cmd.Wait()
	}
}

// end interrupts the recorder, waits for its end and returns what it said.
func (r *shippingRecorder) end(t *testing.T) string {
	t.Helper()
	must.Do(t, r.cmd.Process.Signal(os.Interrupt))
	if err := r.cmd.Wait(); err != nil {
		t.Fatalf("a2atap record ends with %v:\n%s", err, r.said.String())
	}
	return r.said.String()
}

// startSpec starts a reference agent and returns the flag with which it is tapped.
func startSpec(t *testing.T) string {
	t.Helper()
	spec := must.Get(refagent.New("spec", refagent.Options{}))(t)
	agent := httptest.NewServer(spec)
	t.Cleanup(agent.Close)
	return "--agent=a=" + agent.URL + "/spec"
}

// steady is traffic that continues until it is stopped: some clients, each with a fixed number of calls per second.
type steady struct {
	stopped chan struct{}
	clients sync.WaitGroup

	mu     sync.Mutex
	took   []time.Duration
	failed []error
}

const (
	steadyClients = 4
	steadyPause   = 5 * time.Millisecond
)

func startSteady(url string) *steady {
	s := &steady{stopped: make(chan struct{})}
	for c := range steadyClients {
		s.clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}, Timeout: must.Patience}
			defer client.CloseIdleConnections()
			tick := time.NewTicker(steadyPause)
			defer tick.Stop()
			for i := 0; ; i++ {
				begun := time.Now()
				err := sendNumbered(client, url, fmt.Sprintf("0-%d-%d", c, i))
				s.mu.Lock()
				s.took = append(s.took, time.Since(begun))
				if err != nil {
					s.failed = append(s.failed, err)
				}
				s.mu.Unlock()
				select {
				case <-s.stopped:
					return
				case <-tick.C:
				}
			}
		})
	}
	return s
}

// passed waits until n more calls were answered.
func (s *steady) passed(t *testing.T, n int) {
	t.Helper()
	before := s.count()
	eventually(t, fmt.Sprintf("%d calls more", n), func() bool { return s.count() >= before+n })
}

func (s *steady) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.took)
}

// undisturbed is how long a call may take on a busy machine. Whoever waits for a server that is away waits longer.
const undisturbed = 2 * time.Second

// end stops the traffic. No call may have failed, nor have waited for anything but the agent.
func (s *steady) end(t *testing.T) {
	t.Helper()
	close(s.stopped)
	s.clients.Wait()
	if len(s.failed) > 0 {
		t.Errorf("%d of %d calls failed, first with %v", len(s.failed), len(s.took), s.failed[0])
	}
	slices.Sort(s.took)
	p99, longest := s.took[len(s.took)*99/100], s.took[len(s.took)-1]
	t.Logf("%d calls, p50 %v, p99 %v, at the most %v", len(s.took), s.took[len(s.took)/2], p99, longest)
	if longest > undisturbed {
		t.Errorf("a call took %v", longest)
	}
}

// sendOnce sends one message.
func sendOnce(url string) error {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	return sendNumbered(client, url, "once")
}
