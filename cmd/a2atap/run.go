package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/program"
	"a2atap/cmd/internal/recorder"
)

// childGrace is how long exchanges may go on once the child has ended, so that those in flight are recorded as they
// end.
const childGrace = time.Second

func newRun(e cli.Env) *cobra.Command {
	o := recorder.Flags{}
	cmd := &cobra.Command{
		Use:   "run [flags] -- CMD...",
		Short: "Run a program through the forward proxy, and record until it ends",
		Long: `Run starts a forward proxy (see record --forward), and a program with an environment that makes it use
the proxy and trust its certificate authority. It records and checks the program's traffic with agents, with the flags
of record that apply, and ends when the program ends. Standard input, output and error are the program's; messages of
a2atap go to standard error, with a line for each exchange and each finding. SIGINT, SIGTERM and SIGHUP are passed on to
the program. Bodies of exchanges that show no sign of A2A are not recorded, unless --all-traffic is given.

The environment is that of ca env: HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, NO_PROXY empty, and what curl, Go, Java,
Node.js, Python, Ruby and others read to trust the authority. The traffic of programs that ignore it, or that use no
proxy for localhost, as Go programs do, is not recorded: give the program the URL of a tap (--agent). If nothing came
through at all, run says what may be the reason, and exits with 4 (--allow-empty: 0). A proxy that is already configured
is used only with --upstream-proxy env.

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
	o.Register(cmd.Flags(), "0")
	o.Format = "text"
	return cmd
}

// runProgram runs a program through the forward proxy and records its traffic.
func runProgram(ctx context.Context, e cli.Env, o recorder.Flags, args []string) error {
	gate, err := present.ParseGate(o.FailOn)
	if err != nil {
		return err
	}
	gate.AllowEmpty = o.AllowEmpty
	path, err := exec.LookPath(args[0])
	if err != nil {
		return fmt.Errorf("run %s: %w; give a program in PATH, or its path", args[0], program.Cause(err))
	}
	talk := e
	talk.Out = e.Err // standard output is the program's
	out := &present.Recorded{Env: talk}
	options, err := o.Options(e, out)
	if err != nil {
		return err
	}
	options.Proxy.Grace = childGrace
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, cli.Endings()...)
	if !e.Alone { // else they are not to end it before its status is known
		defer signal.Stop(signals)
	}
	r, err := recorder.Start(options)
	if err != nil {
		return err
	}
	out.Faults(options.Proxy.Faults)
	for _, t := range r.Taps() {
		out.Tap(t)
	}
	e.Tell("recording %s into %s, through %s", filepath.Base(path), options.Output, r.Forward().URL())
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		if e.Getenv(name) != "" && o.Reach.UpstreamProxy == "" {
			e.Tell("the proxy that %s names is not used on the way to agents; --upstream-proxy env uses it", name)
			break
		}
	}
	relay := cli.SignalRelay{Signals: signals, Interrupts: cli.Interrupts{Now: e.Now}}
	status, err := program.Run(ctx, e, r.Failed(), &relay, path, args, program.ProxyURL(r.Forward(), o.ProxyAuth))
	defer relay.TakeOver(e)()
	result, stats, stopErr := r.Stop()
	if err == nil {
		err = stopErr
	}
	err = out.End(gate, options.Output, result, stats, err)
	if stats.Exchanges == 0 && stats.LostExchanges == 0 && cli.WithoutStatus(err) == nil {
		program.NothingCame(out, path, len(r.Taps()))
		if !o.AllowEmpty {
			err = &cli.Exit{Code: cli.ExitInconclusive}
		}
	}
	if status != 0 {
		return &cli.Exit{Code: status, Err: cli.WithoutStatus(err)}
	}
	return err
}
