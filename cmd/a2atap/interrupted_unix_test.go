//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/must"
)

// An interrupt ends a command that reads, even one that waits for its input. The command reports the interrupt.
func TestInterruptedReader(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"check", "-"}, {"show", "-"}, {"export", "-", "-o", t.TempDir() + "/c.har"}, {"replay", "-", "--to", "http://127.0.0.1:1"},
	} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "a2atap", args...)
			cmd.Env = append(os.Environ(), "TMPDIR="+folder)
			in := must.Get(cmd.StdinPipe())(t)
			defer in.Close()
			var said strings.Builder
			cmd.Stderr = &said
			must.Do(t, cmd.Start())
			// More than a pipe holds is read only by a command that has begun to read.
			must.Get(io.WriteString(in, "# "+strings.Repeat("a comment\n# ", 100_000)))(t)
			must.Do(t, cmd.Process.Signal(os.Interrupt))
			cmd.Wait() //nolint:errcheck // its status is asked for below
			says := "a2atap: " + args[0] + ": interrupted\n"
			if args[0] == "replay" { // whose interrupts end what it sends
				says = ""
			}
			if code := cmd.ProcessState.ExitCode(); code != cli.ExitInterrupted || said.String() != says {
				t.Errorf("exit status %d: %q", code, said.String())
			}
			if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
				t.Errorf("it leaves %v behind, %v", left, err)
			}
		})
	}
}
