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
		Short: "Write the manual pages, for man",
		Long: `Man writes a page of the manual for each command, a2atap-check(1), and for each topic of the help, a2atap-filter(7),
into the folders man1 and man7 beneath DIR. They are made of the same texts as the help. Packages bring them along;
after an installation with Go, man looks in share/man beside the folder bin of the program.`,
		Example: `  a2atap man "$(go env GOPATH)/share/man"
  a2atap man . && man -M . a2atap-check`,
		RunE: func(cmd *cobra.Command, args []string) error {
			built := cli.Built()
			date, _, _ := strings.Cut(built.Date, "T")
			pages := manual.Pages(cmd.Root(), manual.Edition{Program: built.Name + " " + built.Version, Date: date})
			if err := manual.Write(args[0], pages); err != nil {
				return fmt.Errorf("write the manual: %w", err)
			}
			e.Tell("man: %d pages are beneath %s; man -M %s a2atap shows the first", len(pages), args[0], cli.Quote(args[0]))
			return nil
		},
	}, 1, 1)
}
