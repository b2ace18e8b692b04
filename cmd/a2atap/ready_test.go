package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/must"
)

func TestReadyFileOfAnEarlierRunGoes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ready")
	if err := cli.RemoveReady(name); err != nil {
		t.Errorf("none to remove: %v", err)
	}
	must.Do(t, cli.WriteReady(name, "a http://127.0.0.1:1\n"))
	if err := cli.RemoveReady(name); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(name); !os.IsNotExist(err) {
		t.Errorf("it is there still: %v", err)
	}
}

func TestReadyFileThatCannotGo(t *testing.T) {
	folder := t.TempDir()
	if err := cli.RemoveReady(folder); err == nil || !strings.Contains(err.Error(), folder) {
		t.Errorf("a folder is removed: %v", err)
	}
	if _, err := os.Stat(folder); err != nil {
		t.Error(err)
	}
	err := cli.RemoveReady(filepath.Join(folder, "no\x00name"))
	if err == nil || !strings.Contains(err.Error(), "no\x00name") {
		t.Errorf("a name that cannot be: %v", err)
	}
}

// Each command with a ready file removes that of an earlier run, even if it then cannot listen.
func TestReadyFileGoesBeforeListening(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	taken := l.Addr().String()
	dir := t.TempDir()
	transcript := filepath.Join(dir, "c.txtar")
	const text = "-- 1.request --\nGET / HTTP/1.1\n\n-- 1.response --\nHTTP/1.1 200 OK\n\n"
	must.Do(t, os.WriteFile(transcript, []byte(text), 0o600))
	for _, args := range [][]string{
		{"record", "--agent", "a=http://127.0.0.1:9@" + taken, "-o", filepath.Join(dir, "c.a2atap")},
		{"agent", "spec", "--listen", taken},
		{"playback", transcript, "--listen", taken},
	} {
		t.Run(args[0], func(t *testing.T) {
			ready := filepath.Join(dir, "ready")
			must.Do(t, os.WriteFile(ready, nil, 0o600))
			var said strings.Builder
			e := cli.Env{In: strings.NewReader(""), Out: io.Discard, Err: &said, Now: time.Now, Getenv: os.Getenv}
			code := run(t.Context(), e, append(args, "--ready-file", ready))
			if code != cli.ExitFailed || !strings.Contains(said.String(), "in use") {
				t.Errorf("status %d, want that the address is in use: %s", code, said.String())
			}
			if _, err := os.Lstat(ready); !os.IsNotExist(err) {
				t.Errorf("the ready file is there still: %v", err)
			}
		})
	}
}
