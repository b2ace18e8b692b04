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

Reference agents are written from the specification, for testing clients and a2atap itself. With --fault the agent
breaks the named rule on purpose; --fault list prints its faults. It runs until it is interrupted.

echo and spec use A2A 1.0, spec03… 0.3, spec02 0.2, spec01 0.1; legacy uses the dialect before that, at the root of its
address, with streams at /subscribe and push notifications only to https.

hostile uses up as much of its clients' time and memory as it can, in the way that --fault names; its only other flags
are those about listening.

With --card the agent serves your card and follows it, with --skill ID=PROGRAM your programs implement its skills, and
with --store tasks survive a restart (help agents).

With several names, several agents share one address, each below a path with its name. The first agent's card is also at
the root; legacy, if present, has the root and its card. The flags apply to all of them.`,
		Example: `  a2atap agent spec --listen 127.0.0.1:9001
  a2atap agent echo spec spec03 --listen 127.0.0.1:9001
  a2atap agent spec --auth env:AGENT_TOKEN --max-tasks 100
  a2atap agent spec --fault stream-closed-on-terminal --listen 127.0.0.1:9001
  a2atap agent spec --fault list
  a2atap agent hostile --fault sse-endless`,
		RunE: func(cmd *cobra.Command, args []string) error { return agents.Run(cmd.Context(), e, o, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", "127.0.0.1:0", "listen on `ADDR`; port 0 is any free port")
	f.StringVar(&o.Fault, "fault", "", "break the rule `SLUG` on purpose; list prints the supported ones; "+
		"for one agent")
	f.StringVar(&o.Card, "card", "", "serve the agent card in `FILE`, and follow it; for one agent")
	f.StringArrayVar(&o.Skills, "skill", nil, "let a program implement a skill of the card, `ID=PROGRAM`: it is run for each "+
		"message, with JSON on standard input and output; repeatable")
	f.StringArrayVar(&o.Bindings, "binding", nil, "serve the `BINDING`, and name it in the card: jsonrpc, http+json or "+
		"grpc; repeatable, the preferred one first (default all that the agent supports, except grpc)")
	f.BoolVar(&o.Push, "push", false, "offer push notifications")
	f.StringVar(&o.WebhookCA, "webhook-ca", "", "for webhooks on https, trust the authorities in `FILE` (PEM) in addition to the "+
		"system's; needs --push")
	f.DurationVar(&o.Step, "step", 500*time.Millisecond, "wait `D` between the chunks of a stream")
	f.StringArrayVar(&o.Auth, "auth", nil, "require `CREDENTIALS` from clients, and declare them in the card: bearer:TOKEN, "+
		"basic:USER:PASSWORD, apikey:KEY (as X-API-Key), header:NAME=KEY, query:NAME=KEY, oauth2:CLIENT:SECRET (the "+
		"agent issues tokens at /oauth/token below its URL) or jwt:FILE (JSON Web Tokens signed by a key of the JWK Set in "+
		"FILE); "+cli.SecretHelp+", as a whole or only TOKEN, PASSWORD, KEY and SECRET; repeatable, for users that "+
		"cannot see each other's tasks")
	f.StringVar(&o.Store, "store", "", "keep tasks and push notification configs in `FILE`, so that they survive "+
		"a restart (default in memory)")
	f.StringArrayVar(&o.Tenants, "tenant", nil, "serve the tenant `NAME`, which sees only its own tasks; repeatable; for "+
		"agents of A2A 1.0")
	f.IntVar(&o.MaxTasks, "max-tasks", 0, "refuse new tasks while `N` have not ended, counted per tenant and "+
		"user")
	f.DurationVar(&o.Delay, "delay", 0, "wait `D` before each answer except the card")
	f.StringVar(&o.ReadyFile, "ready-file", "",
		"write NAME URL to `FILE` once the agent is listening, one line per agent")
	f.BoolVar(&o.Remote, "allow-remote", false, "allow a listening address that other machines can reach")
	f.StringArrayVar(&o.Hosts, "allow-host", nil, cli.AllowHostHelp)
	return withArgs(cmd, 1, -1)
}
