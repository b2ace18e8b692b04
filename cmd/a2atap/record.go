package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/inspector"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/shipment"
	"a2atap/proxy/hold"
)

func newRecord(e cli.Env) *cobra.Command {
	o := recorder.Flags{}
	cmd := &cobra.Command{
		Use:   "record [--agent [NAME=]URL[@[HOST:]PORT]]... [--forward [HOST:]PORT]",
		Short: "Record the traffic between clients and agents, and check it live",
		Long: `Record opens a tap in front of each agent: point the client at the tap's URL instead of the agent's. Traffic is
forwarded at once and byte for byte, recorded into a capture, and checked. A line is printed for each exchange when it
ends (number, time, link, operation, HTTP status, duration, task and state or error), and one for each finding. Only
URLs in the agent card are changed, so that clients that follow it come back through the tap, and those of webhooks
(--no-rewrite turns both off).

A tap admits requests for a loopback name or address, the address that it listens on, or the agent itself, so that no
web page can reach the agent through it. Clients that reach it by another name, such as those in containers, get 421
until that name is given with --allow-host.

A client has the name that --client gives it. Otherwise a client on this machine whose process listens at the address of
exactly one of the tapped agents is that agent (Linux and macOS), and any other is named by its User-Agent; --client
tells apart clients that have the same one. Clients of the forward proxy can name themselves (http://NAME@HOST:PORT).

Record runs until it is interrupted, or until --duration or --exchanges is reached. Credentials are replaced by
placeholders in the capture (--keep-secrets keeps them), which are equal where the credentials are; the key for that is
the user's own, and is never in the capture. A second interrupt, at least one second after the first, ends it at once.

Judging yields to the traffic: on a busy machine it falls behind, says so, and catches up when there is time, at the
latest at the end.

` + recorder.ForwardHelp + `

` + recorder.WebhookHelp + `

` + recorder.ReachHelp + `

` + recorder.FaultHelp() + `

` + shipment.Help + `

` + cli.NATSHelp + `

Exit status: 0 a normal end, 2 wrong usage, 3 failed to listen, or to store all that was recorded; with --fail-on also 1
findings at or above it, or at least half of the calls of a link failed, 4 inconclusive: nothing was judged, or more of a
link was not seen than was judged (see help exit).`,
		Example: `  a2atap record --agent booker=http://127.0.0.1:9001@7001 -o c.a2atap
  a2atap record --agent planner=http://127.0.0.1:9001 --agent booker=https://booker.example/a2a
  a2atap record --agent booker=http://127.0.0.1:9001 --client '*httpx*=planner' --client addr:10.1.0.0/16=tests
  a2atap record --forward 7080 --tunnel idp.example
  a2atap record --agent booker=http://127.0.0.1:9001 --fault booker:cut-stream=2@SendStreamingMessage#1
  a2atap record --agent http://127.0.0.1:9001 --otlp http://127.0.0.1:4318
  a2atap record --agent http://127.0.0.1:9001 --ship nats://127.0.0.1:4222/traffic
  a2atap record --agent http://127.0.0.1:9001 --exchanges 5 --fail-on error --ready-file ready`,
		RunE: func(cmd *cobra.Command, _ []string) error { return record(cmd.Context(), e, o) },
	}
	f := cmd.Flags()
	o.Register(f, "")
	f.DurationVar(&o.Duration, "duration", 0, "end after `D`, such as 30s")
	f.Int64Var(&o.Exchanges, "exchanges", 0, "end when `N` exchanges have ended; open ones then get 5 s more")
	f.StringVar(&o.ReadyFile, "ready-file", "",
		"write a line NAME URL for each tap, and forward URL, to `FILE` once all are listening")
	f.StringVar(&o.Format, "format", "text", "print what passes, findings and the verdict as `FORMAT`: text, or json "+
		"(JSON Lines, in which type is tap, forward, ship, exchange, event, finding, webhook or verdict)")
	f.BoolVar(&o.TUI, "tui", false, "show the recording in the inspector, where :hold stops messages on "+
		"their way; findings are printed when it ends")
	return withArgs(cmd, 0, 0)
}

func record(ctx context.Context, e cli.Env, o recorder.Flags) error {
	gate, err := present.ParseGate(o.FailOn)
	if err != nil {
		return err
	}
	out := &present.Recorded{Env: e, JSON: o.Format == "json"}
	options, err := o.Options(e, out)
	if err != nil {
		return err
	}
	options.Inspected = o.TUI
	if o.TUI {
		options.Exchanges, options.Events = false, false // they are on the screen
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
	r, err := recorder.Start(options)
	if err != nil {
		return err
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
	if before := r.Before(); before.Crashes > 0 {
		e.Tell("the recording goes on in %s: %s", options.Output, before.Crash)
	}
	e.Tell("recording into %s; interrupt to stop", options.Output)
	if err = cli.WriteReady(o.ReadyFile, ready.String()); err == nil && o.TUI {
		err = out.Behind(func() error { return inspector.Recording(ctx, r, e, o.Duration, o.Exchanges) })
	} else if err == nil {
		err = r.Wait(ctx, o.Duration, o.Exchanges)
	}
	result, stats, stopErr := r.Stop()
	if err == nil {
		err = stopErr
	}
	return out.End(gate, o.AllowEmpty, options.Output, result, stats, err)
}
