//go:build linux && !race

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"a2atap/proxy/budget"
	"a2atap/proxy/must"
)

// TestHeldHasACeiling holds 400 requests of 1 MB each, as a user does in the inspector. The oldest are sent, all of them
// arrive in the end, and the memory of the recorder has the same ceiling as ever.
func TestHeldHasACeiling(t *testing.T) {
	const (
		requests, size = 400, 1_000_000
		kept           = budget.HeldBytes / size
	)
	var came atomic.Int64
	most := make(chan struct{}) // closed when all that cannot be held have come
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n, _ := io.Copy(io.Discard, r.Body); n < size {
			t.Errorf("%d bytes came", n)
		}
		if came.Add(1) == requests-kept {
			close(most)
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"text":"x"}]}}}`)
	}))
	defer agent.Close()
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	cmd := exec.Command("a2atap", "record", "--tui", "--agent", "a="+agent.URL, "-o", filepath.Join(dir, "c.a2atap"), "--ready-file", ready)
	cmd.Env = os.Environ()
	screen, _ := inTerminal(t, cmd, 24, 80)
	screen.shows(t, "nothing recorded yet")
	_, url, _ := strings.Cut(strings.TrimSpace(string(must.Get(os.ReadFile(ready))(t))), " ")
	screen.strike(t, ":hold requests\r", "now holding: requests")
	body := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[` +
		strings.Repeat(`{"text":"aaaaaaaaaaaaaaaaaaaaaaaaa"},`, size/37) + `{"text":"b"}]}}}`
	client := &http.Client{Timeout: must.Patience}
	defer client.CloseIdleConnections()
	var calls sync.WaitGroup
	for range requests {
		calls.Go(func() {
			answer, err := client.Post(url, "application/json", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		})
	}
	select {
	case <-most:
	case <-time.After(must.Patience):
		t.Errorf("%d requests came, want %d while others are held", came.Load(), requests-kept)
	}
	screen.strike(t, ":unhold\r", "") // its notice may be replaced before it is drawn
	calls.Wait()
	screen.strike(t, "Q", "Quitting ends the recording")
	screen.strike(t, "Q", "")
	ended := exitOf(cmd)
	peak, program := peakOf(t, cmd.Process.Pid, ended)
	took := peak - program
	t.Logf("%d MiB", took>>20)
	if took > attackCeiling {
		t.Errorf("it took %d MiB, want at most %d", took>>20, attackCeiling>>20)
	}
	if n := came.Load(); n != requests {
		t.Errorf("%d requests came", n)
	}
}
