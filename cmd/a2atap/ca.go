package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/program"
	"a2atap/cmd/internal/trust"
	"a2atap/proxy/ca"
	"a2atap/proxy/forward"
)

func newCA(e cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ca",
		Short: "Manage the certificate authority of the forward proxy",
		Long: `To record TLS traffic, record --forward and run present certificates that are signed by the user's own
certificate authority, which is created on first use. Its key never leaves this machine, and only clients that are
configured to trust its certificate accept it. Its files are in the user's configuration directory, or in A2ATAP_CA_DIR.

a2atap does not install the certificate: ca install prints the commands for each kind of client. ca rotate creates a new
authority, which must then be installed again.`,
		Example: `  a2atap ca show
  a2atap ca install node
  eval "$(a2atap ca env --forward 7080)"
  curl --cacert "$(a2atap ca path)" --proxy http://planner@127.0.0.1:7080 https://booker.example/`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return cli.Choose("command ca", args[0], commandNames(cmd)...)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		withArgs(&cobra.Command{
			Use:     "show",
			Short:   "Print subject, validity, fingerprint and files of the authority",
			Example: "  a2atap ca show",
			RunE:    func(*cobra.Command, []string) error { return trust.With(e, trust.Show) },
		}, 0, 0),
		withArgs(&cobra.Command{
			Use:     "path",
			Short:   "Print the path of the certificate that clients must trust",
			Example: "  a2atap ca path",
			RunE: func(*cobra.Command, []string) error {
				return trust.With(e, func(e cli.Env, a *ca.Authority) error {
					_, err := fmt.Fprintln(e.Out, a.CertificateFile())
					return err
				})
			},
		}, 0, 0),
		newCAEnv(e),
		newCAInstall(e),
		newCARotate(e),
	)
	return cmd
}

func newCAEnv(e cli.Env) *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "env",
		Short: "Print shell commands that make programs use the forward proxy and trust the authority",
		Long: `Env prints export commands for POSIX shells: variables that set a program's proxy, and variables that
name files with trusted authorities. If such a file replaces the system's list, it is a bundle of the system's
authorities, those already in the environment, and a2atap's; this command writes the bundle. Browsers, and Go programs
on macOS and Windows, ignore these variables: ca install prints the alternative.

` + program.BaseURLHelp(),
		Example: "  eval \"$(a2atap ca env --forward 7080)\"",
		RunE: func(*cobra.Command, []string) error {
			listen, err := forward.ParseListen(address)
			if err != nil {
				return cli.Usage("%w", err)
			}
			return trust.With(e, func(e cli.Env, a *ca.Authority) error { return trust.PrintSettings(e, a, listen) })
		},
	}
	cmd.Flags().StringVar(&address, "forward", "7080", "listening address of record --forward: `[HOST:]PORT`")
	return withArgs(cmd, 0, 0)
}

func newCAInstall(e cli.Env) *cobra.Command {
	address := ""
	cmd := &cobra.Command{
		Use:   "install [CLIENT...]",
		Short: "Print the commands that make clients trust the authority",
		Long: `Install prints the commands that make each kind of client use the forward proxy and trust its authority,
for a shell or for the system's store. It does not run them, and writes only the bundle of authorities that some of them
name, next to the authority. run sets all of this for its program automatically.

CLIENT is ` + strings.Join(trust.InstallWords(), ", ") + `; without one, all are printed.

Anyone with the authority's key (see ca show) can impersonate any host to clients that trust it: prefer the settings of
a single program to the system's store, and undo them afterwards.`,
		Example: `  a2atap ca install
  a2atap ca install node --forward 7080
  eval "$(a2atap ca install python)" && python planner.py`,
		RunE: func(_ *cobra.Command, args []string) error {
			listen, err := forward.ParseListen(address)
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
	cmd.Flags().StringVar(&address, "forward", "7080", "listening address of record --forward: `[HOST:]PORT`")
	return withArgs(cmd, 0, len(trust.Installations))
}

func newCARotate(e cli.Env) *cobra.Command {
	return withArgs(&cobra.Command{
		Use:   "rotate",
		Short: "Replace the authority by a new one",
		Long: `Rotate creates a new certificate authority, for example because the current one has expired or its key
may have leaked. The old one is kept next to it, with the time of the rotation in its name. Running recorders continue
to use the old one; new recorders use the new one, which clients must then trust. Rotate prints the steps to repeat.`,
		Example: "  a2atap ca rotate",
		RunE:    func(*cobra.Command, []string) error { return trust.Rotate(e) },
	}, 0, 0)
}
