package peers

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A GoProgram is another version of a Go SDK. One binary can have only one version of a module's line, so this one is a
// separate program: made from the same sources as the peers in this process, except where that version differs.
type GoProgram struct {
	Name    string
	module  string
	version string
	line    string   // the directory under testdata with the files that differ
	sources []string // of this package
}

// The older versions of the Go SDKs.
var (
	Go0303 = GoProgram{
		"go0303", "github.com/a2aproject/a2a-go", "v0.3.3", "go03old",
		[]string{"go03_agent.go", "go03_client.go"},
	}
	Go200 = GoProgram{
		"go200", "github.com/a2aproject/a2a-go/v2", "v2.0.0", "go2old",
		[]string{"go2_agent.go", "go2_client.go"},
	}
	Go210 = GoProgram{
		"go210", "github.com/a2aproject/a2a-go/v2", "v2.1.0", "go2old",
		[]string{"go2_agent.go", "go2_client.go"},
	}
)

//go:embed behavior.go conversation.go goprogram_main.go peers.go script.go steps.go observation.go webhook.go
//go:embed go03_agent.go go03_client.go go2_agent.go go2_client.go
//go:embed testdata/go03old testdata/go2old
var goSources embed.FS

// shared are the sources that every program is made of.
var shared = []string{
	"behavior.go", "conversation.go", "goprogram_main.go", "peers.go", "script.go", "steps.go",
	"observation.go", "webhook.go",
}

// Build builds the program and returns its path. It fetches the SDK if it is missing.
func (p GoProgram) Build(ctx context.Context, dir string) (string, error) {
	if err := p.write(dir); err != nil {
		return "", fmt.Errorf("write the program %s: %w", p.Name, err)
	}
	for _, args := range [][]string{{"mod", "tidy"}, {"build", "-o", p.Name, "."}} {
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s with %s %s: %w\n%s", p.Name, p.module, p.version, err, out)
		}
	}
	return filepath.Join(dir, p.Name), nil
}

func (p GoProgram) write(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "peers"), 0o755); err != nil {
		return err
	}
	files := map[string]string{}
	for _, name := range append(shared[:len(shared):len(shared)], p.sources...) {
		files[name] = "peers/" + name
	}
	other, err := goSources.ReadDir("testdata/" + p.line)
	if err != nil {
		return err
	}
	for _, entry := range other {
		name := strings.TrimSuffix(entry.Name(), ".txt")
		files["testdata/"+p.line+"/"+entry.Name()] = "peers/" + name
		if name == "main.go" {
			files["testdata/"+p.line+"/"+entry.Name()] = name
		}
	}
	for from, to := range files {
		text, err := goSources.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, to), text, 0o644); err != nil {
			return err
		}
	}
	mod := fmt.Sprintf("module peer\n\ngo 1.26\n\nrequire %s %s\n", p.module, p.version)
	return os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644)
}

// program returns the program that was built at a path, to be run as those in other languages are.
func (p GoProgram) program(path string) Program {
	return Program{Name: p.Name, binary: path}
}

// Agent returns the version in the role of the agent; path is what Build gave.
func (p GoProgram) Agent(path string) Agent { return p.program(path).Agent() }

// Client returns the version in the role of the client; path is what Build gave.
func (p GoProgram) Client(path string) Client { return p.program(path).Client() }
