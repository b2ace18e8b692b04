package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
)

func newVersion(e cli.Env) *cobra.Command {
	return withArgs(&cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  a2atap version",
		RunE: func(*cobra.Command, []string) error {
			t := cli.Tool()
			_, err := fmt.Fprintln(e.Out, t.Name, t.Version)
			return err
		},
	}, 0, 0)
}
