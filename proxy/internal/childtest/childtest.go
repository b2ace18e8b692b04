// Package childtest runs the binary of a test again, as other processes.
package childtest

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// AtOnce runs the binary n times, with one more variable in the environment, and returns the output of each. The
// standard input of all ends at the same moment: the processes should start the racing operation then.
func AtOnce(t testing.TB, n int, variable string) []string {
	t.Helper()
	outputs := make([]bytes.Buffer, n)
	var children []*exec.Cmd
	var gates []*os.File
	for i := range outputs {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), variable)
		child.Stdin, child.Stdout, child.Stderr = read, &outputs[i], &outputs[i]
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		read.Close()
		children, gates = append(children, child), append(gates, write)
	}
	for _, gate := range gates {
		gate.Close()
	}
	var printed []string
	for i, child := range children {
		if err := child.Wait(); err != nil {
			t.Errorf("process %d: %v: %s", i, err, outputs[i].String())
		}
		printed = append(printed, outputs[i].String())
	}
	return printed
}
