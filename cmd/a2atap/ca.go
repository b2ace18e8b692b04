package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/trust"
	"a2atap/proxy/ca"
	"a2atap/proxy/forward"
)

func newCA(e cli.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ca",
		Short: "Show the certificate authority with which the forward proxy intercepts TLS",
		Long: `To record TLS traffic, record --forward and run present certificates that are signed by a certificate
authority of the user, created on first use. Its key never leaves this machine, and only clients that are configured
to trust its certificate do so. Its files are in the user's configuration directory, or in A2ATAP_CA_DIR.

a2atap does not install it: ca install prints the commands that do, for each kind of client. ca rotate makes a new
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
		Long: `Env prints export commands for POSIX shells: the variables that set a program's proxy, and those that name
the files of authorities that it trusts. Where such a file replaces the system's list, it is a bundle of the system's
authorities, of those that the environment named before, and of ours; the bundle is written when this command runs. Go
programs on macOS and Windows and browsers ignore these variables: ca install prints what to do for them.`,
		Example: "  eval \"$(a2atap ca env --forward 7080)\"",
		RunE: func(*cobra.Command, []string) error {
			listen, err := forward.ParseListen(address)
			if err != nil {
				return cli.Usage("%w", err)
			}
			return trust.With(e, func(e cli.Env, a *ca.Authority) error { return trust.PrintSettings(e, a, listen) })
		},
	}
	cmd.Flags().StringVar(&address, "forward", "7080", "address that record --forward listens on: `[HOST:]PORT`")
	return withArgs(cmd, 0, 0)
}

func newCAInstall(e cli.Env) *cobra.Command {
	address := ""
	cmd := &cobra.Command{
		Use:   "install [CLIENT...]",
		Short: "Print the commands that make clients trust the authority",
		Long: `Install prints, for each kind of client, the commands with which it uses the forward proxy and trusts its
authority: for a shell, or for the system's store. It runs none of them, and changes nothing but the bundle of
authorities that some of them name, which it writes beside the authority. run sets all of this for its program by
itself.

CLIENT is ` + strings.Join(trust.InstallWords(), ", ") + `; without one, all are printed.

Anybody with the key of the authority (see ca show) can pretend to be any host to clients that trust it: prefer the
settings of a single program to the system's store, and undo them afterwards.`,
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
	cmd.Flags().StringVar(&address, "forward", "7080", "address that record --forward listens on: `[HOST:]PORT`")
	return withArgs(cmd, 0, len(trust.Installations))
}

func newCARotate(e cli.Env) *cobra.Command {
	return withArgs(&cobra.Command{
		Use:   "rotate",
		Short: "Make a new authority in the place of the present one",
		Long: `Rotate makes a new certificate authority, for when the present one has expired, or its key may be known to
somebody else. The former one is kept beside it under the time of the rotation. Recorders that run go on with the former
one; those that start from now on use the new one, which clients must then trust. What has to be done again is printed.`,
		Example: "  a2atap ca rotate",
		RunE:    func(*cobra.Command, []string) error { return trust.Rotate(e) },
	}, 0, 0)
}
