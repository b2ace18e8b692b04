package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"
)

// ReadRoots returns the system's authorities and those in PEM files, each of which may have several. Errors name the
// file and what to do.
func ReadRoots(files ...string) (*x509.CertPool, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // only the files were requested
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read certificates: %w", err)
		}
		if err := addCertificates(roots, text); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return roots, nil
}

// errPEM is wrapped by errors about a file's contents, as opposed to reading it.
var errPEM = errors.New("use PEM, which begins with -----BEGIN CERTIFICATE-----; openssl x509 -inform der " +
	"converts DER to it")

// addCertificates adds the certificates of a text in PEM. One that cannot be read is an error, and not passed over.
func addCertificates(roots *x509.CertPool, text []byte) error {
	n := 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		n++
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return fmt.Errorf("certificate %d cannot be read (%w): %w", n, err, errPEM)
		}
		roots.AddCert(c)
	}
	if n == 0 {
		return fmt.Errorf("it contains no certificate: %w", errPEM)
	}
	return nil
}

// errCertificate ends errors about client certificates.
var errCertificate = fmt.Errorf("%w; put certificate and key into one file, or the key into the file of --client-key", errPEM)

// ReadCertificate returns the certificate of a client, with the chain that follows it in the file, and its key, which
// is in the same file if keyFile is empty. It must be valid at the time now. Errors name the file and what to do, and
// have no part of the key.
func ReadCertificate(file, keyFile string, now time.Time) (*tls.Certificate, error) {
	certificate, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the client certificate: %w", err)
	}
	key := certificate
	if keyFile == "" {
		keyFile = file
	} else if key, err = os.ReadFile(keyFile); err != nil {
		return nil, fmt.Errorf("read the key of the client certificate: %w", err)
	}
	c, err := parseCertificate(certificate, key)
	var inKey keyError
	switch {
	case errors.As(err, &inKey):
		return nil, fmt.Errorf("%s: %w", keyFile, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	const date = "2 January 2006"
	switch {
	case now.After(c.Leaf.NotAfter):
		return nil, fmt.Errorf("%s: the client certificate expired on %s; have a new one issued", file,
			c.Leaf.NotAfter.UTC().Format(date))
	case now.Before(c.Leaf.NotBefore):
		return nil, fmt.Errorf("%s: the client certificate is not valid before %s; set this machine's clock, or have a new "+
			"one issued", file, c.Leaf.NotBefore.UTC().Format(date))
	}
	return c, nil
}

// A keyError is about the key.
type keyError struct{ error }

// Unwrap returns the error itself.
func (e keyError) Unwrap() error { return e.error }

// parseCertificate reads a certificate and its key from their texts.
func parseCertificate(certificate, key []byte) (*tls.Certificate, error) {
	if err := addCertificates(x509.NewCertPool(), certificate); err != nil {
		return nil, fmt.Errorf("%w: %w", err, errCertificate)
	}
	if err := findKey(key); err != nil {
		return nil, keyError{err}
	}
	c, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, keyError{fmt.Errorf("certificate and key do not match (%w): provide the key that the certificate "+
			"was issued for", err)}
	}
	return &c, nil
}

// findKey returns why a text has no usable key.
func findKey(text []byte) error {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		switch {
		case block.Type == "ENCRYPTED PRIVATE KEY", block.Headers["DEK-Info"] != "":
			return errors.New("the key is encrypted; provide it without a passphrase, in a file that only you can read: " +
				"openssl pkey -in FILE -out NEW removes the passphrase")
		case len(block.Type) >= len("PRIVATE KEY") && block.Type[len(block.Type)-len("PRIVATE KEY"):] == "PRIVATE KEY":
			return nil
		}
	}
	return fmt.Errorf("it contains no private key; put the key after the certificate, or name its file with --client-key")
}
