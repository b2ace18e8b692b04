package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// A small module is moved twice: what names packages changes, and nothing else does.
func TestMove(t *testing.T) {
	before := map[string]string{
		"go.mod": "module mill\n\ngo 1.26\n",
		"cmd/mill/main.go": "package main\n\nimport (\n\t\"example.com/x\"\n\t\"mill/stone\"\n)\n\n// See [mill/stone.Grind].\n" +
			"const agent = \"mill/1.0\"\n\nvar _, _ = x.X, stone.Grind\n",
		"stone/stone.go":  "package stone\n\nvar all = []string{\"mill/...\", \"mill/stone\", \"/usr/mill/stone\", \"$HOME/mill/cmd\"}\n",
		"docs/install.md": "Use `go install mill/cmd/mill` beside mill/stones, ./cmd/mill/stone and mill/docs2.\n",
		"stone/bin":       "\x00 mill/stone",
		".git/kept":       "mill/stone",
	}
	after := map[string]string{
		"go.mod": "module example.org/team/mill\n\ngo 1.26\n",
		"cmd/mill/main.go": "package main\n\nimport (\n\t\"example.com/x\"\n\t\"example.org/team/mill/stone\"\n)\n\n" +
			"// See [example.org/team/mill/stone.Grind].\nconst agent = \"mill/1.0\"\n\nvar _, _ = x.X, stone.Grind\n",
		"stone/stone.go": "package stone\n\nvar all = []string{\"example.org/team/mill/...\", \"example.org/team/mill/stone\", " +
			"\"/usr/mill/stone\", \"$HOME/mill/cmd\"}\n",
		"docs/install.md": "Use `go install example.org/team/mill/cmd/mill` beside mill/stones, ./cmd/mill/stone and mill/docs2.\n",
		"stone/bin":       "\x00 mill/stone",
		".git/kept":       "mill/stone",
	}
	dir := t.TempDir()
	for name, text := range before {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, []byte(text), 0o755))
	}
	for _, step := range []struct {
		to, says string
		want     map[string]string
	}{
		{"example.org/team/mill", "mill is now example.org/team/mill, in 4 files;", after},
		{"example.org/team/mill", "the module is already example.org/team/mill\n", after},
		{"a.example/m", "example.org/team/mill is now a.example/m, in 4 files;", nil}, // imports are in another order
		{"example.org/team/mill", "a.example/m is now example.org/team/mill", after},
	} {
		var out, errs strings.Builder
		if code := run([]string{step.to}, dir, &out, &errs); code != 0 || !strings.HasPrefix(out.String(), step.says) {
			t.Errorf("%s: exit %d, %q, %s", step.to, code, out.String(), errs.String())
		}
		for name, want := range step.want {
			got := must.Get(os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))))(t)
			expect.Same(t, fmt.Sprintf("%s: %s", step.to, name), want, string(got))
		}
	}
}

// What is not a module path, or one that cannot be, changes nothing.
func TestWrongPaths(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct {
		dir, want string
		args      []string
		code      int
	}{
		{dir, "needs the new path", nil, 2},
		{dir, "needs the new path", []string{"a.example/x", "b.example/y"}, 2},
		{dir, `"a2atap" is not a module path: missing dot in first path element; write one such as`, []string{"a2atap"}, 2},
		{dir, `"https://example.org/a2atap" is not a module path`, []string{"https://example.org/a2atap"}, 2},
		{dir, `"example.org/a b" is not a module path`, []string{"example.org/a b"}, 2},
		{dir, "sorts after text/template", []string{"vcs.example/a2atap"}, 2},
		{dir, "go.mod not found", []string{"example.org/a2atap"}, 1},
	} {
		var out, errs strings.Builder
		if code := run(test.args, test.dir, &out, &errs); code != test.code || !strings.Contains(errs.String(), test.want) || out.Len() > 0 {
			t.Errorf("%q: exit %d, %q, %q; want %d and %q", test.args, code, errs.String(), out.String(), test.code, test.want)
		}
	}
}
