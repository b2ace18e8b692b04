package main

import (
	"strings"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/trust"
	"a2atap/proxy"
	"a2atap/proxy/ca"
)

func newCAInstall(e cli.Env) *cobra.Command {
	forward := ""
	cmd := &cobra.Command{
		Use:   "install [CLIENT...]",
		Short: "Print the commands that make clients trust the authority",
		Long: `Install prints, for each kind of client, the commands with which it uses the forward proxy and trusts its
authority: for a shell, or for the system's store. It runs none of them, and changes nothing but the bundle of
authorities that some of them name, which it writes beside the authority. run sets all of this for its program by
itself.

CLIENT is ` + strings.Join(trust.InstallWords(), ", ") + `; without one, all are printed.

Who has the key of the authority (see ca show) can pretend to be any host to those that trust it: prefer the settings of
a single program to the system's store, and undo that afterwards.`,
		Example: `  a2atap ca install
  a2atap ca install node --forward 7080
  eval "$(a2atap ca install python)" && python planner.py`,
		RunE: func(_ *cobra.Command, args []string) error {
			listen, err := proxy.ParseForward(forward)
			if err != nil {
				return cli.Usage("%w", err)
			}
			for _, word := range args {
				if err := cli.Choose("client", word, trust.InstallWords()...); err != nil {
					return err
				}
			}
			return trust.With(e, func(e cli.Env, a *ca.Authority) error { return trust.PrintInstallations(e, a, listen, args) })
		},
	}
	cmd.Flags().StringVar(&forward, "forward", "7080", "address that record --forward listens on: `[HOST:]PORT`")
	return withArgs(cmd, 0, len(trust.Installations))
}
