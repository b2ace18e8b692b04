package peers

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// promptfoo evaluates agents, with a client of its own for the HTTP+JSON of A2A 1.0. It is not a [Program]: its
// configuration defines its requests.
var promptfoo = Program{Name: "promptfoo", lock: "package-lock.json"}

// Promptfoo runs promptfoo with these arguments in dir, where it keeps its state, and returns its output. The
// variables, as NAME=VALUE, are added to those that every program needs; it gets nothing else of the caller's
// environment. If it reports a failure, the error is an [exec.ExitError].
//
// It reaches this machine only: for everything else a proxy is set, which refuses, and which fails the test if it is
// asked for more than once nothing is left that can be turned off.
func Promptfoo(ctx context.Context, t testing.TB, dir string, variables []string, args ...string) (string, error) {
	t.Helper()
	modules := filepath.Join(promptfoo.installed(t), "node_modules")
	runtime := filepath.Join(modules, ".bin", "node")
	if _, err := os.Stat(runtime); err != nil {
		runtime = "node" // none is to be had for this system; testdata/install has looked whether this one does
	}
	state := filepath.Join(dir, "promptfoo-state")
	for _, sub := range []string{"home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(state, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	border := closedBorder(t)
	cmd := exec.CommandContext(ctx, runtime,
		slices.Insert(args, 0, filepath.Join(modules, "promptfoo", "dist", "src", "entrypoint.js"))...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(state, "home"), "TMPDIR=" + filepath.Join(state, "tmp"),
		"PROMPTFOO_CONFIG_DIR=" + filepath.Join(state, "config"), "PROMPTFOO_CACHE_ENABLED=false",
		"PROMPTFOO_DISABLE_TELEMETRY=1", "PROMPTFOO_DISABLE_UPDATE=1", "PROMPTFOO_DISABLE_SHARING=1",
		"PROMPTFOO_DISABLE_REMOTE_GENERATION=1", "PROMPTFOO_DISABLE_REDTEAM_REMOTE_GENERATION=1",
		"HTTP_PROXY=" + border, "HTTPS_PROXY=" + border, "NO_PROXY=127.0.0.1", "NODE_USE_ENV_PROXY=1",
	}, variables...)
	cmd.WaitDelay = 5 * time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	return said.String(), err
}

// closedBorder starts a proxy that blocks all traffic, and returns its URL. It expects one request, which reports that
// reporting is off: promptfoo sends it even if told to send nothing.
func closedBorder(t testing.TB) string {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Host)
		http.Error(w, "this test stays on this machine", http.StatusForbidden)
	}))
	t.Cleanup(func() {
		s.Close()
		for _, host := range asked {
			if host != "r.promptfoo.app:443" {
				t.Errorf("promptfoo wanted to reach %s", host)
			}
		}
	})
	return s.URL
}
