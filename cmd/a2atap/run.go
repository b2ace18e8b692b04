package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/proxy"
	"a2atap/proxy/ca"
)

// childGrace is how long exchanges may go on once the child has ended, so that those in flight are recorded as they
// end.
const childGrace = time.Second

func newRun(e cli.Env) *cobra.Command {
	o := recordOptions{}
	cmd := &cobra.Command{
		Use:   "run [flags] -- CMD...",
		Short: "Run a program through the forward proxy, and record until it ends",
		Long: `Run starts a forward proxy (see record --forward), and a program with an environment that makes it use the
proxy and trust its certificate authority. It records and checks the program's traffic with agents, with the flags of
record that apply, and ends when the program ends. Standard input, output and error are the program's; messages of
a2atap go to standard error, with a line for each exchange and each finding. SIGINT, SIGTERM and SIGHUP are passed on to
the program. Of exchanges without a sign of A2A no bodies are recorded (--all-traffic).

The environment is that of ca env: HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, NO_PROXY empty, and what curl, Go, Java,
Node.js, Python, Ruby and others read to trust the authority. The traffic of programs that ignore it, or that use no
proxy for localhost, as Go programs do, is not recorded: give the program the URL of a tap (--agent). Where nothing came
through at all, it says why that may be, and exits with 4 (--allow-empty: 0). A proxy that was configured before is not
used, but with --upstream-proxy env.

` + diversionHelp + `

` + reachHelp + `

Faults are made in answers that come through a tap (--agent), with --fault as record takes it. --ship is that of
record, too.

Exit status: that of the program if it is not 0 (128 plus the signal's number if a signal ended it), else 4 if nothing
came through, else that of record.`,
		Example: `  a2atap run -- python planner.py
  a2atap run -o c.a2atap --fail-on error -- npm test
  a2atap run --tunnel '*.internal.example' -- ./agent --port 9001
  a2atap run --agent booker=http://127.0.0.1:9001@7001 -- ./planner --booker http://127.0.0.1:7001`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch at := cmd.ArgsLenAtDash(); {
			case at > 0 || at < 0 && len(args) > 0:
				return cli.Usage("run: write -- before the program: a2atap run [flags] -- %s; see a2atap run --help", args[0])
			case len(args) == 0:
				return cli.Usage("run needs a program: a2atap run [flags] -- CMD...; see a2atap run --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runProgram(cmd.Context(), e, o, args) },
	}
	o.shared(cmd.Flags(), "0")
	o.format = "text"
	return cmd
}

// runProgram runs a program through the forward proxy and records its traffic.
func runProgram(ctx context.Context, e cli.Env, o recordOptions, args []string) error {
	gate, err := present.ParseGate(o.failOn)
	if err != nil {
		return err
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return fmt.Errorf("run %s: %w; give a program in PATH, or its path", args[0], programCause(err))
	}
	talk := e
	talk.Out = e.Err // standard output is the program's
	out := &present.Recorded{Env: talk}
	options, err := o.recording(e, out)
	if err != nil {
		return err
	}
	options.grace = childGrace
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, cli.Endings()...)
	defer signal.Stop(signals)
	r, err := startRecording(options)
	if err != nil {
		return err
	}
	out.Faults(options.faults)
	for _, t := range r.proxy.Taps() {
		out.Tap(t)
	}
	e.Tell("recording %s into %s, through %s", filepath.Base(path), options.output, r.proxy.Forward().URL())
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		if e.Getenv(name) != "" && o.reach.UpstreamProxy == "" {
			e.Tell("the proxy that %s names is not used on the way to agents; --upstream-proxy env uses it", name)
			break
		}
	}
	relay := cli.SignalRelay{Signals: signals, Interrupts: cli.Interrupts{Now: e.Now}}
	status, err := child(ctx, e, r.failed, &relay, path, args, proxyURL(r.proxy.Forward(), o.proxyAuth))
	defer relay.TakeOver(e)()
	result, stats, stopErr := r.stop()
	if err == nil {
		err = stopErr
	}
	err = out.End(gate, o.allowEmpty, options.output, result, stats, err)
	if stats.Exchanges == 0 && stats.LostExchanges == 0 && cli.WithoutStatus(err) == nil {
		nothingCame(out, path, len(r.proxy.Taps()))
		if !o.allowEmpty {
			err = &cli.Exit{Code: cli.ExitInconclusive}
		}
	}
	if status != 0 {
		return &cli.Exit{Code: status, Err: cli.WithoutStatus(err)}
	}
	return err
}

// proxyURL returns the proxy URL for the program, with the credentials of --proxy-auth.
func proxyURL(f *proxy.Forward, auth string) string {
	user, password, ok := strings.Cut(auth, ":")
	if !ok {
		return f.URL()
	}
	host := strings.TrimPrefix(f.URL(), "http://")
	return (&url.URL{Scheme: "http", User: url.UserPassword(user, password), Host: host}).String()
}

// child runs the program to its end and returns its exit status. Signals go to the program. The error says why it could
// not be run, or why the recording has failed first.
func child(
	ctx context.Context, e cli.Env, failed <-chan error, relay *cli.SignalRelay, path string, args []string, proxy string,
) (status int, err error) {
	dir, err := os.MkdirTemp("", "a2atap-run-")
	if err != nil {
		return 0, fmt.Errorf("make a directory for the certificates: %w", err)
	}
	defer os.RemoveAll(dir)
	authority, err := openAuthority(e)
	if err != nil {
		return 0, err
	}
	files := trustIn(dir)
	if err := writeTrust(e, authority, files); err != nil && !errors.Is(err, ca.ErrNoRoots) {
		return 0, err
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Args[0] = args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.In, e.Out, e.Err
	cmd.Env = environ(settings(proxy, authority, files, e.Getenv))
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("run %s: %w", args[0], programCause(err))
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
			err = fmt.Errorf("the capture failed and --if-capture-fails is stop: %w", cause)
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

// programCause strips the prefix that package exec adds to an error.
func programCause(err error) error {
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
