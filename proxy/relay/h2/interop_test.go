//go:build peers

package h2_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/must"
	"a2atap/proxy/relay"
)

// soonOver are the cases in which a client may have given up its call before it has sent anything.
var soonOver = []string{"timeout_on_sleeping_server", "cancel_after_begin"}

// Client and server of gRPC's own interoperability tests see through a tap what they see without one, and each call is
// observed.
func TestInterop(t *testing.T) {
	program := buildInterop(t)
	server := exec.Command(program)
	stdin := must.Get(server.StdinPipe())(t)
	stdout := must.Get(server.StdoutPipe())(t)
	must.Do(t, server.Start())
	t.Cleanup(func() {
		stdin.Close()
		server.Wait() //nolint:errcheck // it is told to end
	})
	addr := must.Get(bufio.NewReader(stdout).ReadString('\n'))(t)
	addr = strings.TrimSpace(addr)
	cases := must.Get(exec.Command(program, "cases", addr).Output())(t)
	names := strings.Fields(string(cases))
	if len(names) < 14 {
		t.Fatalf("there are the cases %q", names)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out, err := exec.Command(program, name, addr).CombinedOutput(); err != nil {
				t.Fatalf("without a tap: %v\n%s", err, out)
			}
			for editing, editor := range map[string]func(*relay.Config){
				"plain": nil, "with requests held": func(cfg *relay.Config) { cfg.Editor = sameEditor{} },
			} {
				p := newTap(t, addr, editor)
				if out, err := exec.Command(program, name, p.addr).CombinedOutput(); err != nil {
					t.Errorf("through a tap, %s: %v\n%s", editing, err, out)
				}
				if len(p.seen.all()) == 0 && !slices.Contains(soonOver, name) {
					t.Errorf("%s: no traffic passed through the tap", editing)
				}
			}
		})
	}
}

// buildInterop builds the program of testdata/interop with the version of gRPC that is used here.
func buildInterop(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source := must.Get(os.ReadFile(filepath.Join("testdata", "interop", "main.go.txt")))(t)
	mod := must.Get(os.ReadFile(filepath.Join("..", "..", "..", "go.mod")))(t)
	version := regexp.MustCompile(`google\.golang\.org/grpc (v\S+)`).FindSubmatch(mod)
	if version == nil {
		t.Fatal("go.mod does not name a version of gRPC")
	}
	for name, text := range map[string]string{
		"main.go": string(source),
		"go.mod":  "module interop\n\ngo 1.26\n\nrequire google.golang.org/grpc " + string(version[1]) + "\n",
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, args := range [][]string{{"mod", "tidy"}, {"build", "-o", "interop", "."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	return filepath.Join(dir, "interop")
}
