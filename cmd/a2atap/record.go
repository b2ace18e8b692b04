package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/inspector"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/web"
	"a2atap/proxy"
	"a2atap/proxy/hold"
	"a2atap/proxy/hostname"
	"a2atap/proxy/stdio"
)

func newRecord(e cli.Env) *cobra.Command {
	o := recorder.Flags{}
	page := web.Options{}
	cmd := &cobra.Command{
		Use:   "record [--agent [NAME=]URL[@[HOST:]PORT]]... [--forward [HOST:]PORT]",
		Short: "Record the traffic between clients and agents, and check it live",
		Long: `Record opens a tap in front of each agent: point the client at the tap's URL instead of the agent's.
Traffic is forwarded immediately and byte for byte, recorded into a capture with secrets hidden, and checked. One line
is printed for each exchange when it ends (number, time, link, operation, status, duration, task and state or error),
and one for each finding. Only URLs in agent cards and webhook URLs are changed, so that they lead back to the tap. With
--forward it also opens an HTTP proxy, for clients whose URL cannot be changed.

Record runs until it is interrupted, or until --duration or --exchanges is reached; a second interrupt, at least one
second after the first, ends it immediately. Traffic has priority over checking: on a busy machine checking falls
behind, prints a warning, and catches up later, by the end of the recording at latest.

Exit status: 0 a normal end; 2 wrong usage; 3 failed to listen, or to store the whole recording; with --fail-on also 1
and 4, as for check (help exit).`,
		Example: `  a2atap record --agent booker=http://127.0.0.1:9001@7001 -o c.a2atap
  a2atap record --agent planner=http://127.0.0.1:9001 --agent booker=https://booker.example/a2a
  a2atap record --forward 7080 --tunnel idp.example
  a2atap record --agent http://127.0.0.1:9001 --ship nats://127.0.0.1:4222/traffic
  a2atap record --agent http://127.0.0.1:9001 --exchanges 5 --fail-on error --ready-file ready`,
		RunE: func(cmd *cobra.Command, _ []string) error { return record(cmd.Context(), e, o, page) },
	}
	f := cmd.Flags()
	o.Register(f, "")
	f.DurationVar(&o.Duration, "duration", 0, "end after `D`, such as 30s")
	f.Int64Var(&o.Exchanges, "exchanges", 0, "end when `N` exchanges have ended; open ones get 5 more seconds")
	f.StringVar(&o.ReadyFile, "ready-file", "",
		"once all taps are listening, write NAME URL for each, and forward URL, to `FILE`")
	f.StringVar(&o.Format, "format", "text", "print as `FORMAT`: text, or json (JSON Lines, in which type is tap, forward, "+
		"page, ship, exchange, event, finding, webhook or verdict)")
	f.StringVar(&page.Listen, "web", "", "show the recording as a web page (see web), on `[HOST:]PORT` or a free port")
	f.Lookup("web").NoOptDefVal = "0"
	f.BoolVar(&o.TUI, "tui", false, "show the recording in the inspector, where :hold stops messages; findings are printed at the end")
	return withArgs(cmd, 0, 0)
}

// withPort joins --web and a port that follows it: the flag may have no value, so pflag accepts a value only after =.
func withPort(args []string) []string {
	args = slices.Clone(args)
	for i := 0; i+1 < len(args) && args[i] != "--"; i++ {
		_, port, found := strings.Cut(args[i+1], ":")
		if !found {
			port = args[i+1]
		}
		if args[i] == "--web" && hostname.ValidPort(port) {
			args = slices.Replace(args, i, i+2, "--web="+args[i+1])
		}
	}
	return args
}

func record(ctx context.Context, e cli.Env, o recorder.Flags, shown web.Options) error {
	gate, err := present.ParseGate(o.FailOn)
	if err != nil {
		return err
	}
	gate.AllowEmpty = o.AllowEmpty
	out := &present.Recorded{Env: e, JSON: o.Format == "json"}
	options, err := o.Options(e, out)
	if err != nil {
		return err
	}
	options.Inspected = o.TUI
	if o.TUI {
		options.Exchanges, options.Events = false, false // the screen shows them
		options.Proxy.Hold = hold.NewDesk()
		if err := inspector.NeedTerminal(e, "record without --tui"); err != nil {
			return err
		}
	}
	ctx, cancel := cli.UntilInterrupted(ctx, e)
	defer cancel()
	if err := cli.RemoveReady(o.ReadyFile); err != nil {
		return err
	}
	page, err := listenPage(e, o, shown, options.Output)
	if err != nil {
		return err
	}
	r, err := recorder.Start(options)
	if err != nil {
		return errors.Join(err, page.Close())
	}
	var ready strings.Builder
	out.Faults(options.Proxy.Faults)
	for _, t := range r.Taps() {
		out.Tap(t)
		fmt.Fprintf(&ready, "%s %s\n", t.Name(), t.URL())
	}
	if f := r.Forward(); f != nil {
		out.Forward(f)
		fmt.Fprintf(&ready, "forward %s\n", f.URL())
	}
	if page != nil {
		page.Notice = out.Notice
		page.Begin(options.Output, r.Source(), reached(r.Taps()))
		out.Page(page.URL())
	}
	if before := r.Before(); before.Crashes > 0 {
		e.Tell("the recording continues in %s: %s", options.Output, before.Crash)
	}
	if socket := r.Tools(); socket != "" && r.Forward() != nil {
		e.Tell("tools that a2atap stdio runs join with %s=%s", stdio.Variable, socket)
	}
	if before := r.Before(); before.Exchanges > 0 {
		e.Tell("recording into %s, after the %s in it; interrupt to stop", options.Output, analysis.Plural(before.Exchanges, "exchange"))
	} else {
		e.Tell("recording into %s; interrupt to stop", options.Output)
	}
	if err = cli.WriteReady(o.ReadyFile, ready.String()); err == nil && o.TUI {
		err = out.Behind(func() error { return inspector.Recording(ctx, r, e, o.Duration, o.Exchanges) })
	} else if err == nil {
		err = r.Wait(ctx, o.Duration, o.Exchanges)
	}
	err = cmp.Or(err, page.Close())
	result, stats, stopErr := r.Stop()
	if err == nil {
		err = stopErr
	}
	return out.End(gate, options.Output, result, stats, err)
}

// listenPage opens the address of the recording's page; nil without a page.
func listenPage(e cli.Env, o recorder.Flags, shown web.Options, output string) (*web.Page, error) {
	if shown.Listen == "" {
		return nil, nil
	}
	shown.Remote, shown.Hosts = o.AllowRemote, o.AllowHosts
	return web.Listen(e, shown, output)
}

// reached returns the taps to which the recording's page sends.
func reached(taps []*proxy.Tap) []web.Reached {
	var list []web.Reached
	for _, t := range taps {
		list = append(list, web.Reached{Name: t.Name(), URL: t.URL()})
	}
	return list
}
