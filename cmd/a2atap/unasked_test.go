package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The screen library is initialized while it cannot query colors. Before the program begins, the environment is
// restored.
func TestNoTerminalIsAsked(t *testing.T) {
	cmd := exec.Command("a2atap", "version") // the test's own binary
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "CI=") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	before := strings.Index(string(out), "init "+modulePrefix+"tui/internal/noquery ")
	library := strings.Index(string(out), "init github.com/charmbracelet/bubbletea ")
	after := strings.Index(string(out), "init "+modulePrefix+"tui ")
	if before < 0 || library < before || after < library {
		t.Errorf("packages are initialised in another order (%d, %d, %d):\n%s", before, library, after, out)
	}
}
