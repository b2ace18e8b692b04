package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhyNothingCame(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(t.TempDir(), "node")
	if err := os.WriteFile(node, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for program, first := range map[string]string{
		self: "it is a Go program", node: "Node.js before 22.21 and 24",
		"/bin/sh": "the program uses no proxy for localhost", "/nowhere": "the program uses no proxy for localhost",
	} {
		why := whyNothing(program)
		if !strings.HasPrefix(why[0], first) || !strings.Contains(why[len(why)-1], "gRPC") {
			t.Errorf("%s: %q", program, why)
		}
	}
}
