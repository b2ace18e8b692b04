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
		Short: "Show a finished or growing capture as a web page",
		Long: `Web serves a page on this machine that shows a capture, and prints its address. The page has the list of
exchanges (with a filter), workflows, findings and how to fix them, failed calls, the verdict, and each exchange with
its contents and its ladder. A form sends messages to agents, as send does. A capture that is being recorded is shown as
it grows, also if a later recording appends to it; record --web shows its own recording.

The page loads only what is visible, so captures of any size work. Everything it needs is part of this program: it loads
nothing from elsewhere, and needs only a browser.

The address contains a token, which is new for each run. Only someone with the token can read the capture: other users
of this machine and other web pages cannot. Web listens only on this machine, unless --listen names another address and
--allow-remote is given. There is no TLS, so forward a port instead, for example with ssh -L 7070:127.0.0.1:7070.

An unchecked capture is checked in the background while you browse, and the result is stored in it, or in
CAPTURE.reading. Web runs until it is interrupted.`,
		Example: `  a2atap web c.a2atap
  a2atap web c.a2atap --listen 7070
  a2atap web nats://127.0.0.1:4222/traffic`,
		RunE: func(cmd *cobra.Command, args []string) error {
			defer e.LimitMemory()()
			return web.Run(cmd.Context(), e, o, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Listen, "listen", "0", "listen on `[HOST:]PORT`; port 0 is a free one")
	f.BoolVar(&o.Remote, "allow-remote", false, "allow a listening address that other machines can reach")
	f.StringArrayVar(&o.Hosts, "allow-host", nil, cli.AllowHostHelp)
	o.From.Register(f, nil)
	return withArgs(cmd, 1, 1)
}
