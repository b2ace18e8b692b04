// Package program runs a program whose traffic is recorded: with an environment that makes it use the forward proxy and
// trust its authority, to its end, passing signals on. NothingCame says why nothing may have come through.
package program

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/trust"
	"a2atap/proxy/ca"
	"a2atap/proxy/forward"
)

// ProxyURL returns the proxy URL for the program, with the credentials of --proxy-auth.
func ProxyURL(f *forward.Proxy, auth string) string {
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
	if e, ok := errors.AsType[*exec.Error](err); ok {
		err = e.Err
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return err
}

// NothingCame says why nothing of a program's traffic may have come through, what is most likely first, and what to do.
func NothingCame(p *present.Recorded, program string, taps int) {
	through, remedy := "the proxy", "put a tap in front of each agent with --agent NAME=URL@PORT, and give the program "+
		"http://127.0.0.1:PORT in place of the agent's URL"
	if taps > 0 {
		through, remedy = "the proxy or a tap", "give the program the URL of the tap in place of the agent's"
	}
	p.Tell("nothing came through " + through + ": " + strings.Join(whyNothing(program), "; or ") + ". What to do: " +
		remedy)
}

// whyNothing returns reasons why a program goes round the proxy. What a program is made with is seen from its file; a
// script or a shell may start anything.
func whyNothing(program string) []string {
	const (
		goes    = "it is a Go program, and Go uses no proxy for localhost and 127.0.0.1"
		local   = "the program uses no proxy for localhost and 127.0.0.1, as those in Go never do"
		ignores = "it does not read HTTP_PROXY and HTTPS_PROXY, or sets a proxy or NO_PROXY itself"
		node    = "Node.js before 22.21 and 24 ignores HTTPS_PROXY (EnvHttpProxyAgent of undici reads it)"
		silent  = "it called no agent, or by no proxy: clients of gRPC take the one of HTTPS_PROXY, if any"
	)
	if _, err := buildinfo.ReadFile(program); err == nil {
		return []string{goes, ignores, silent}
	}
	switch strings.TrimSuffix(filepath.Base(program), ".exe") {
	case "node", "npm", "npx", "yarn", "pnpm", "tsx":
		return []string{node, local, ignores, silent}
	}
	return []string{local, ignores, node, silent}
}
