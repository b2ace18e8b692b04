//go:build peers

package main

import (
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stillUpward lists the packages in which more than one use in ten runs up. It only gets shorter.
var stillUpward = []string{}

// The files of a package are layered: each uses only the files below it. At most one use in ten points up, in the order
// with the fewest such uses. A use is a function, method, type, variable or constant of one file that another file
// names, however often.
func TestUsesRunDown(t *testing.T) { // not parallel: needs more memory than other commands allow
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

// usesBetweenFiles returns the uses in each a2atap package, by its path without the module's name.
func usesBetweenFiles(t *testing.T) map[string]fileUses {
	t.Helper()
	src := ourSource(t)
	exports := exportsOf(t, src)
	checked := packages{
		source: src,
		ours:   make(map[string]*checkedPackage),
		others: importer.ForCompiler(src.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }),
	}
	found := make(map[string]fileUses)
	for folder := range src.files {
		p, err := checked.check(folder)
		if err != nil {
			t.Fatal(err)
		}
		uses := make(fileUses)
		for id, obj := range p.uses {
			method, is := obj.(*types.Func)
			if is {
				obj = method.Origin()
			}
			if obj.Pkg() != p.Package || obj.Parent() != p.Scope() && !is {
				continue
			}
			from, to := src.fset.Position(id.Pos()).Filename, src.fset.Position(obj.Pos()).Filename
			if from != to {
				uses[fileUse{filepath.Base(from), filepath.Base(to), obj.Name(), obj.Pos()}] = true
			}
		}
		found[folder] = uses
	}
	return found
}

// exportsOf returns the files with what the packages export that ours import from elsewhere, and those that they import.
func exportsOf(t *testing.T, src *goFiles) map[string]string {
	t.Helper()
	others := make(map[string]bool)
	for _, list := range src.imports() {
		for _, path := range list {
			if !strings.HasPrefix(path, modulePrefix) && path != "unsafe" {
				others[path] = true
			}
		}
	}
	args := append([]string{"list", "-deps", "-export", "-f", "{{.ImportPath}} {{.Export}}"}, slices.Sorted(maps.Keys(others))...)
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	return exports
}

// packages are ours, which are checked from their source when they are asked for, and the others, as they were compiled.
type packages struct {
	source *goFiles
	ours   map[string]*checkedPackage // by folder
	others types.Importer
}

type checkedPackage struct {
	*types.Package
	uses map[*ast.Ident]types.Object
}

func (p packages) check(folder string) (*checkedPackage, error) {
	if known := p.ours[folder]; known != nil {
		return known, nil
	}
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	pkg, err := (&types.Config{Importer: p}).Check(modulePrefix+folder, p.source.fset, p.source.built(folder), info)
	if err != nil {
		return nil, err
	}
	p.ours[folder] = &checkedPackage{pkg, info.Uses}
	return p.ours[folder], nil
}

func (p packages) Import(path string) (*types.Package, error) {
	folder, ours := strings.CutPrefix(path, modulePrefix)
	if !ours {
		return p.others.Import(path)
	}
	checked, err := p.check(folder)
	if err != nil {
		return nil, err
	}
	return checked.Package, nil
}
