package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/cmdtest"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/merge"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
)

// demonstrated is a capture of the demonstration's traffic.
func demonstrated(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "demo.a2atap")
	if _, stderr, code := call(t, "demo", "-o", file); code != cli.ExitOK {
		t.Fatalf("demo: %d\n%s", code, stderr)
	}
	return file
}

// call runs the program in this process. All runs have the same clock time, which some reports include.
func call(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	now := func() time.Time { return moment }
	var out, errs bytes.Buffer
	code = run(t.Context(), cli.Env{
		In: strings.NewReader(""), Out: &out, Err: &errs, Now: now, Getenv: unset,
	}, args)
	return out.String(), errs.String(), code
}

var moment = time.Now()

// merged is what the files merge to.
func merged(t *testing.T, hosts, files []string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "merged.a2atap")
	store := must.Get(bolt.Open(file, bolt.Options{Tool: cli.ToolName()}))(t)
	m := merge.New(store, merge.Options{})
	for i := range files {
		src := must.Get(bolt.Read(files[i]))(t)
		defer src.Close()
		m.Add(merge.Recording{Host: hosts[i], Name: filepath.Base(files[i]), Source: src})
	}
	must.Do(t, errors.Join(m.Run(context.Background()), store.Close()))
	return file
}

func TestStreamIsWhatItsFilesMergeTo(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	server := fleettest.Start(t)
	hosts := []string{"north.example", "south.example", "south.example"}
	var files []string
	for _, host := range hosts {
		files = append(files, demonstrated(t))
		cmdtest.Ship(t, server, host, files[len(files)-1])
	}
	file, url := merged(t, hosts, files), server.URL("traffic")
	for _, args := range [][]string{
		{"check", "--format", "json"},
		{"check", "--format", "text"},
		{"show", "--format", "list"},
		{"show", "--format", "tree"},
		{"show", "--format", "ladder"},
		{"show", "--format", "json"},
		{"export", "--format", "har"},
	} {
		want, _, wantCode := call(t, append([]string{args[0], file}, args[1:]...)...)
		got, stderr, code := call(t, append([]string{args[0], url}, args[1:]...)...)
		got = strings.ReplaceAll(got, url, file)
		if got != want || code != wantCode || want == "" {
			t.Errorf("%q of the stream: %d, not %d\n%s\nwant %s\ngot  %s", args, code, wantCode, stderr, want, got)
		}
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("%d folders are left (%v)", len(left), err)
	}
}
