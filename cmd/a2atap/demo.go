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
		Short: "Record a client, a planner and two other agents, one of which has a bug",
		Long: `Demo starts three reference agents on this machine, taps in front of them, and a client. The client calls
the agent planner, which calls hotels, and gets the result by webhook, and flights, which keeps sending after its task
has ended. Demo prints a tree of the calls that the client's request caused, a ladder diagram of the traffic, the
finding, and commands for a closer look.`,
		Example: "  a2atap demo\n  a2atap demo -o demo.a2atap",
		RunE:    func(cmd *cobra.Command, _ []string) error { return demo.Run(cmd.Context(), e, output) },
	}
	cmd.Flags().StringVarP(&output, "output", "o", "",
		"write the capture to `FILE` (default demo.a2atap in a temporary directory)")
	return withArgs(cmd, 0, 0)
}
