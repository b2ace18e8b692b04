package main

import (
	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/tool"
)

func newStdio(e cli.Env) *cobra.Command {
	o := tool.Options{}
	cmd := &cobra.Command{
		Use:   "stdio [flags] -- CMD...",
		Short: "Run a tool that speaks JSON-RPC on standard input and output, and record its messages",
		Long: `Stdio runs an MCP server (or another program that speaks newline-delimited JSON-RPC on standard input and
output) and records what its client and the server send. Put it in front of the server's command in the client's
configuration:

  "command": "a2atap", "args": ["stdio", "--name", "weather", "--", "npx", "-y", "some-server"]

Bytes pass unmodified in both directions, and never wait for the recorder. On Unix, the server runs in the process that
the client started, so signals, standard error and the exit status are the server's. Below playback CAPTURE -- CMD, the
server is not started: its messages come from the capture.

The messages are recorded

  - by the recorder whose socket A2ATAP_RECORDER names: run sets this variable, and record --forward prints its value
    when it starts;
  - or else by the recorder that started the client, such as run: it is found by the parents of the process, since many
    clients hide their environment from servers;
  - or, with --output, into a capture by this command alone.

If none of these applies, the server runs unrecorded. If recording fails, the server continues, and one line on standard
error gives the reason.

A request and its response are one exchange, as for MCP over HTTP: a POST to stdio://NAME. Notifications and responses
of the client are answered with 202. Messages that the server sends on its own are the events of one GET. A line that
is not JSON-RPC is an exchange with a fault (not-json-rpc), and so is a request without a response.

Exit status: the server's; 2 wrong usage; 3 the server could not be started.`,
		Example: `  a2atap run -- python planner.py            # planner.py starts: a2atap stdio --name weather -- uvx weather-server
  a2atap stdio --name weather -o c.a2atap -- npx -y some-server
  a2atap show c.a2atap`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch at := cmd.ArgsLenAtDash(); {
			case at > 0 || at < 0 && len(args) > 0:
				return cli.Usage("stdio: write -- before the server's command: a2atap stdio [flags] -- %s; see a2atap stdio --help", args[0])
			case len(args) == 0:
				return cli.Usage("stdio needs the server's command: a2atap stdio [flags] -- CMD...; see a2atap stdio --help")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return tool.Run(e, o, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "", "the server's `NAME` in the capture (default: the name in its serverInfo, or else made of the command)")
	f.StringVarP(&o.Output, "output", "o", "", "record into the capture `FILE`, without another recorder; an existing capture is appended to")
	o.Hide.Register(f)
	return cmd
}
