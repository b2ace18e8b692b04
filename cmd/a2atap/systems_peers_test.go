//go:build peers

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sources "golang.org/x/tools/go/packages"

	"a2atap/proxy/must"
)

// The types of the whole program are right on the other systems for which it is released. Of what other modules do,
// only the declarations are read. It takes seconds, and to compile all of it for them takes minutes.
func TestOtherSystems(t *testing.T) {
	root := must.Get(filepath.Abs("../.."))(t) + string(filepath.Separator)
	for _, system := range otherSystems {
		t.Run(system, func(t *testing.T) {
			cfg := &sources.Config{
				Mode: sources.NeedName | sources.NeedImports | sources.NeedDeps | sources.NeedCompiledGoFiles |
					sources.NeedTypes | sources.NeedTypesSizes | sources.NeedSyntax | sources.NeedModule,
				Env: append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
				ParseFile: func(files *token.FileSet, name string, text []byte) (*ast.File, error) {
					file, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
					if file != nil && !strings.HasPrefix(name, root) {
						dropBodies(file)
					}
					return file, err
				},
			}
			program := must.Get(sources.Load(cfg, "."))(t)
			ours := 0
			sources.Visit(program, nil, func(p *sources.Package) {
				if p.Module == nil || !p.Module.Main {
					return
				}
				ours++
				for _, err := range p.Errors {
					t.Error(err)
				}
			})
			if ours < 50 {
				t.Errorf("only %d packages of this module are compiled", ours)
			}
		})
	}
}

func dropBodies(file *ast.File) {
	for _, what := range file.Decls {
		if f, ok := what.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
}
