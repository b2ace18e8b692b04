package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/must"
)

func TestWhyNothingCame(t *testing.T) {
	self := must.Get(os.Executable())(t)
	node := filepath.Join(t.TempDir(), "node")
	must.Do(t, os.WriteFile(node, []byte("#!/bin/sh\n"), 0o700))
	for program, first := range map[string]string{
		self: "it is a Go program", node: "Node.js before 22.21 and 24",
		"/bin/sh": "like Go programs, it uses no proxy for localhost", "/nowhere": "like Go programs, it uses no proxy for localhost",
	} {
		why := whyNothing(program)
		if !strings.HasPrefix(why[0], first) || !strings.Contains(why[len(why)-1], "gRPC") {
			t.Errorf("%s: %q", program, why)
		}
	}
}
