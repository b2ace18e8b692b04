package main

import (
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// pageBlocks returns the blocks of a language in a page of the documentation.
func pageBlocks(page, language string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	if err != nil {
		return nil, err
	}
	parts := strings.Split(string(text), "```"+language+"\n")
	for i := range parts {
		parts[i], _, _ = strings.Cut(parts[i], "```")
	}
	return parts[1:], nil
}

// writeCIScripts writes the scripts of docs/ci.md into a folder. Each says in its first line what it is called.
func writeCIScripts(dir string) error {
	blocks, err := pageBlocks("ci.md", "sh")
	if err != nil {
		return err
	}
	for _, block := range blocks {
		name, _, found := strings.Cut(strings.TrimPrefix(block, "# "), ":")
		if !found || !strings.HasPrefix(name, "ci/") {
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(block), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Each line that a job of docs/ci.md runs is one that the script ci.txtar runs, or installs the program; and what the
// jobs keep is what the scripts write.
func TestCIJobs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := writeCIScripts(dir); err != nil {
		t.Fatal(err)
	}
	tested, err := os.ReadFile(filepath.Join("testdata", "script", "ci.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := pageBlocks("ci.md", "yaml")
	blocks = slices.DeleteFunc(blocks, func(block string) bool { return strings.Contains(block, "/.ci/action@") })
	if err != nil || len(blocks) != 2 {
		t.Fatalf("the page has %d blocks of YAML, and %v", len(blocks), err)
	}
	install := []string{
		`git clone --depth 1 "$A2ATAP" "$HOME/a2atap"`, `go -C "$HOME/a2atap" install ./cmd/a2atap`,
	}
	for _, block := range blocks {
		var jobs yaml.Node
		if err := yaml.Unmarshal([]byte(block), &jobs); err != nil {
			t.Errorf("%v in\n%s", err, block)
			continue
		}
		lines := scalars(&jobs, false, "run", "script", "before_script")
		for _, want := range append(slices.Clone(install), "sh ci/agent.sh", "sh ci/client.sh") {
			if !slices.Contains(lines, want) {
				t.Errorf("nothing runs %q in\n%s", want, block)
			}
		}
		for _, line := range lines {
			script, isScript := strings.CutPrefix(line, "sh ")
			if slices.Contains(install, line) {
				continue
			}
			if !isScript || !strings.Contains(string(tested), "\nexec "+line+"\n") {
				t.Errorf("%q is not what ci.txtar runs", line)
			} else if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(script))); err != nil {
				t.Errorf("%q is not on the page: %v", line, err)
			}
		}
		kept := scalars(&jobs, false, "path", "paths", "junit")
		if !slices.Contains(kept, "replay.html") {
			t.Errorf("the report is not kept by\n%s", block)
		}
		for _, file := range kept {
			if !strings.Contains(string(tested), file) {
				t.Errorf("%s is kept, and ci.txtar does not look for it", file)
			}
		}
	}
	if p, err := build.ImportDir(".", 0); err != nil || p.Name != "main" {
		t.Errorf("what is to be installed is package %s, %v", p.Name, err)
	}
}

// scalars returns the lines of the texts that are members of one of these names, or elements of such a list.
func scalars(n *yaml.Node, wanted bool, names ...string) []string {
	var list []string
	switch n.Kind {
	case yaml.ScalarNode:
		if wanted {
			list = strings.Split(strings.TrimSpace(n.Value), "\n")
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			list = append(list, scalars(n.Content[i+1], slices.Contains(names, n.Content[i].Value), names...)...)
		}
	case yaml.DocumentNode, yaml.SequenceNode:
		for _, c := range n.Content {
			list = append(list, scalars(c, wanted, names...)...)
		}
	}
	return list
}
