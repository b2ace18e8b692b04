package kept

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/must"
)

var update = flag.Bool("update", false, "write what has changed")

// judging are the folders, from this one on, whose code decides what a reading says; those below them are among them.
var judging = []string{"..", "../../proxy/a2a", "../../proxy/jsondoc", "../../proxy/capture"}

// others are folders below them whose code only shows, stores or tests.
var others = []string{
	"../analyzertest", "../report", "../minimize", "../otlp", "../sequence", "../baseline", "../rules/internal",
	"../rules/mutation", "../../proxy/capture/bolt", "../../proxy/capture/filter", "../../proxy/capture/har",
	"../../proxy/capture/jsonl", "../../proxy/capture/exchangejson", "../../proxy/capture/transcript",
	"../../proxy/capture/merge", "../../proxy/capture/notes", "../../proxy/capture/open", "../../proxy/capture/redact",
	"../../proxy/capture/capturetest",
}

// A reading that was made by other code is not read: the constant code says which code it is. Comments do not count.
func TestCode(t *testing.T) {
	sum := sha256.New()
	for _, root := range judging {
		var files []string
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || slices.Contains(others, filepath.ToSlash(path))):
				return filepath.SkipDir
			case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && d.Name() != "code.go":
				files = append(files, path)
			}
			return nil
		})
		must.Do(t, err)
		slices.Sort(files)
		for _, path := range files {
			text := must.Get(withoutComments(path))(t)
			fmt.Fprintf(sum, "%s %d\n%s", filepath.ToSlash(path), len(text), text)
		}
	}
	now := hex.EncodeToString(sum.Sum(nil)[:8])
	if now == code {
		return
	}
	if !*update {
		t.Fatalf("the code that judges is %s, and readings say %s: run go test ./analyzer/kept -run Code -update", now, code)
	}
	text := fmt.Sprintf("package kept\n\n// code stands for the code that judges. TestCode says when it has to be another, and writes it.\n"+
		"const code = %q\n", now)
	if err := os.WriteFile("code.go", []byte(text), 0o644); err != nil { //nolint:gosec // it is source
		t.Fatal(err)
	}
}

// withoutComments returns a file as it is printed without its comments.
func withoutComments(path string) ([]byte, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, 0)
	if err != nil {
		return nil, err
	}
	ast.SortImports(fset, file)
	var text bytes.Buffer
	err = printer.Fprint(&text, token.NewFileSet(), file)
	return text.Bytes(), err
}
