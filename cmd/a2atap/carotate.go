package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/ca"
)

func newCARotate(e cli.Env) *cobra.Command {
	return withArgs(&cobra.Command{
		Use:   "rotate",
		Short: "Make a new authority in the place of the present one",
		Long: `Rotate makes a new certificate authority, for when the present one has expired, or its key may be known to
somebody else. The former one is kept beside it under the time of the rotation. Recorders that run go on with the former
one; those that start from now on use the new one, which clients must then trust. What has to be done again is printed.`,
		Example: "  a2atap ca rotate",
		RunE:    func(*cobra.Command, []string) error { return rotate(e) },
	}, 0, 0)
}

func rotate(e cli.Env) error {
	dir, err := ca.DefaultDir(e.Getenv)
	if err != nil {
		return err
	}
	a, former, err := ca.Rotate(dir, e.Now())
	if err != nil {
		return err
	}
	// For a while who uses the bundle trusts both, since recorders may go on with the former authority.
	files := trustFor(a)
	if err := writeTrust(e, a, files, former.CertificateFile); err != nil && !errors.Is(err, ca.ErrNoRoots) {
		return err
	}
	if former.KeyFile != "" {
		e.Tell("the former authority is kept in %s and %s; remove both once no recorder and no client uses it",
			cmp.Or(former.CertificateFile, "no file of its own"), former.KeyFile)
	}
	if err := showAuthority(e, a); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Out, `
To be done again, where it was done for the former authority (a2atap ca install prints each command):
  the system's store     install it anew, and undo the former
  Java                   remove %s, and import anew
  single programs        start them again: the files that their variables name, %s
                         and %s, hold the new authority; the latter holds the former one, too, until
                         ca env or ca install is run next
  programs of run        nothing
`, trustStore(a), filepath.Base(a.CertificateFile()), filepath.Base(files.bundle))
	return err
}

// trustStore is where the trust store for Java lies, if somebody makes it.
func trustStore(a *ca.Authority) string {
	return filepath.Join(filepath.Dir(a.CertificateFile()), "truststore.p12")
}
