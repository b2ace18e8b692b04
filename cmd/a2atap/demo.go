package main

import (
	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/demo"
)

func newDemo(e cli.Env) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Record a client, a planner and the agents that it asks; one agent is at fault",
		Long: `Demo starts three reference agents on this machine, taps in front of them, and a client. The client asks the
agent planner, which asks hotels, and is told by a webhook what came of that, and flights, which keeps sending after
its task has ended. Demo prints what the request has caused as a tree, a ladder diagram of the traffic, the finding, and
the commands to look closer.`,
		Example: "  a2atap demo\n  a2atap demo -o demo.a2atap",
		RunE:    func(cmd *cobra.Command, _ []string) error { return demo.Run(cmd.Context(), e, output) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", "",
		"write the capture to `FILE` (default demo.a2atap in a temporary directory)")
	return withArgs(cmd, 0, 0)
}
