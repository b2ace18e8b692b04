package ca

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// authorityPEM returns key and certificate as they stand in one file.
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

// publish writes the certificate beside the key, if it is not there.
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
		return nil, fmt.Errorf("%w; set A2ATAP_CA_DIR to a folder of yours", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("%s can be read by other users (mode %#o); run chmod 600 %s, or %s", name, mode, name,
			remedy(name))
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w; make it readable for you, or %s", err, remedy(name))
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

// writeTemporary writes a file beside name and returns its name.
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
