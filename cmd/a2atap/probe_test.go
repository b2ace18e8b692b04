package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/replay/refagent"
)

// failing serves a reference agent, and calls fail instead of answering the n-th POST request.
func failing(t *testing.T, n int32, fail func(*httptest.Server, http.ResponseWriter)) (url string) {
	t.Helper()
	a, err := refagent.New("spec", refagent.Options{StepTime: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var server *httptest.Server
	var posts atomic.Int32
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && posts.Add(1) == n {
			fail(server, w)
			return
		}
		a.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.Close()
		a.Close()
	})
	return server.URL + a.Path()
}

// runInside runs a command line in this process.
func runInside(ctx context.Context, args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	e := cli.Env{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Now: time.Now, Getenv: os.Getenv}
	code = run(ctx, e, args)
	return code, stdout.String(), stderr.String()
}

// An agent that ends in the middle is critical, and what was to come is inconclusive.
func TestProbeOfAnAgentThatDies(t *testing.T) { // not parallel: no other process may get its port
	url := failing(t, 5, func(s *httptest.Server, w http.ResponseWriter) {
		s.Listener.Close()
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			conn.Close()
		}
		s.CloseClientConnections()
	})
	code, out, errs := runInside(t.Context(), "probe", url, "--parallel", "1", "--timeout", "10s")
	if code != cli.ExitFindings || !strings.Contains(out, "\nCRITICAL ") || !strings.Contains(errs, " critical") ||
		!strings.Contains(out, "not tested: the agent had stopped answering") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	if code, _, _ = runInside(t.Context(), "probe", url); code != cli.ExitFailed {
		t.Errorf("exit %d where nobody is, want %d", code, cli.ExitFailed)
	}
}

// What has come of a run is reported when it is interrupted, and proves nothing.
func TestProbeThatIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	url := failing(t, 5, func(_ *httptest.Server, w http.ResponseWriter) {
		cancel()
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	kept := filepath.Join(t.TempDir(), "kept.a2atap")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	code, out, errs := runInside(ctx, "probe", url, "--parallel", "1", "--capture", kept)
	if code != cli.ExitInconclusive || !strings.Contains(out, "passed") || !strings.Contains(errs, "; interrupted") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	if code, out, errs = runInside(t.Context(), "show", kept); code != cli.ExitOK || !strings.Contains(out, "GetAgentCard") {
		t.Errorf("the capture: exit %d\n%s%s", code, out, errs)
	}
}
