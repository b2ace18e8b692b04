package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/agents"
	"a2atap/cmd/internal/cli"
	"a2atap/replay/refagent"
)

func newAgent(e cli.Env) *cobra.Command {
	o := agents.Options{}
	cmd := &cobra.Command{
		Use:   "agent NAME...",
		Short: "Run reference agents, correct or with a chosen fault",
		Long: `Agent runs a reference agent. NAME is one of
` + strings.Join(refagent.Names(), ", ") + ` or hostile.

Reference agents are written from the specification, for testing clients and this tool. With --fault the agent breaks
the rule of that name on purpose; --fault list prints the faults that it supports. It runs until it is interrupted.

echo and spec speak A2A 1.0, spec03… 0.3, spec02 0.2, spec01 0.1; legacy speaks the dialect before that, at the root of
its address, with streams at /subscribe and push notifications to https only.

hostile costs its clients as much time and memory as it can, in the way that --fault names; it takes no other flags
but those about listening.

With --card the agent serves a card of yours and does what it says, with --skill ID=PROGRAM programs of yours do what
its skills are, and with --store tasks outlive it (help agents).

Several names make several agents at one address, each below a path of its own name. The card of the first is also that
of the address; legacy, if it is among them, has the root and the card there. The flags are for all of them.`,
		Example: `  a2atap agent spec --listen 127.0.0.1:9001
  a2atap agent echo spec spec03 --listen 127.0.0.1:9001
  a2atap agent spec --auth env:AGENT_TOKEN --max-tasks 100
  a2atap agent spec --fault stream-closed-on-terminal --listen 127.0.0.1:9001
  a2atap agent spec --fault list
  a2atap agent hostile --fault sse-endless`,
		RunE: func(cmd *cobra.Command, args []string) error { return agents.Run(cmd.Context(), e, o, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", "127.0.0.1:0", "listen on `ADDR`; port 0 is a free one")
	f.StringVar(&o.Fault, "fault", "", "break the rule `SLUG` on purpose; list prints those that can be broken; "+
		"for one agent")
	f.StringVar(&o.Card, "card", "", "serve the agent card in `FILE`, and do what it says; for one agent")
	f.StringArrayVar(&o.Skills, "skill", nil, "have `ID=PROGRAM` do what the skill ID of the card does: it is run for each "+
		"message, and speaks JSON on standard input and output; repeatable")
	f.StringArrayVar(&o.Bindings, "binding", nil, "serve the `BINDING`, and name it in the card: jsonrpc, http+json or "+
		"grpc; repeatable, the preferred one first (default all but grpc that the agent speaks)")
	f.BoolVar(&o.Push, "push", false, "offer push notifications")
	f.StringVar(&o.WebhookCA, "webhook-ca", "", "at webhooks on https trust the authorities in `FILE` (PEM) in addition to the "+
		"system's; needs --push")
	f.DurationVar(&o.Step, "step", 500*time.Millisecond, "wait `D` between two chunks of a stream")
	f.StringArrayVar(&o.Auth, "auth", nil, "ask clients for `CREDENTIALS`, and say so in the card: bearer:TOKEN, "+
		"basic:USER:PASSWORD, apikey:KEY (as X-API-Key), header:NAME=KEY, query:NAME=KEY, oauth2:CLIENT:SECRET (for which "+
		"the agent gives tokens at /oauth/token below its URL) or jwt:FILE (for JSON Web Tokens that a key of the JWK Set in "+
		"FILE signed); "+cli.SecretHelp+", as a whole or only TOKEN, PASSWORD, KEY and SECRET; repeatable, for users of whom "+
		"none sees the tasks of another")
	f.StringVar(&o.Store, "store", "", "keep tasks and push notification configs in `FILE`, so that they outlive "+
		"the agent (default in memory)")
	f.StringArrayVar(&o.Tenants, "tenant", nil, "serve the tenant `NAME`, who sees no tasks but its own; repeatable; for "+
		"agents of A2A 1.0")
	f.IntVar(&o.MaxTasks, "max-tasks", 0, "refuse to make a task while `N` have not ended, of each tenant and "+
		"user if there are several")
	f.DurationVar(&o.Delay, "delay", 0, "wait `D` before each answer but the card")
	f.StringVar(&o.ReadyFile, "ready-file", "",
		"write NAME URL to `FILE` once the agent is listening, a line for each agent")
	f.BoolVar(&o.Remote, "allow-remote", false, "allow a listening address that other machines can reach")
	f.StringArrayVar(&o.Hosts, "allow-host", nil, cli.AllowHostHelp)
	return withArgs(cmd, 1, -1)
}
