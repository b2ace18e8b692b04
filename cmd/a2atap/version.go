package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/safetext"
)

func newVersion(e cli.Env) *cobra.Command {
	format := "text"
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version and the source it was built from",
		Long: `Version prints the version of a2atap, the commit that it was built from, the date of that commit and
whether files were modified, the Go version, and the target system. Unknown values are left out: a build with
-buildvcs=false has no commit.`,
		Example: `  a2atap version
  a2atap version --format json`,
		RunE: func(*cobra.Command, []string) error { return printVersion(e.Out, cli.Built(), format) },
	}
	cmd.Flags().StringVar(&format, "format", format, "print as `FORMAT`: text or json")
	return withArgs(cmd, 0, 0)
}

func printVersion(w io.Writer, b cli.Build, format string) error {
	if err := cli.Choose("format", format, "text", "json"); err != nil {
		return err
	}
	if format == "json" {
		return safetext.NewEncoder(w, "  ").Encode(b)
	}
	text := fmt.Sprintf("%s %s\n", b.Name, b.Version)
	if b.Commit != "" {
		text += "commit " + b.Commit
		if b.Date != "" {
			text += " of " + b.Date
		}
		if b.Modified {
			text += ", and later changes"
		}
		text += "\n"
	} else if b.Version == "devel" {
		text += "commit unknown: build with -buildvcs=true\n"
	}
	_, err := fmt.Fprintf(w, "%s%s for %s/%s\n", text, b.Go, b.System, b.Architecture)
	return err
}
