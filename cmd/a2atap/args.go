package main

import (
	"strings"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture/credential"
)

// withArgs makes a command check its number of arguments; atMost -1 means no limit.
func withArgs(cmd *cobra.Command, atLeast, atMost int) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < atLeast:
			return cli.Usage("%s needs %s; see %s --help", cmd.Name(), argumentNames(cmd), cmd.CommandPath())
		case atMost >= 0 && len(args) > atMost && strings.Contains(args[atMost], "://") && cmd.Flags().Lookup("to") != nil:
			return cli.Usage("%s expects the agent's URL in a flag; write --to %s", cmd.Name(),
				credential.WithoutUserinfo(args[atMost]))
		case atMost >= 0 && len(args) > atMost:
			return cli.Usage("%s does not accept %q; see %s --help", cmd.Name(), args[atMost], cmd.CommandPath())
		}
		return nil
	}
	return cmd
}
