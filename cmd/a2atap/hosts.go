package main

import (
	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/hosts"
)

func newHosts(e cli.Env) *cobra.Command {
	o := hosts.Options{}
	cmd := &cobra.Command{
		Use:   "hosts nats://HOST:PORT/NAME",
		Short: "List the recorders of a stream: what they have shipped, how far behind they are, what is lost",
		Long: `Hosts lists the recorders that have published to a stream: the machine, the capture and its program, how many
steps were shipped of how many that are in its file, for how long the rest has waited, and when the recorder was last
heard of. A recorder is live if it answers now, ended if it has said so, and else silent: it was killed, or it cannot
reach the server. What is lost stands below: exchanges that it could not record, how often it was killed, and what the
stream has removed of its beginning. The clock of a live one is compared with that of this machine.

Exit status: 0 recorders were listed; 2 wrong usage; 3 the stream cannot be read; 4 nobody has published to it.`,
		Example: `  a2atap hosts nats://127.0.0.1:4222/traffic
  a2atap hosts nats://127.0.0.1:4222/traffic --format json | jq '.recorders[] | select(.behindSeconds > 10)'`,
		RunE: func(cmd *cobra.Command, args []string) error { return hosts.Run(cmd.Context(), e, &o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Format, "format", "text", "print as `FORMAT`: text or json")
	o.NATS.Register(f)
	return withArgs(cmd, 1, 1)
}
