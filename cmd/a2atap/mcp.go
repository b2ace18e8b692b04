package main

import (
	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/mcpserver"
)

func newMCP(e cli.Env) *cobra.Command {
	var o mcpserver.Options
	cmd := &cobra.Command{
		Use:   "mcp [CAPTURE]",
		Short: "Let a coding agent read captures, over MCP",
		Long: `Mcp serves a capture to a coding agent, over the Model Context Protocol on standard input and output. The
agent's program starts this command; docs/mcp.md has the configuration for the usual ones. Without CAPTURE it serves the
captures in the current directory. Captures that are being recorded are read up to their newest exchange.

Tools: overview (the verdict, failed calls, who called whom), exchanges, exchange, findings, rule, tree (which call
caused which), compare, and without CAPTURE also captures. An answer is the output of check, show, rules or diff, up to
8,000 characters. It ends with the total length, and how to get the rest.

Recorded text is written by strangers, and may try to instruct the model. It is quoted between two lines with a random
marker and is never part of a tool's description. Secrets that a recording hides stay hidden.

No tool changes a recording. Results of checking are stored, as by check. --allow-replay adds the tool replay, which
sends recorded requests again, only to the addresses that you name here.`,
		Example: `  claude mcp add a2atap -- a2atap mcp
  a2atap mcp c.a2atap
  a2atap mcp c.a2atap --allow-replay booker=http://127.0.0.1:9001`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return mcpserver.Run(cmd.Context(), e, o, append(args, "")[0], run)
		},
	}
	cmd.Flags().StringArrayVar(&o.Replay, "allow-replay", nil,
		"let the client replay to the live agent at `[NAME=]URL` the requests recorded for NAME, or for any agent; repeatable")
	return withArgs(cmd, 0, 1)
}
