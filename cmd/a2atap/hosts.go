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
		Short: "List the recorders of a stream, their progress and lost traffic",
		Long: `Hosts lists the recorders that have published to a stream: the machine, the capture and its program, how
many steps of the file were shipped, how long the rest has waited, and when the recorder was last seen. A recorder is
live if it answers now, ended if it has reported its end, and otherwise silent: it was killed, or cannot reach the
server. Losses are listed below each recorder: exchanges that it could not record, how often it was killed, and steps
that the stream has removed. The clock of a live recorder is compared with this machine's.

Exit status: 0 recorders were listed; 2 wrong usage; 3 the stream could not be read; 4 it has no recorder.`,
		Example: `  a2atap hosts nats://127.0.0.1:4222/traffic
  a2atap hosts nats://127.0.0.1:4222/traffic --format json | jq '.recorders[] | select(.behindSeconds > 10)'`,
		RunE: func(cmd *cobra.Command, args []string) error { return hosts.Run(cmd.Context(), e, &o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Format, "format", "text", "print as `FORMAT`: text or json")
	o.NATS.Register(f)
	return withArgs(cmd, 1, 1)
}
