//go:build unix

package cli

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// A signal that comes when a command is over, and the process is about to say how it ended, changes nothing.
func TestSignalAfterTheEnd(t *testing.T) {
	const child, status = "A2ATAP_TEST_ENDING", 7
	if os.Getenv(child) != "" {
		_, cancel := UntilInterrupted(context.Background(), Env{Err: os.Stderr, Now: time.Now, Alone: true})
		cancel()
		for range 20_000 {
			runtime.Gosched() // lets code run that would release signals now
		}
		syscall.Kill(os.Getpid(), syscall.SIGTERM)
		os.Exit(status)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestSignalAfterTheEnd$")
	cmd.Env = append(os.Environ(), child+"=1")
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != status {
		t.Errorf("%v, want exit status %d\n%s", err, status, out)
	}
}
