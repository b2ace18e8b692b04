//go:build peers

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/peers"
)

// The recipes of docs/ci.md record tests in three languages once, and then run them without the model. A test that asks
// something else fails.
func TestRecipesOfOfflineTests(t *testing.T) {
	t.Parallel()
	python, pythonEnv := peers.PyFlow.Command(t, "models")
	node, _ := peers.JSFlow.Command(t, "models")
	for language, recipe := range map[string]struct {
		file    string
		command []string
		env     []string
	}{
		"python": {"test_planner.py", []string{python[0], "-m", "pytest", "-p", "no:cacheprovider"}, pythonEnv},
		"js":     {"planner.test.mjs", []string{node[0], "--test"}, nil},
		"go":     {"planner_test.go", []string{"go", "test", "-count=1", "./..."}, nil},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			blocks := must.Get(pageBlocks("ci.md", language))(t)
			if len(blocks) != 1 {
				t.Fatalf("the page has %d blocks of %s", len(blocks), language)
			}
			dir := t.TempDir()
			must.Do(t, writeCIScripts(dir))
			path := filepath.Join(dir, recipe.file)
			must.Do(t, os.WriteFile(path, []byte(blocks[0]), 0o600))
			switch language {
			case "js":
				must.Do(t, os.Symlink(filepath.Join(filepath.Dir(node[1]), "node_modules"), filepath.Join(dir, "node_modules")))
			case "go":
				must.Do(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module planner\n\ngo 1.24\n"), 0o600))
			}
			script := append([]string{"sh", filepath.Join("ci", "offline.sh")}, recipe.command...)
			env := append(recipe.env, "HOME="+must.Get(os.UserHomeDir())(t), "OPENAI_API_KEY=offline", "XDG_CONFIG_HOME="+t.TempDir(), "GOFLAGS=")
			shown(t, dir, append(env, "OPENAI_BASE_URL="+peers.StartModels(t)+"/v1", "RECORD=1"), script)
			if !strings.Contains(string(must.Get(os.ReadFile(filepath.Join(dir, "tests.txtar")))(t)), "chat/completions") {
				t.Fatal("the recording has no call of the model")
			}
			shown(t, dir, env, script)
			report := string(must.Get(os.ReadFile(filepath.Join(dir, "offline.xml")))(t))
			expect.Equal(t, "calls in the report", 1, strings.Count(report, "<testcase"))

			must.Do(t, os.WriteFile(path, []byte(strings.ReplaceAll(blocks[0], "Kyoto", "Nara")), 0o600))
			cmd := exec.CommandContext(t.Context(), script[0], script[1:]...)
			cmd.Dir, cmd.Env = dir, append(env, "PATH="+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), `recorded "Which train goes to Kyoto?", now "Which train goes to Nara?"`) {
				t.Errorf("another question: %v\n%s", err, out)
			}
		})
	}
}
