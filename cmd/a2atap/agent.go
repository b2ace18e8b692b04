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
` + strings.Join(refagent.Names(), ", ") + `.

Reference agents are written from the specification, for testing clients and this tool. With --fault the agent breaks
the rule of that name on purpose; --fault list prints the faults that it supports. It runs until it is interrupted.

echo and spec speak A2A 1.0, spec03… 0.3, spec02 0.2, spec01 0.1; legacy speaks the dialect before that, at the root of
its address, with streams at /subscribe and push notifications to https only.

With --card the agent serves the card in a file. Its skills are what the agent does: each acts as the agent's own skill
of the same id, or of the first tag that is such an id, or else as task-lifecycle. A message that begins with the id or
name of a skill asks for it. Its capabilities are what the agent offers; streaming can be left out, push notifications
need --push, and what the card says about credentials must be what --auth asks for. The agent writes its own address
into the card. A card that is not of the agent's dialect, or promises what the agent does not do, is refused.

With --skill ID=PROGRAM a program does what a skill of that card does. It is started for each message, reads what it is
asked as a line of JSON, and writes a line for each state and each artifact (docs/agents.md).

With --binding the agent serves only these bindings. echo, spec and spec03… serve gRPC, too, on the same port: over
HTTP/2 without TLS, as the card then says with host and port.

With --tenant the agent serves only requests for these tenants: the card has interfaces for each, JSON-RPC names one in
the member tenant, and HTTP+JSON names it there, in the query, or before the path (/spec/NAME/tasks).

With --store tasks are kept in a file. When the agent is started again, finished ones can be read, those that wait for
their client go on, and those that it was working on have failed and say so. Only one process at a time can use the
file. It contains the credentials of webhooks, so only its owner can read it.

Several names make several agents at one address, each below a path of its own name. The card of the first is also that
of the address; legacy, if it is among them, has the root and the card there. The flags are for all of them.`,
		Example: `  a2atap agent spec --listen 127.0.0.1:9001
  a2atap agent echo spec spec03 --listen 127.0.0.1:9001
  a2atap agent spec --auth env:AGENT_TOKEN --max-tasks 100
  a2atap agent legacy --card travel.json --push
  a2atap agent spec --store tasks.db --listen 127.0.0.1:9001
  a2atap agent spec --binding grpc --binding jsonrpc --listen 127.0.0.1:9001
  a2atap agent spec --fault stream-closed-on-terminal --listen 127.0.0.1:9001
  a2atap agent spec --fault list`,
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
	f.StringVar(&o.Auth, "auth", "", "ask clients for `CREDENTIALS`, and say so in the card: bearer:TOKEN, "+
		"basic:USER:PASSWORD, apikey:KEY (as X-API-Key), header:NAME=KEY, query:NAME=KEY or oauth2:CLIENT:SECRET (for which "+
		"the agent gives tokens at /oauth/token below its URL); "+cli.SecretHelp+", as a whole or only TOKEN, PASSWORD, KEY "+
		"and SECRET")
	f.StringVar(&o.Store, "store", "", "keep tasks and push notification configs in `FILE`, so that they outlive "+
		"the agent (default in memory)")
	f.StringArrayVar(&o.Tenants, "tenant", nil, "serve the tenant `NAME`, who sees no tasks but its own; repeatable; for "+
		"agents of A2A 1.0")
	f.IntVar(&o.MaxTasks, "max-tasks", 0, "refuse to make more than `N` tasks, of each tenant if there are any")
	f.DurationVar(&o.Delay, "delay", 0, "wait `D` before each answer but the card")
	f.StringVar(&o.ReadyFile, "ready-file", "",
		"write NAME URL to `FILE` once the agent is listening, a line for each agent")
	f.BoolVar(&o.Remote, "allow-remote", false, "allow a listening address that other machines can reach")
	f.StringArrayVar(&o.Hosts, "allow-host", nil, cli.AllowHostHelp)
	return withArgs(cmd, 1, -1)
}
