package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/rules"
)

const (
	rulesPath = "a2atap/analyzer/rules"
	trackPath = "a2atap/analyzer/track"
)

// Every rule names the trackers that its check uses, directly or indirectly, and no others but those whose observations
// it needs. Using an unnamed tracker panics in the middle of a user's recording, perhaps on a code path that no
// transcript covers.
func TestRulesNameWhatTheyAsk(t *testing.T) {
	asked := askedByRules(t)
	for _, r := range rules.All {
		var named []string
		asks, found := asked[r.ID]
		if !found {
			t.Errorf("%s: its check was not found in the source", r.ID)
			continue
		}
		for _, tracker := range r.Needs {
			named = append(named, tracker.Name)
			if r.On&tracker.Makes != 0 && !slices.Contains(asks, tracker.Name) {
				asks = append(asks, tracker.Name)
			}
		}
		slices.Sort(asks)
		if diff := cmp.Diff(asks, named); diff != "" {
			t.Errorf("%s: needs, in the order of their names (-asked +named):\n%s", r.ID, diff)
		}
	}
}

// A reader finds what the declarations of the packages of rules refer to. Types are not checked: it is enough to know
// which name is which declaration.
type reader struct {
	fset   *token.FileSet
	info   types.Info
	refers map[string][]string // declaration, PATH.Name or for all methods of a name PATH.().Name → declarations, and paths of trackers
	checks map[string]string   // rule id → the declaration that its check is put under
}

// askedByRules returns the names of the trackers that the check of each rule asks.
func askedByRules(t *testing.T) map[string][]string {
	t.Helper()
	r := &reader{
		fset: token.NewFileSet(), info: types.Info{Uses: make(map[*ast.Ident]types.Object)},
		refers: make(map[string][]string), checks: make(map[string]string),
	}
	err := filepath.WalkDir(".", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if d.Name() == "testdata" {
			return fs.SkipDir
		}
		return r.read(dir, path.Join(rulesPath, filepath.ToSlash(dir)))
	})
	if err != nil {
		t.Fatal(err)
	}
	asked := make(map[string][]string)
	for id, check := range r.checks {
		asked[id] = r.trackers(check, make(map[string]bool), nil)
	}
	return asked
}

// trackers adds the names of the trackers that a declaration asks, itself or through others.
func (r *reader) trackers(name string, seen map[string]bool, list []string) []string {
	if seen[name] {
		return list
	}
	seen[name] = true
	if tracker, ok := strings.CutPrefix(name, trackPath+"/"); ok {
		return append(list, tracker)
	}
	for _, to := range r.refers[name] {
		list = r.trackers(to, seen, list)
	}
	return list
}

// Import implements types.Importer: of what is imported only the name counts.
func (r *reader) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

func (r *reader) read(dir, pkg string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(r.fset, name, nil, 0)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	conf := types.Config{Importer: r, Error: func(error) {}}
	conf.Check(pkg, r.fset, files, &r.info) //nolint:errcheck // types of other packages are not known
	for _, f := range files {
		for _, d := range f.Decls {
			r.declare(pkg, d)
		}
	}
	return nil
}

func (r *reader) declare(pkg string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := pkg + "." + d.Name.Name
		if d.Recv != nil {
			name = pkg + ".()." + d.Name.Name
		}
		r.refer(pkg, name, d.Body)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				for i, value := range v.Values {
					r.value(pkg, v.Names[i].Name, value)
				}
			}
		}
	}
}

// value reads the value of a variable: of a rule, the check.
func (r *reader) value(pkg, name string, value ast.Expr) {
	name = pkg + "." + name
	if of, ok := value.(*ast.UnaryExpr); ok {
		if rule, ok := of.X.(*ast.CompositeLit); ok {
			if id := field(rule, "ID"); id != nil {
				text, err := strconv.Unquote(id.(*ast.BasicLit).Value)
				if err == nil {
					r.checks[text] = name
				}
				value = field(rule, "Check")
			}
		}
	}
	r.refer(pkg, name, value)
}

// field returns the value of a field of a literal, or nil.
func field(lit *ast.CompositeLit, name string) ast.Expr {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok && key.Name == name {
				return kv.Value
			}
		}
	}
	return nil
}

// refer notes what a node refers to, under the name of its declaration.
func (r *reader) refer(pkg, name string, node ast.Node) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if used := r.info.Uses[n]; used != nil && used.Pkg() != nil && used.Parent() == used.Pkg().Scope() {
				r.refers[name] = append(r.refers[name], pkg+"."+n.Name)
			}
		case *ast.SelectorExpr:
			to := r.selected(pkg, n)
			r.refers[name] = append(r.refers[name], to...)
		}
		return true
	})
}

// selected returns what a selector refers to: something of another package, or a method, whichever has that name.
func (r *reader) selected(pkg string, n *ast.SelectorExpr) []string {
	of, _ := n.X.(*ast.Ident)
	imported, ok := r.info.Uses[of].(*types.PkgName)
	if !ok {
		return []string{pkg + ".()." + n.Sel.Name}
	}
	switch from := imported.Imported().Path(); {
	case strings.HasPrefix(from, trackPath+"/") && n.Sel.Name == "Of":
		return []string{from}
	case strings.HasPrefix(from, rulesPath+"/"):
		return []string{from + "." + n.Sel.Name}
	}
	return nil
}
