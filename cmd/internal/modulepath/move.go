package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// lastBefore must sort after the path of the module: package unasked relies on the order of import paths.
const lastBefore = "text/template"

// check returns an error if a path cannot be the path of this module.
func check(path string) error {
	err := module.CheckPath(path)
	if invalid, ok := errors.AsType[*module.InvalidPathError](err); ok {
		err = invalid.Err
	}
	switch {
	case err != nil:
		return fmt.Errorf("%q is not a module path: %w; write one such as example.org/team/a2atap", path, err)
	case path >= lastBefore:
		return fmt.Errorf("%q sorts after %s, so every command would ask the terminal for its colors "+
			"(tui/internal/unasked); use a path that sorts before it", path, lastBefore)
	}
	return nil
}

// skipped are folders without files in git.
var skipped = []string{".git", "dist", "node_modules", ".venv"}

// move gives the module in a folder another path. It returns the former one and how many files it has changed; if that is
// not possible, it has changed none, unless a file could not be written.
func move(dir, to string) (from string, changed int, err error) {
	name := filepath.Join(dir, "go.mod")
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", 0, errors.New("go.mod not found; run this in the root of the module")
	} else if err != nil {
		return "", 0, err
	}
	mod, err := modfile.Parse(name, text, nil)
	switch {
	case err != nil:
		return "", 0, err
	case mod.Module == nil:
		return "", 0, fmt.Errorf("%s names no module", name)
	}
	from = mod.Module.Mod.Path
	if from == to {
		return from, 0, nil
	}
	if err := mod.AddModuleStmt(to); err != nil {
		return from, 0, err
	}
	files := make(map[string][]byte)
	if files[name], err = mod.Format(); err != nil {
		return from, 0, err
	}
	wings, err := folders(dir)
	if err != nil {
		return from, 0, err
	}
	r := renaming{packages: packagesOf(from, wings), to: to}
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skipped, d.Name()):
			return fs.SkipDir
		case !d.Type().IsRegular() || file == name:
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		now, err := r.rename(file, text)
		if err == nil && !bytes.Equal(now, text) {
			files[file] = now
		}
		return err
	})
	if err != nil {
		return from, 0, err
	}
	for file, now := range files {
		info, err := os.Stat(file)
		if err != nil {
			return from, 0, err
		}
		if err := os.WriteFile(file, now, info.Mode().Perm()); err != nil {
			return from, 0, err
		}
	}
	return from, len(files), nil
}

// folders returns the names of the top-level folders with packages.
func folders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(skipped, e.Name()) {
			names = append(names, regexp.QuoteMeta(e.Name()))
		}
	}
	return names, nil
}

// packagesOf matches the path of a module in package paths: followed by one of its folders, or by /... for all, and not
// the end of a longer path.
func packagesOf(module string, folders []string) *regexp.Regexp {
	return regexp.MustCompile(`(^|[^\w./$@~-])` + regexp.QuoteMeta(module) +
		`(/(?:(?:` + strings.Join(folders, "|") + `)\b|\.\.\.))`)
}

// A renaming is the changes to files.
type renaming struct {
	packages *regexp.Regexp
	to       string
}

// rename returns the new contents of a file. Files that are not text stay unchanged.
func (r renaming) rename(file string, text []byte) ([]byte, error) {
	if bytes.IndexByte(text, 0) >= 0 {
		return text, nil
	}
	now := r.packages.ReplaceAll(text, []byte("${1}"+strings.ReplaceAll(r.to, "$", "$$")+"${2}"))
	if bytes.Equal(now, text) || filepath.Ext(file) != ".go" {
		return now, nil
	}
	formatted, err := format.Source(now) // imports are sorted
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return formatted, nil
}
