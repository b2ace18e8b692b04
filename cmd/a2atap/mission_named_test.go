package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/must"
)

// The columns of the page, after the row and its words.
const (
	asProxy = iota
	actively
	asAgent
)

// columnOf returns the column of a package's tests.
func columnOf(folder string) int {
	switch {
	case strings.HasPrefix(folder, "replay/refagent"):
		return asAgent
	case strings.HasPrefix(folder, "analyzer"), strings.HasPrefix(folder, "proxy"), folder == "replay":
		return asProxy
	}
	return actively
}

// namedByTests returns the page with the evidence that tests and scenarios give by naming a row.
func namedByTests(t *testing.T, page string) string {
	t.Helper()
	named := testsOfRows(t)
	tags := newEvidence(t).tags
	roles, _ := missionRoles()
	var b strings.Builder
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), " |")
		id := strings.TrimPrefix(cells[0], "| ")
		if _, isRow := roles[id]; len(cells) != 6 || !isRow {
			b.WriteString(line)
			continue
		}
		evidence := cells[2:5]
		if _, isTag := tags[id]; isTag && !saysAsked.MatchString(codeSpan.ReplaceAllString(evidence[actively], "")) {
			evidence[actively] = " asked" + strings.Replace(evidence[actively], " ", "; ", 1)
		}
		for _, test := range slices.Sorted(maps.Keys(named[id])) {
			cell := &evidence[columnOf(test[:strings.IndexByte(test, ':')])]
			if !namesTest(*cell, test) {
				separator := ", "
				switch strings.TrimSpace(*cell) {
				case "":
					separator = " "
				case "asked":
					separator = "; "
				}
				*cell += separator + "`" + test + "`"
			}
		}
		b.WriteString(strings.Join(cells, " |") + "\n")
	}
	return b.String()
}

// namesTest reports whether a cell names a test, as a whole or one of its cases.
func namesTest(cell, test string) bool {
	for _, span := range codeSpan.FindAllStringSubmatch(cell, -1) {
		tests := goTests.FindStringSubmatch(span[1])
		if tests == nil {
			continue
		}
		for _, name := range testNames(tests[2]) {
			name, _, _ = strings.Cut(name, "/")
			if tests[1]+": "+name == test {
				return true
			}
		}
	}
	return false
}

var rowID = regexp.MustCompile(`\b(S[0-4]-[0-9A-Z][0-9A-Za-z.]*|K\d+)\b`)

// testsOfRows returns for each row the tests that name it: in the comment, in the body, or in a variable of their file
// that they are the first to use.
func testsOfRows(t *testing.T) map[string]map[string]bool {
	t.Helper()
	named := make(map[string]map[string]bool)
	must.Do(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			if d != nil && d.IsDir() && err == nil && d.Name() != ".." {
				return filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, "_test.go") || strings.HasPrefix(d.Name(), "mission_") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel("../..", filepath.Dir(path))
		if err != nil {
			return err
		}
		for test, ids := range rowsOf(parsed) {
			for id := range ids {
				if named[id] == nil {
					named[id] = make(map[string]bool)
				}
				named[id][filepath.ToSlash(folder)+": "+test] = true
			}
		}
		return nil
	}))
	return named
}

// rowsOf returns the rows that the tests of a file name.
func rowsOf(file *ast.File) map[string]map[string]bool {
	texts := func(n ast.Node, to map[string]bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				for _, id := range rowID.FindAllString(lit.Value, -1) {
					to[id] = true
				}
			}
			return true
		})
	}
	variables := make(map[string]map[string]bool)
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok != token.IMPORT {
			for _, spec := range g.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					ids := make(map[string]bool)
					texts(v, ids)
					for _, name := range v.Names {
						variables[name.Name] = ids
					}
				}
			}
		}
	}
	rows := make(map[string]map[string]bool)
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(f.Name.Name, "Test") || f.Recv != nil || f.Name.Name == "TestMain" {
			continue
		}
		ids := make(map[string]bool)
		for _, id := range rowID.FindAllString(f.Doc.Text(), -1) {
			ids[id] = true
		}
		texts(f.Body, ids)
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok {
				maps.Copy(ids, variables[name.Name])
				delete(variables, name.Name)
			}
			return true
		})
		rows[f.Name.Name] = ids
	}
	return rows
}
