package main

import (
	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/web"
)

func newWeb(e cli.Env) *cobra.Command {
	var o web.Options
	cmd := &cobra.Command{
		Use:   "web CAPTURE",
		Short: "Show a capture, finished or growing, as a page in a browser",
		Long: `Web serves a page on this machine that shows a capture, and prints its address: the list of exchanges, which a
filter narrows, workflows, findings with what to change, failed calls, the verdict, and each exchange with its contents
and its ladder. A box sends messages to agents, as send does. A capture that is being recorded is shown as it grows, and
so is one to which a later recording appends; record --web shows a recording of its own.

The page asks for what is seen, so captures of any size can be looked at. It is made of what this program holds, loads
nothing from elsewhere, and needs nothing installed but a browser.

The address holds a token, which is new each time. Whoever has it reads the capture, and nobody else: neither other
users of this machine nor pages of the web. The address that listens is of this machine alone, unless --listen names
another one with --allow-remote; there is no TLS, so rather forward a port, as with ssh -L 7070:127.0.0.1:7070.

A capture that nobody has judged yet is judged while you look at it, and the result is kept in it, or in
CAPTURE.reading. Web runs until it is interrupted.`,
		Example: `  a2atap web c.a2atap
  a2atap web c.a2atap --listen 7070
  a2atap web nats://127.0.0.1:4222/traffic`,
		RunE: func(cmd *cobra.Command, args []string) error { return web.Run(cmd.Context(), e, o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", "0", "listen on `[HOST:]PORT`; port 0 is a free one")
	f.BoolVar(&o.Remote, "allow-remote", false, "allow a listening address that other machines can reach")
	f.StringArrayVar(&o.Hosts, "allow-host", nil, cli.AllowHostHelp)
	o.From.Register(f, nil)
	return withArgs(cmd, 1, 1)
}
