// Package program runs a program whose traffic is recorded: with an environment that makes it use the forward proxy and
// trust its authority, to its end, passing signals on. NothingCame says why nothing may have come through.
package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/trust"
	"a2atap/proxy"
	"a2atap/proxy/ca"
)

// ProxyURL returns the proxy URL for the program, with the credentials of --proxy-auth.
func ProxyURL(f *proxy.Forward, auth string) string {
	user, password, ok := strings.Cut(auth, ":")
	if !ok {
		return f.URL()
	}
	host := strings.TrimPrefix(f.URL(), "http://")
	return (&url.URL{Scheme: "http", User: url.UserPassword(user, password), Host: host}).String()
}

// Run runs the program to its end and returns its exit status. Signals go to the program. The error says why it could
// not be run, or why the recording has failed first.
func Run(
	ctx context.Context, e cli.Env, failed <-chan error, relay *cli.SignalRelay, path string, args []string, proxy string,
) (status int, err error) {
	dir, err := os.MkdirTemp("", "a2atap-run-")
	if err != nil {
		return 0, fmt.Errorf("make a directory for the certificates: %w", err)
	}
	defer os.RemoveAll(dir)
	authority, err := trust.Open(e)
	if err != nil {
		return 0, err
	}
	files := trust.In(dir)
	if err := trust.Write(e, authority, files); err != nil && !errors.Is(err, ca.ErrNoRoots) {
		return 0, err
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Args[0] = args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.In, e.Out, e.Err
	cmd.Env = trust.Environ(trust.Settings(proxy, authority, files, e.Getenv))
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("run %s: %w", args[0], Cause(err))
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	done := ctx.Done()
	for {
		select {
		case waitErr := <-ended:
			return exitStatus(cmd, waitErr), err
		case s := <-relay.Signals:
			if relay.Passes(s) && (s != os.Interrupt || !fromTerminal(e)) { // the terminal has sent it to the program as well
				cmd.Process.Signal(s) //nolint:errcheck // it may have ended
			}
		case cause := <-failed:
			failed = nil
			err = recorder.Failure(cause)
			cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it may have ended
		case <-done:
			done = nil
			cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // it may have ended
		}
	}
}

// fromTerminal reports whether a terminal sends signals to this process and to the program alike.
func fromTerminal(e cli.Env) bool {
	f, ok := e.In.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull
}

// exitStatus returns the status that a shell would report for a program that has ended.
func exitStatus(cmd *exec.Cmd, err error) int {
	if err == nil || cmd.ProcessState == nil {
		return 0
	}
	if wait, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && wait.Signaled() {
		return 128 + int(wait.Signal())
	}
	return max(cmd.ProcessState.ExitCode(), 0)
}

// Cause strips the prefix that package exec adds to an error.
func Cause(err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err
}
