//go:build unix

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/must"
)

// TestHangingUpEndsARecording closes the terminal of a recorder. The recorder ends normally, unless it ignores SIGHUP.
func TestHangingUpEndsARecording(t *testing.T) {
	t.Parallel()
	caught := make(chan os.Signal, 1) // or the recorder is started as one that ignores it, where the tests run with nohup
	signal.Notify(caught, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(caught) })
	agent := httptest.NewServer(http.NotFoundHandler())
	defer agent.Close()
	for name, c := range map[string]struct {
		ignored bool
		signals []syscall.Signal
	}{
		"hung up": {false, []syscall.Signal{syscall.SIGHUP}},
		"nohup":   {true, []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "c.a2atap")
			p := startKilled(t, path, agent.URL, c.ignored)
			must.Do(t, sendNumbered(http.DefaultClient, p.url, "1"))
			for i, s := range c.signals {
				if i > 0 { // it continues
					must.Do(t, sendNumbered(http.DefaultClient, p.url, "2"))
				}
				must.Do(t, p.cmd.Process.Signal(s))
			}
			waitFor(t, p.cmd)
			src := must.Get(bolt.Read(path))(t)
			defer src.Close()
			info, err := src.Info(t.Context())
			if err != nil || info.Crashes != 0 || info.Exchanges != uint64(len(c.signals)) {
				t.Errorf("got %+v, error %v", info, err)
			}
		})
	}
}

func waitFor(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("it ends with %v", err)
		}
	case <-time.After(must.Patience):
		cmd.Process.Kill()
		<-ended
		t.Fatal("it does not end")
	}
}
