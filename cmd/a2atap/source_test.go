package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// modulePrefix is what the import paths of this module's packages begin with.
var modulePrefix = func() string {
	info, _ := debug.ReadBuildInfo()
	return info.Main.Path + "/"
}()

// goFiles are the files of Go of the module, parsed, without those of tests.
type goFiles struct {
	fset  *token.FileSet
	files map[string][]sourceFile // by folder, which is the import path without the module's name
}

type sourceFile struct {
	name  string
	built bool // on this system
	*ast.File
}

// ourSource parses the source of this module. It is not cached: commands that run in this process limit its memory, and
// the cache would make them collect garbage all the time.
func ourSource(t *testing.T) *goFiles {
	t.Helper()
	s, err := parsedSource(parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ourImports returns the imports of each a2atap package on this system, by its import path. All tests share it.
func ourImports(t *testing.T) map[string][]string {
	t.Helper()
	imports, err := readImports()
	if err != nil {
		t.Fatal(err)
	}
	return imports
}

var readImports = sync.OnceValues(func() (map[string][]string, error) {
	s, err := parsedSource(parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	return s.imports(), nil
})

func parsedSource(mode parser.Mode) (*goFiles, error) {
	const root = "../.."
	s := &goFiles{fset: token.NewFileSet(), files: make(map[string][]sourceFile)}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != root && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		dir, name := filepath.Split(path)
		built, err := build.Default.MatchFile(dir, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(s.fset, path, nil, mode)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, dir)
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		s.files[folder] = append(s.files[folder], sourceFile{name, built, file})
		return nil
	})
	if err == nil && len(s.files["cmd/a2atap"]) == 0 {
		err = fmt.Errorf("the command has no source beneath %s", root)
	}
	return s, err
}

// built returns the files of a folder that are built on this system.
func (s *goFiles) built(folder string) []*ast.File {
	var files []*ast.File
	for _, f := range s.files[folder] {
		if f.built {
			files = append(files, f.File)
		}
	}
	return files
}

// imports returns what each package imports on this system, by its import path.
func (s *goFiles) imports() map[string][]string {
	all := make(map[string][]string)
	for folder := range s.files {
		paths := make(map[string]bool)
		files := s.built(folder)
		for _, file := range files {
			for _, i := range file.Imports {
				path, _ := strconv.Unquote(i.Path.Value)
				paths[path] = true
			}
		}
		if len(files) > 0 {
			all[modulePrefix+folder] = slices.Sorted(maps.Keys(paths))
		}
	}
	return all
}
