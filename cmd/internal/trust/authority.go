// Package trust has the certificate authority of the user trusted: by programs, by the settings of their environment, and
// by systems, with commands that are printed. Nothing is installed. Files that programs trust in place of the system's
// authorities are written beside the authority, or into a folder that the caller names.
package trust

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/ca"
)

// With calls a function with the user's authority.
func With(e cli.Env, do func(cli.Env, *ca.Authority) error) error {
	authority, err := Open(e)
	if err != nil {
		return err
	}
	return do(e, authority)
}

// Show prints what the authority is.
func Show(e cli.Env, a *ca.Authority) error {
	const date = "2006-01-02"
	c := a.Certificate()
	_, err := fmt.Fprintf(e.Out, "subject      %s\nvalid        %s to %s\nSHA-256      %s\n"+
		"certificate  %s\nkey          %s\n",
		c.Subject, c.NotBefore.UTC().Format(date), c.NotAfter.UTC().Format(date), a.Fingerprint(), a.CertificateFile(),
		a.KeyFile())
	return err
}

// Rotate makes a new authority, and prints what has to be done again.
func Rotate(e cli.Env) error {
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
	if err := Write(e, a, files, former.CertificateFile); err != nil && !errors.Is(err, ca.ErrNoRoots) {
		return err
	}
	if former.KeyFile != "" {
		e.Tell("the former authority is kept in %s and %s; remove both once no recorder and no client uses it",
			cmp.Or(former.CertificateFile, "no file of its own"), former.KeyFile)
	}
	if err := Show(e, a); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Out, `
To be done again, where it was done for the former authority (a2atap ca install prints each command):
  the system's store     install it again, and remove the former
  Java                   remove %s, and import it again
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

// Open opens the user's certificate authority, and prints a message if it was just created.
func Open(e cli.Env) (*ca.Authority, error) {
	dir, err := ca.DefaultDir(e.Getenv)
	if err != nil {
		return nil, err
	}
	authority, err := ca.Open(dir)
	if err == nil && authority.Made() {
		e.Tell("created a certificate authority; TLS clients of --forward must trust %s", authority.CertificateFile())
	}
	return authority, err
}
