package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stillUpward lists the packages in which more than one use in ten runs up. It only gets shorter.
var stillUpward = []string{}

// The files of a package stand above each other: what is in one uses what is in those below it. At most one use in ten
// runs up, in the order in which the fewest do. A use is a function, method, type, variable or constant of one file that
// another file names, however often.
func TestUsesRunDown(t *testing.T) {
	t.Parallel()
	for name, uses := range usesBetweenFiles(t) {
		order := uses.order()
		up := uses.upward(order)
		switch over, listed := len(up)*10 > len(uses), slices.Contains(stillUpward, name); {
		case over && !listed:
			t.Errorf("%s: %d of %d uses run up in the order %s: move what they use down, or what uses it up:\n\t%s",
				name, len(up), len(uses), strings.Join(order, ", "), strings.Join(up, "\n\t"))
		case !over && listed:
			t.Errorf("%s is within the limit now: strike it off the list", name)
		}
	}
}

// A fileUse is a name of one file that another one uses.
type fileUse struct {
	from, to, name string
	at             token.Pos
}

// fileUses are those within a package.
type fileUses map[fileUse]bool

// upward returns the uses that run up, if files are in that order from the top.
func (u fileUses) upward(order []string) (list []string) {
	for use := range u {
		if slices.Index(order, use.from) > slices.Index(order, use.to) {
			list = append(list, use.from+" uses "+use.name+" of "+use.to)
		}
	}
	slices.Sort(list)
	return list
}

// order returns the files from the top down, so that few uses run up: none does better by moving one file.
func (u fileUses) order() []string {
	weight, net := make(map[[2]string]int), make(map[string]int)
	for use := range u {
		weight[[2]string{use.from, use.to}]++
		net[use.from]++
		net[use.to]--
	}
	var order []string
	for file := range net {
		order = append(order, file)
	}
	slices.SortFunc(order, func(a, b string) int {
		if net[a] != net[b] {
			return net[b] - net[a]
		}
		return strings.Compare(a, b)
	})
	for moved := true; moved; {
		moved = false
		for i := range order {
			file := order[i]
			rest := slices.Delete(slices.Clone(order), i, i+1)
			up := 0 // with the file at the top: all that use it
			for _, other := range rest {
				up += weight[[2]string{other, file}]
			}
			best, least, now := 0, up, up
			for j, other := range rest { // and below that one
				up += weight[[2]string{file, other}] - weight[[2]string{other, file}]
				if up < least {
					best, least = j+1, up
				}
				if j+1 == i {
					now = up
				}
			}
			if least < now {
				order, moved = slices.Insert(rest, best, file), true
			}
		}
	}
	return order
}

// usesBetweenFiles returns the uses in each package of ours, by its path without the module's name.
func usesBetweenFiles(t *testing.T) map[string]fileUses {
	t.Helper()
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
	}
	list := func(args ...string) (all []listed) {
		out, err := exec.Command("go", append([]string{"list", "-deps"}, args...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p listed
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				return all
			} else if err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
	}
	var ours []listed
	args := []string{"-export", "-json=ImportPath,Export"}
	for _, p := range list("-json=ImportPath,Dir,GoFiles", "a2atap/...") {
		if strings.HasPrefix(p.ImportPath, modulePrefix) {
			ours = append(ours, p)
		} else if p.ImportPath != "unsafe" && !strings.HasPrefix(p.ImportPath, "vendor/") {
			args = append(args, p.ImportPath)
		}
	}
	exports := make(map[string]string)
	for _, p := range list(args...) {
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	checked := packages{
		ours:   make(map[string]*types.Package),
		others: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }),
	}
	found := make(map[string]fileUses)
	for _, p := range ours {
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
		pkg, err := (&types.Config{Importer: checked}).Check(p.ImportPath, fset, files, info)
		if err != nil {
			t.Fatal(err)
		}
		checked.ours[p.ImportPath] = pkg
		uses := make(fileUses)
		for id, obj := range info.Uses {
			method, is := obj.(*types.Func)
			if is {
				obj = method.Origin()
			}
			if obj.Pkg() != pkg || obj.Parent() != pkg.Scope() && !is {
				continue
			}
			from, to := fset.Position(id.Pos()).Filename, fset.Position(obj.Pos()).Filename
			if from != to {
				uses[fileUse{filepath.Base(from), filepath.Base(to), obj.Name(), obj.Pos()}] = true
			}
		}
		found[strings.TrimPrefix(p.ImportPath, modulePrefix)] = uses
	}
	return found
}

// packages are ours, which were checked from their source, and the others, as they were compiled.
type packages struct {
	ours   map[string]*types.Package
	others types.Importer
}

func (p packages) Import(path string) (*types.Package, error) {
	if pkg := p.ours[path]; pkg != nil {
		return pkg, nil
	}
	return p.others.Import(path)
}
