package main

import (
	"time"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/shipper"
)

func newShip(e cli.Env) *cobra.Command {
	o := shipper.Options{}
	cmd := &cobra.Command{
		Use:   "ship CAPTURE... nats://HOST:PORT/NAME",
		Short: "Send captures to a NATS JetStream stream",
		Long: `Ship publishes the parts of captures that the stream NAME lacks: a whole capture, or the parts that a
recording with --ship could not send because the server was unreachable. The stream is created if it does not exist.
Ship may run at the same time as the recording, or another ship: each block of a capture arrives once.

With --follow it continues until the recordings have ended, for recorders that were started without --ship, and waits
for an unreachable server indefinitely.

Only .a2atap captures are shipped; a2atap import converts other files. A capture with secrets, recorded with
--keep-secrets, is refused.

Exit status: 0 the stream has everything; 2 wrong usage; 3 a capture could not be read, or was not sent completely: the
server accepted nothing for the time of --ship-patience, or the error was permanent.`,
		Example: `  a2atap ship c.a2atap nats://127.0.0.1:4222/traffic
  a2atap ship monday.a2atap tuesday.a2atap nats://127.0.0.1:4222/traffic --ship-host booker-1
  a2atap ship c.a2atap tls://nats.example/traffic --nats-creds recorder.creds --follow`,
		RunE: func(cmd *cobra.Command, args []string) error { return shipper.Run(cmd.Context(), e, &o, args) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.Follow, "follow", false, "continue until the recordings have ended")
	f.StringVar(&o.Format, "format", "text", "print the result as `FORMAT`: text, or json (one JSON object per capture)")
	f.DurationVar(&o.Patience, "ship-patience", 30*time.Second,
		"without --follow: give up when the server has accepted nothing for `D`")
	o.Flags.NATS = &o.NATS
	o.Flags.Limits(f, "")
	o.NATS.Register(f)
	return withArgs(cmd, 2, -1)
}
