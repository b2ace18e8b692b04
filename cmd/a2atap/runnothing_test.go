package main

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
	other := filepath.Join(t.TempDir(), "node")
	if err := os.WriteFile(other, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		program string
		taps    int
		first   string
		advice  string
	}{
		{self, 0, "it is a Go program", "--agent NAME=URL@PORT"},
		{self, 1, "it is a Go program", "the URL of the tap"},
		{other, 0, "Node.js before 22.21 and 24", "EnvHttpProxyAgent"},
		{"/bin/sh", 0, "the program uses no proxy for localhost", "--agent NAME=URL@PORT"},
	} {
		why := whyNothing(test.program, test.taps)
		if !strings.HasPrefix(why[0], test.first) || !strings.Contains(why[0], test.advice) {
			t.Errorf("%s: first of all %q", test.program, why[0])
		}
		if last := why[len(why)-1]; !strings.Contains(last, "gRPC") {
			t.Errorf("%s: last of all %q", test.program, last)
		}
	}
}
