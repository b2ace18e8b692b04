package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"a2atap/proxy"
	"a2atap/proxy/ca"
)

func newCA(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ca",
		Short: "The certificate authority that the forward proxy opens TLS with",
		Long: `To see what passes over TLS, record --forward and run show clients certificates that are signed by an authority of this
user, made on first use. Its key never leaves this machine; only clients that are told of the certificate trust it. It lies
in the user's configuration directory, or where A2ATAP_CA_DIR says.

There is no ca install and no ca rotate: give the file that ca path prints to your system's or your program's own list of
authorities, or set the variables that ca env prints. For a new authority remove the file that holds the key (ca show).`,
		Example: `  a2atap ca show
  eval "$(a2atap ca env --forward 7080)"
  curl --cacert "$(a2atap ca path)" --proxy http://planner@127.0.0.1:7080 https://booker.example/`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return nil
			case args[0] == "install":
				return usage("ca install is not there yet; add the file that a2atap ca path prints to what your system or program trusts, " +
					"or set the variables that a2atap ca env prints")
			case args[0] == "rotate":
				return usage("ca rotate is not there yet; remove the file with the key that a2atap ca show names, and the next use makes a new " +
					"authority, which clients must then be told of")
			}
			return usage("no verb %q; there are env, path, show", args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		verb(&cobra.Command{
			Use: "show", Short: "Show the authority: subject, validity, fingerprint, files", Example: "  a2atap ca show",
			RunE: func(*cobra.Command, []string) error { return withAuthority(e, showAuthority) },
		}, 0, 0),
		verb(&cobra.Command{
			Use: "path", Short: "Print where the certificate lies, for clients that are to trust it", Example: "  a2atap ca path",
			RunE: func(*cobra.Command, []string) error {
				return withAuthority(e, func(e env, a *ca.Authority) error {
					_, err := fmt.Fprintln(e.Out, a.CertificateFile())
					return err
				})
			},
		}, 0, 0),
		newCAEnv(e),
	)
	return cmd
}

func withAuthority(e env, do func(env, *ca.Authority) error) error {
	authority, err := openAuthority(e)
	if err != nil {
		return err
	}
	return do(e, authority)
}

func showAuthority(e env, a *ca.Authority) error {
	const date = "2006-01-02"
	c := a.Certificate()
	_, err := fmt.Fprintf(e.Out, "subject      %s\nvalid        %s to %s\nSHA-256      %s\ncertificate  %s\nkey          %s\n",
		c.Subject, c.NotBefore.UTC().Format(date), c.NotAfter.UTC().Format(date), a.Fingerprint(), a.CertificateFile(), a.KeyFile())
	return err
}

func newCAEnv(e env) *cobra.Command {
	var forward string
	cmd := &cobra.Command{
		Use:   "env",
		Short: "Print shell lines that make programs use the forward proxy and trust the authority",
		Long: `Prints lines for POSIX shells: the variables by which programs find their proxy, and those that name the authorities that
they trust. Where such a file replaces what the system trusts, it is a bundle of the system's authorities, of what the
environment named before, and of ours; the bundle is written when this verb runs. Go programs on macOS and Windows, Java and
browsers heed none of these variables: add the certificate (ca path) to their own lists.`,
		Example: "  eval \"$(a2atap ca env --forward 7080)\"",
		RunE: func(*cobra.Command, []string) error {
			listen, err := proxy.ParseForward(forward)
			if err != nil {
				return usage("%w", err)
			}
			return withAuthority(e, func(e env, a *ca.Authority) error { return printSettings(e, a, listen) })
		},
	}
	cmd.Flags().StringVar(&forward, "forward", "7080", "where record --forward listens: `[HOST:]PORT`")
	return verb(cmd, 0, 0)
}

func printSettings(e env, a *ca.Authority, listen string) error {
	bundle := bundleFile(a)
	err := writeBundle(e, a, bundle)
	switch {
	case errors.Is(err, ca.ErrNoRoots):
		e.tell("%v; programs that are given it trust nobody else", err)
	case err != nil:
		return err
	}
	for _, s := range settings("http://"+listen, a, bundle, e.Getenv) {
		if _, err := fmt.Fprintln(e.Out, s.shellLine()); err != nil {
			return err
		}
	}
	return nil
}
