// Command modulepath gives the module another path: in go.mod, in imports, and wherever else files name packages by it,
// such as documentation, jobs of CI and tests.
//
//	go run ./cmd/internal/modulepath example.org/team/a2atap
//
// Run it in the root of the module. It changes files there; git shows the changes, and can undo them. Other uses of the
// name a2atap stay: the program, its folders, and its names in traffic and reports.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], ".", os.Stdout, os.Stderr)) }

// run gives the module in a folder the path that is the only argument, and returns the exit status.
func run(args []string, dir string, out, errs io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(errs, "modulepath needs the new path: go run ./cmd/internal/modulepath example.org/team/a2atap")
		return 2
	}
	if err := check(args[0]); err != nil {
		fmt.Fprintf(errs, "modulepath: %v\n", err)
		return 2
	}
	from, changed, err := move(dir, args[0])
	switch {
	case err != nil:
		fmt.Fprintf(errs, "modulepath: %v\n", err)
		return 1
	case from == args[0]:
		fmt.Fprintf(out, "the module is already %s\n", from)
	default:
		fmt.Fprintf(out, "%s is now %s, in %d files; check git diff, then run: go vet ./... && go test ./...\n",
			from, args[0], changed)
	}
	return 0
}
