// Package trust makes clients trust the user's certificate authority: programs by environment variables, and systems by
// commands that it prints. It installs nothing. Files that programs trust instead of the system's authorities are
// written next to the authority, or into a folder that the caller names.
package trust

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/ca"
)

// With calls a function with the user's certificate authority.
func With(e cli.Env, do func(cli.Env, *ca.Authority) error) error {
	authority, err := Open(e)
	if err != nil {
		return err
	}
	return do(e, authority)
}

// Show prints the facts about the authority.
func Show(e cli.Env, a *ca.Authority) error {
	const date = "2006-01-02"
	c := a.Certificate()
	_, err := fmt.Fprintf(e.Out, "subject      %s\nvalid        %s to %s\nSHA-256      %s\n"+
		"certificate  %s\nkey          %s\n",
		c.Subject, c.NotBefore.UTC().Format(date), c.NotAfter.UTC().Format(date), a.Fingerprint(), a.CertificateFile(),
		a.KeyFile())
	return err
}

// Rotate creates a new authority, and prints which steps to repeat.
func Rotate(e cli.Env) error {
	dir, err := ca.DefaultDir(e.Getenv)
	if err != nil {
		return err
	}
	a, former, err := ca.Rotate(dir, e.Now())
	if err != nil {
		return err
	}
	// For a while, clients with the bundle trust both, since recorders may continue with the former authority.
	files := trustFor(a)
	if err := Write(e, a, files, former.CertificateFile); err != nil && !errors.Is(err, ca.ErrNoRoots) {
		return err
	}
	if former.KeyFile != "" {
		e.Tell("the old authority is kept in %s and %s; remove both when no recorder or client uses it any more",
			cmp.Or(former.CertificateFile, "no separate file"), former.KeyFile)
	}
	if err := Show(e, a); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Out, `
Repeat these steps if you did them for the old authority (a2atap ca install prints each command):
  the system's store     install it again, and remove the old one
  Java                   remove %s, and import it again
  single programs        restart them: the files that their variables name, %s
                         and %s, contain the new authority; the latter also contains the old one until
                         ca env or ca install is run next
  programs of run        nothing
`, trustStore(a), filepath.Base(a.CertificateFile()), filepath.Base(files.bundle))
	return err
}

// trustStore returns the path of the trust store for Java, which the user may have created.
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
