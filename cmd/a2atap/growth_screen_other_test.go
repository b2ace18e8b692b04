//go:build !linux

package main

import (
	"os/exec"
	"testing"
)

// screenLooks is not measured on this system.
func screenLooks(*testing.B, *exec.Cmd, int, int, string, bool) []screenLook { return nil }
