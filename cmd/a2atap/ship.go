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
		Short: "Send captures to a stream of NATS JetStream",
		Long: `Ship publishes those parts of captures that the stream NAME lacks: all of a finished one, or what a
recording with --ship could not send because the server was away. The stream is created if it does not exist. It may run
beside the recording, or beside another ship: each block of a capture arrives once.

With --follow it goes on until the recordings have ended, for captures of recorders that were started without --ship,
and waits for a server that is away for as long as that takes.

Only captures of a2atap are shipped; a2atap import makes one of other files. A capture with secrets in it, which
--keep-secrets makes, is refused.

Exit status: 0 the stream has all of it; 2 wrong usage; 3 a capture cannot be read, or not all of it could be sent: the
server took nothing for the time of --ship-patience, or the error is not one that passes by itself.`,
		Example: `  a2atap ship c.a2atap nats://127.0.0.1:4222/traffic
  a2atap ship monday.a2atap tuesday.a2atap nats://127.0.0.1:4222/traffic --ship-host booker-1
  a2atap ship c.a2atap tls://nats.example/traffic --nats-creds recorder.creds --follow`,
		RunE: func(cmd *cobra.Command, args []string) error { return shipper.Run(cmd.Context(), e, &o, args) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.Follow, "follow", false, "go on until the recordings have ended")
	f.StringVar(&o.Format, "format", "text", "say what was sent as `FORMAT`: text, or json (a JSON object a capture)")
	f.DurationVar(&o.Patience, "ship-patience", 30*time.Second,
		"without --follow: give up when nothing was taken for `D`")
	o.Flags.NATS = &o.NATS
	o.Flags.Limits(f, "")
	o.NATS.Register(f)
	return withArgs(cmd, 2, -1)
}
