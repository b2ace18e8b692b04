package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/replay/refagent"
)

type agentOptions struct {
	listen    string
	fault     string
	card      string
	push      bool
	webhookCA string
	step      time.Duration
	auth      string
	store     string
	tenants   []string
	maxTasks  int
	delay     time.Duration
	readyFile string
	remote    bool
	hosts     []string
}

func newAgent(e cli.Env) *cobra.Command {
	o := agentOptions{}
	cmd := &cobra.Command{
		Use:   "agent NAME...",
		Short: "Run reference agents, correct or with a chosen fault",
		Long: `Agent runs a reference agent. NAME is one of
` + strings.Join(refagent.Names(), ", ") + `.

Reference agents are written from the specification, for testing clients and this tool. With --fault the agent breaks
the rule of that name on purpose; --fault list prints the faults that it supports. It runs until it is interrupted.

echo and spec speak A2A 1.0, spec03… 0.3, spec02 0.2, spec01 0.1; legacy speaks the dialect before that, at the root of
its address, with streams at /subscribe and push notifications to https only.

With --card the agent serves the card in a file. Its skills are what the agent does: one acts as the agent's own of its
id, or of its first tag that is such an id, or else as task-lifecycle, and is asked for by a message that begins with
its id or name. Its capabilities are what the agent offers; streaming can be left out, push notifications need --push,
and what the card says about credentials must be what --auth asks for. The agent writes its own address wherever the
card has one, and where it has none. A card that is not of the agent's dialect, or promises what is not so, is refused.

With --tenant the agent serves only requests for these tenants: the card has interfaces for each, JSON-RPC names one in
the member tenant, and HTTP+JSON there, in the query, or before the path (/spec/NAME/tasks).

With --store tasks are kept in a file. When the agent is started again, finished ones can be read, those that wait for
their client go on, and those that it worked on have failed and say so. One process has the file at a time. It holds the
credentials of webhooks, so it is readable by its owner alone.

Several names make several agents at one address, each below a path of its own name. The card of the first is also that
of the address; legacy, if it is among them, has the root and the card there. All get the same flags.`,
		Example: `  a2atap agent spec --listen 127.0.0.1:9001
  a2atap agent echo spec spec03 --listen 127.0.0.1:9001
  a2atap agent spec --auth env:AGENT_TOKEN --max-tasks 100
  a2atap agent legacy --card travel.json --push
  a2atap agent spec --store tasks.db --listen 127.0.0.1:9001
  a2atap agent spec --fault stream-closed-on-terminal --listen 127.0.0.1:9001
  a2atap agent spec --fault list`,
		RunE: func(cmd *cobra.Command, args []string) error { return agent(cmd.Context(), e, o, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "listen on `ADDR`; port 0 is a free one")
	f.StringVar(&o.fault, "fault", "", "break the rule `SLUG` on purpose; list prints those that can be broken; "+
		"for one agent")
	f.StringVar(&o.card, "card", "", "serve the agent card in `FILE`, and do what it says; for one agent")
	f.BoolVar(&o.push, "push", false, "offer push notifications")
	f.StringVar(&o.webhookCA, "webhook-ca", "", "at webhooks on https trust the authorities in `FILE` (PEM) beside the "+
		"system's; needs --push")
	f.DurationVar(&o.step, "step", 500*time.Millisecond, "wait `D` between two chunks of a stream")
	f.StringVar(&o.auth, "auth", "", "ask clients for `CREDENTIALS`, and say so in the card: bearer:TOKEN, "+
		"basic:USER:PASSWORD, apikey:KEY (as X-API-Key), header:NAME=KEY or query:NAME=KEY; "+cli.SecretHelp+
		", of the whole or of TOKEN, PASSWORD and KEY")
	f.StringVar(&o.store, "store", "", "keep tasks and push notification configs in `FILE`, so that they outlive "+
		"the agent (default in memory)")
	f.StringArrayVar(&o.tenants, "tenant", nil, "serve the tenant `NAME`, who sees no tasks but its own; repeatable; for "+
		"agents of A2A 1.0")
	f.IntVar(&o.maxTasks, "max-tasks", 0, "refuse to make more than `N` tasks, of each tenant if there are any")
	f.DurationVar(&o.delay, "delay", 0, "wait `D` before each answer but the card")
	f.StringVar(&o.readyFile, "ready-file", "",
		"write NAME URL to `FILE` once the agent is listening, a line for each agent")
	f.BoolVar(&o.remote, "allow-remote", false, "allow a listening address that other machines can reach")
	f.StringArrayVar(&o.hosts, "allow-host", nil, cli.AllowHostHelp)
	return withArgs(cmd, 1, -1)
}

func agent(ctx context.Context, e cli.Env, o agentOptions, names []string) error {
	if err := o.check(names); err != nil {
		return err
	}
	if o.fault == "list" {
		return listFaults(e, names[0])
	}
	agents, closeAgents, err := o.start(e, names)
	if err != nil {
		return err
	}
	defer closeAgents()
	if err := cli.LocalOnly(o.listen, o.remote); err != nil {
		return err
	}
	allowed, err := cli.ParseAllowedHosts(o.hosts)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := cli.RemoveReady(o.readyFile); err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("listen for agent %s on %s: %w; choose another port with --listen, or 0 for a free one",
			strings.Join(names, ", "), o.listen, cli.NetCause(err))
	}
	var lines strings.Builder
	for _, a := range agents {
		fmt.Fprintf(&lines, "%s http://%s%s\n", a.Name(), l.Addr(), a.Path())
	}
	io.WriteString(e.Out, lines.String()) // who does not read it can read the ready file
	if err := cli.WriteReady(o.readyFile, lines.String()); err != nil {
		l.Close()
		return err
	}
	return cli.Serve(ctx, l, cli.CheckHosts(e, refagent.Mux(agents...), o.listen, l, allowed))
}

// check refuses flags that make no sense, by themselves or for these agents.
func (o *agentOptions) check(names []string) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return cli.Usage("agent %s is named twice; name each agent once", name)
		}
	}
	switch {
	case len(names) > 1 && o.fault != "":
		return cli.Usage("--fault fits one agent, and %s are %d; start the one with the fault by itself",
			strings.Join(names, ", "), len(names))
	case len(names) > 1 && o.card != "":
		return cli.Usage("--card fits one agent, and %s are %d; start the one with the card by itself",
			strings.Join(names, ", "), len(names))
	case o.webhookCA != "" && !o.push:
		return cli.Usage("--webhook-ca needs --push: without it the agent sends nothing to webhooks")
	case o.maxTasks < 0:
		return cli.Usage("--max-tasks %d: use a number above 0", o.maxTasks)
	case o.delay < 0:
		return cli.Usage("--delay %v: use a time above 0", o.delay)
	}
	return nil
}

func listFaults(e cli.Env, name string) error {
	if _, err := refagent.New(name, refagent.Options{}); err != nil {
		return cli.Usage("%w", err)
	}
	for _, f := range refagent.Faults(name) {
		if _, err := fmt.Fprintf(e.Out, "%-32s %s\n", f.Slug, f.Doc); err != nil {
			return err
		}
	}
	return nil
}
