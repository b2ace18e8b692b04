package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/manual"
)

func newMan(e cli.Env) *cobra.Command {
	return withArgs(&cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages",
		Long: `Man writes a manual page for each command, such as a2atap-check(1), and for each help topic, such as
a2atap-filter(7), into the directories man1 and man7 below DIR. They have the same texts as the help. Packages include
the pages; after an installation with Go, man looks in share/man next to the program's bin directory.`,
		Example: `  a2atap man "$(go env GOPATH)/share/man"
  a2atap man . && man -M . a2atap-check`,
		RunE: func(cmd *cobra.Command, args []string) error {
			built := cli.Built()
			date, _, _ := strings.Cut(built.Date, "T")
			pages := manual.Pages(cmd.Root(), manual.Edition{Program: built.Name + " " + built.Version, Date: date})
			if err := manual.Write(args[0], pages); err != nil {
				return fmt.Errorf("write the manual: %w", err)
			}
			e.Tell("man: wrote %d pages below %s; man -M %s a2atap shows the first", len(pages), args[0], cli.Quote(args[0]))
			return nil
		},
	}, 1, 1)
}
