//go:build peers

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/must"
)

// In a copy of this module under another path all imports lead somewhere, those of tests, too, it is formatted, and what is
// sensitive to the path passes its tests there. The rest is the same text as here.
func TestWholeModuleMoves(t *testing.T) {
	const root, moved = "../../..", "source.example/team/a2atap"
	dir := t.TempDir()
	list := must.Get(exec.Command("git", "-C", root, "ls-files", "-z").Output())(t)
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		copyFile(t, filepath.Join(root, name), filepath.Join(dir, name))
	}
	do := func(program string, args ...string) string {
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -trimpath -buildvcs=false '-gcflags="+moved+"/...=-N -l'")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	if code := run([]string{moved}, dir, io.Discard, os.Stderr); code != 0 {
		t.Fatalf("exit %d", code)
	}
	if unformatted := do("go", "tool", "gofumpt", "-l", "."); unformatted != "" {
		t.Errorf("gofumpt would change %s", unformatted)
	}
	do("go", "list", "-tags", "peers", "-test", "-deps", "./...")
	do("go", "test", "-vet=off", "./tui/internal/unasked", "./analyzer/report", "./cmd/internal/modulepath")
	do("go", "test", "-vet=off", "./cmd/a2atap", "-run", "Arrows|CaptureRooms|Families|Picture|Uses|CIJobs|NoTerminal|Topics|Readme")
	if old := grep(t, dir, `"a2atap/cmd/a2atap"`); old != "" {
		t.Errorf("the former path is in %s", old)
	}
}

// grep returns the names of Go files that contain a text, but for this one.
func grep(t *testing.T, dir, text string) string {
	t.Helper()
	out, _ := exec.Command("grep", "-rlF", "--include=*.go", "--exclude=whole_peers_test.go", text, dir).Output() // 1: none
	return string(out)
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text := must.Get(os.ReadFile(from))(t)
	info := must.Get(os.Stat(from))(t)
	must.Do(t, os.MkdirAll(filepath.Dir(to), 0o755))
	must.Do(t, os.WriteFile(to, text, info.Mode().Perm()))
}
