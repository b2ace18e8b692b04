// Package program runs a program whose traffic is recorded. Its environment makes it use the forward proxy and trust
// the proxy's authority. Signals are passed on to it. NothingCame explains why no traffic may have been recorded.
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
	"a2atap/tui/terminal"
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

// Run runs the program to its end and returns its exit status. Its environment has further variables, NAME=VALUE, in
// addition to those for the proxy. Signals go to the program. The error states why the program could not run, or why the
// recording failed first.
func Run(
	ctx context.Context, e cli.Env, failed <-chan error, relay *cli.SignalRelay, path string, args []string, proxy string,
	further []string,
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
	cmd.Env = append(trust.Environ(trust.Settings(proxy, authority, files, e.Getenv)), further...) // the last one counts
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("run %s: %w", args[0], Cause(err))
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	in, isFile := e.In.(*os.File)
	onTerminal := isFile && terminal.Is(in)
	done := ctx.Done()
	for {
		select {
		case waitErr := <-ended:
			return exitStatus(cmd, waitErr), err
		case s := <-relay.Signals:
			if relay.Passes(s) && (s != os.Interrupt || !onTerminal) { // the terminal has sent it to the program as well
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

// NothingCame prints why none of a program's traffic may have been recorded, likeliest reasons first, and what to do.
func NothingCame(p *present.Recorded, program string, taps int) {
	through, remedy := "the proxy", "add --agent NAME=URL@PORT, and give the program http://127.0.0.1:PORT instead of the agent's URL"
	if taps > 0 {
		through, remedy = "the proxy or a tap", "give the program the URL of the tap instead of the agent's"
	}
	p.Tell("no traffic passed through " + through + ". Possible reasons:")
	for _, reason := range whyNothing(program) {
		p.Tell("- " + reason)
	}
	p.Tell("What to do: " + remedy)
}

// whyNothing returns reasons why a program bypasses the proxy. The program's file shows its language or runtime; a
// script or a shell may start anything.
func whyNothing(program string) []string {
	const (
		goes    = "it is a Go program, and Go uses no proxy for localhost and 127.0.0.1"
		local   = "like Go programs, it uses no proxy for localhost and 127.0.0.1"
		ignores = "it ignores HTTP_PROXY and HTTPS_PROXY, or sets a proxy or NO_PROXY itself"
		node    = "Node.js before 22.21 and 24 ignores HTTPS_PROXY, unless the program uses EnvHttpProxyAgent"
		silent  = "it called no agent, or only over gRPC, which reads no proxy variable except HTTPS_PROXY"
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
