//go:build peers

package main

import (
	"os/exec"
	"strings"
	"testing"

	"a2atap/cmd/internal/manual"
)

// Groff reads each page, and finds nothing to warn of.
func TestManualInGroff(t *testing.T) {
	pages := manual.Pages(testRoot(), manual.Edition{Program: "a2atap v1.2.3", Date: "2026-03-01"})
	for _, p := range pages {
		cmd := exec.Command("groff", "-man", "-ww", "-z", "-Tutf8")
		cmd.Stdin = strings.NewReader(p.Text)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s(%d): %v, %s", p.Name, p.Section, err, out)
		}
		cmd = exec.Command("groff", "-man", "-Tutf8", "-P-cbou")
		cmd.Stdin = strings.NewReader(p.Text)
		out, err := cmd.Output()
		if err != nil || !strings.Contains(string(out), "NAME") || !strings.Contains(string(out), p.Name+" - ") {
			t.Errorf("%s(%d): %v\n%s", p.Name, p.Section, err, out)
		}
	}
	if len(pages) == 0 {
		t.Error("there are no pages")
	}
}
