//go:build peers

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/must"
)

// The action installs what it is a part of, and puts it on the path of the steps that follow.
func TestActionInstalls(t *testing.T) {
	dir := t.TempDir()
	modules := must.Get(exec.Command("go", "env", "GOMODCACHE").Output())(t)
	t.Setenv("GOMODCACHE", strings.TrimSpace(string(modules)))
	t.Setenv("GOPATH", filepath.Join(dir, "go"))
	t.Setenv("GOBIN", "")
	j := runAction(t, dir, nil)
	if j.failed || len(j.out) != 1 {
		t.Fatal(j.out)
	}
	path := must.Get(os.ReadFile(filepath.Join(dir, "path")))(t)
	out, err := exec.Command(filepath.Join(strings.TrimSpace(string(path)), "a2atap"), "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "a2atap ") {
		t.Errorf("%v: %s", err, out)
	}
}
