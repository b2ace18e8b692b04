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
	"a2atap/proxy/stdio"
)

// childGrace is how long exchanges may continue after the child has ended, so that those in flight are recorded
// completely.
const childGrace = time.Second

func newRun(e cli.Env) *cobra.Command {
	o := recorder.Flags{}
	noBaseURLs := false
	cmd := &cobra.Command{
		Use:   "run [flags] -- CMD...",
		Short: "Run a program through the forward proxy and record its traffic",
		Long: `Run starts a forward proxy (see record --forward), and a program whose environment makes it use the proxy
and trust its certificate authority. It records and checks the program's traffic with agents until the program ends, and
accepts the flags of record that apply. Standard input, output and error belong to the program; a2atap prints its own
messages on standard error, with a line for each exchange and each finding. SIGINT, SIGTERM and SIGHUP are passed on to
the program. Calls of models and MCP servers are recorded with their bodies, unless --only-a2a is given. Bodies of other
traffic that is not A2A are recorded only with --all-traffic.

The environment is the one from ca env: HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, an empty NO_PROXY, and the variables
that curl, Go, Java, Node.js, Python, Ruby and others read to trust the authority. The traffic of programs that ignore
these variables, or that use no proxy for localhost (such as Go programs), is not recorded: give such a program the
URL of a tap (--agent). Model calls pass through taps as well: run sets OPENAI_BASE_URL, ANTHROPIC_BASE_URL and
similar variables (see ca env), unless --no-base-urls is given. A2ATAP_RECORDER is for tools that a2atap stdio runs.
If no traffic passed at all, run prints the likely reason and exits with 4 (--allow-empty: 0). A proxy that is already
configured is used only with --upstream-proxy env.

Exit status: the program's, if it is not 0 (128 plus the signal's number if a signal ended it); otherwise 4 if no
traffic passed; otherwise the same as record.`,
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
		RunE: func(cmd *cobra.Command, args []string) error {
			return runProgram(cmd.Context(), e, o, noBaseURLs, args)
		},
	}
	o.Register(cmd.Flags(), "0")
	cmd.Flags().BoolVar(&noBaseURLs, "no-base-urls", false, "do not set the variables from which SDKs of models read an address")
	o.Format = "text"
	return cmd
}

// runProgram runs a program through the forward proxy and records its traffic.
func runProgram(ctx context.Context, e cli.Env, o recorder.Flags, noBaseURLs bool, args []string) error {
	gate, err := present.ParseGate(o.FailOn)
	if err != nil {
		return err
	}
	gate.AllowEmpty = o.AllowEmpty
	path, err := exec.LookPath(args[0])
	if err != nil {
		return fmt.Errorf("run %s: %w; give a program on the PATH, or its path", args[0], program.Cause(err))
	}
	talk := e
	talk.Out = e.Err // standard output is the program's
	out := &present.Recorded{Env: talk}
	options, err := o.Options(e, out)
	if err != nil {
		return err
	}
	options.Proxy.Grace, options.Run = childGrace, true
	var models program.Models
	if !noBaseURLs {
		models = program.NewModels(path, e.Getenv, options.Proxy.Taps)
		options.Proxy.Taps = append(options.Proxy.Taps, models.Taps...)
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, cli.Endings()...)
	if !e.Alone { // otherwise they must not end it before its status is known
		defer signal.Stop(signals)
	}
	r, err := recorder.Start(options)
	if err != nil {
		return err
	}
	out.Faults(options.Proxy.Faults)
	taps := 0
	for _, t := range r.Taps() {
		if !models.Tapped(t) {
			out.Tap(t)
			taps++
		}
	}
	further := models.Environ(r.Taps())
	for _, why := range models.Skipped {
		e.Tell("%s", why)
	}
	if socket := r.Tools(); socket != "" {
		further = append(further, stdio.Variable+"="+socket)
	}
	e.Tell("recording %s into %s, through %s", filepath.Base(path), options.Output, r.Forward().URL())
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		if e.Getenv(name) != "" && o.Reach.UpstreamProxy == "" {
			e.Tell("the proxy in %s is not used to reach agents; --upstream-proxy env uses it", name)
			break
		}
	}
	relay := cli.SignalRelay{Signals: signals, Interrupts: cli.Interrupts{Now: e.Now}}
	status, err := program.Run(ctx, e, r.Failed(), &relay, path, args, program.ProxyURL(r.Forward(), o.ProxyAuth), further)
	defer relay.TakeOver(e)()
	result, stats, stopErr := r.Stop()
	if err == nil {
		err = stopErr
	}
	err = out.End(gate, options.Output, result, stats, err)
	if stats.Exchanges == 0 && stats.LostExchanges == 0 && cli.WithoutStatus(err) == nil {
		program.NothingCame(out, path, taps)
		if !o.AllowEmpty {
			err = &cli.Exit{Code: cli.ExitInconclusive}
		}
	}
	if status != 0 {
		return &cli.Exit{Code: status, Err: cli.WithoutStatus(err)}
	}
	return err
}
