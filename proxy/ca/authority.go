package ca

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	lifetime = 5 * 365 * 24 * time.Hour // of an authority
	skew     = time.Hour                // by which clocks may differ
)

// An Authority signs certificates for hosts. It may be used by several goroutines.
type Authority struct {
	dir   string
	made  bool
	cert  *x509.Certificate
	key   *ecdsa.PrivateKey
	now   func() time.Time
	leafs leafs
}

// DefaultDir returns the folder of the user's authority: the value of A2ATAP_CA_DIR, or a2atap in the user's
// configuration directory.
func DefaultDir(getenv func(string) string) (string, error) {
	if dir := getenv("A2ATAP_CA_DIR"); dir != "" {
		return dir, nil
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the directory of the certificate authority: %w; set A2ATAP_CA_DIR", err)
	}
	return filepath.Join(config, "a2atap"), nil
}

// Open returns the authority in a folder, and creates both if they do not exist. If several processes do so at once,
// one creates the authority and all return the same.
//
// The error tells what is wrong with an existing authority, such as that it has expired, and what to do.
func Open(dir string) (*Authority, error) { return open(dir, time.Now) }

func open(dir string, now func() time.Time) (*Authority, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open the certificate authority: %w", err)
	}
	a := &Authority{dir: dir, now: now}
	err = a.load()
	if errors.Is(err, fs.ErrNotExist) {
		if err = a.make(); err != nil {
			return nil, fmt.Errorf("create a certificate authority in %s: %w; set A2ATAP_CA_DIR to a directory that you "+
				"can write to", dir, err)
		}
		err = a.load()
	}
	if err == nil {
		err = a.valid()
	}
	if err != nil {
		return nil, fmt.Errorf("open the certificate authority: %w", err)
	}
	if err := a.publish(); err != nil {
		return nil, fmt.Errorf("write the certificate of the authority: %w", err)
	}
	if a.leafs.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, fmt.Errorf("create a key for certificates: %w", err)
	}
	return a, nil
}

// CertificateFile returns the absolute path of the certificate, PEM, for clients that are to trust it.
func (a *Authority) CertificateFile() string { return filepath.Join(a.dir, "ca.pem") }

// KeyFile returns the absolute path of the file with the key.
func (a *Authority) KeyFile() string { return filepath.Join(a.dir, "ca-key.pem") }

// Certificate returns the authority's own certificate, which must not be changed.
func (a *Authority) Certificate() *x509.Certificate { return a.cert }

// Made reports whether Open has just made the authority, so that no client can know it yet.
func (a *Authority) Made() bool { return a.made }

// Fingerprint returns the SHA-256 of the certificate in the form in which other programs show it: AB:CD:…
func (a *Authority) Fingerprint() string {
	sum := sha256.Sum256(a.cert.Raw)
	return strings.ReplaceAll(fmt.Sprintf("% X", sum[:]), " ", ":")
}

// make makes an authority, unless another process was quicker.
func (a *Authority) make() error {
	text, err := a.generate()
	if err != nil {
		return err
	}
	return a.store(text)
}

// generate returns the text of a file with a new key and its certificate.
func (a *Authority) generate() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := a.now()
	template := &x509.Certificate{
		Subject:               pkix.Name{Organization: []string{"a2atap"}, CommonName: "a2atap of " + owner()},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.Add(lifetime),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true, // it signs hosts and no further authorities
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return authorityPEM(der, key)
}

// owner names user and machine, so that a person who meets the certificate in a list knows where it is from.
func owner() string {
	user := os.Getenv("USER")
	if user == "" {
		user = "a user"
	}
	if host, err := os.Hostname(); err == nil {
		user += " on " + host
	}
	return user[:min(len(user), 40)]
}

// load reads the authority. It returns fs.ErrNotExist if the authority does not exist.
func (a *Authority) load() error {
	name := a.KeyFile()
	text, err := readPrivate(name)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(text, text)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w; %s", name, err, remedy(name))
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || !pair.Leaf.IsCA {
		return fmt.Errorf("%s is not an authority created by a2atap; %s", name, remedy(name))
	}
	a.cert, a.key = pair.Leaf, key
	return nil
}

func remedy(name string) string {
	return "run a2atap ca rotate to replace it by a new one in " + name + ", which clients must then trust"
}

// valid reports whether the authority's certificate holds today.
func (a *Authority) valid() error {
	const date = "2 January 2006"
	now := a.now()
	switch {
	case now.After(a.cert.NotAfter):
		return fmt.Errorf("its certificate expired on %s; %s", a.cert.NotAfter.Format(date), remedy(a.KeyFile()))
	case now.Before(a.cert.NotBefore):
		return fmt.Errorf("its certificate is not valid before %s; set this machine's clock, or %s",
			a.cert.NotBefore.Format(date), remedy(a.KeyFile()))
	}
	return nil
}

// authorityPEM returns key and certificate as one PEM file.
func authorityPEM(der []byte, key *ecdsa.PrivateKey) ([]byte, error) {
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	return append(text, certificatePEM(der)...), nil
}

// store writes a new authority, whose file appears whole or not at all. If another process has written one in the
// meantime, that one stays.
func (a *Authority) store(text []byte) error {
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return err
	}
	tmp, err := writeTemporary(a.KeyFile(), text, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	err = os.Link(tmp, a.KeyFile()) // unlike a rename it does not replace
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	a.made = err == nil
	return err
}

// publish writes the certificate next to the key, unless it exists.
func (a *Authority) publish() error {
	text := certificatePEM(a.cert.Raw)
	if there, err := os.ReadFile(a.CertificateFile()); err == nil && bytes.Equal(there, text) {
		return nil
	}
	return replaceFile(a.CertificateFile(), text)
}

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// readPrivate reads a file that only the user may read.
func readPrivate(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w; set A2ATAP_CA_DIR to your own directory", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("other users can read %s (mode %#o); run chmod 600 %s, or %s", name, mode, name,
			remedy(name))
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w; make it readable for yourself, or %s", err, remedy(name))
	}
	return text, nil
}

// replaceFile writes a file that all may read. It appears whole.
func replaceFile(name string, text []byte) error {
	tmp, err := writeTemporary(name, text, 0o644)
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, name); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return nil
}

// writeTemporary writes a file next to name and returns its name.
func writeTemporary(name string, text []byte, mode fs.FileMode) (string, error) {
	tmp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*") // with mode 0600
	if err != nil {
		return "", err
	}
	_, err = tmp.Write(text)
	if err == nil {
		err = tmp.Chmod(mode)
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return "", errors.Join(err, os.Remove(tmp.Name()))
	}
	return tmp.Name(), nil
}
