package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"a2atap/analyzer/report"
)

// tool names this program and its version: the module's, or "devel" for a build from a checkout.
func tool() report.Tool {
	version := "devel"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		version = info.Main.Version
	}
	return report.Tool{Name: "a2atap", Version: version}
}

func newVersion(e env) *cobra.Command {
	return withArgs(&cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  a2atap version",
		RunE: func(*cobra.Command, []string) error {
			t := tool()
			_, err := fmt.Fprintln(e.Out, t.Name, t.Version)
			return err
		},
	}, 0, 0)
}
