package ca

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// A Former is an authority that another has replaced: the files in which it is kept, absolute. Empty names are files
// that there were none of.
type Former struct{ CertificateFile, KeyFile string }

// Rotate replaces the authority in a folder with a new one, even if the old one is broken. It keeps the old one next to
// it, named after the time now. There is always an authority, and processes that have opened the old one continue to
// use it.
func Rotate(dir string, now time.Time) (*Authority, Former, error) {
	var former Former
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, former, fmt.Errorf("rotate the certificate authority: %w", err)
	}
	a := &Authority{dir: dir, now: time.Now}
	text, err := a.generate()
	if err == nil {
		former, err = a.replace(text, now.UTC().Format("20060102-150405"))
	}
	if err != nil {
		return nil, former, fmt.Errorf("rotate the certificate authority in %s: %w", dir, err)
	}
	a, err = Open(dir)
	return a, former, err
}

// replace replaces the old authority's file, which it keeps under another name.
func (a *Authority) replace(text []byte, when string) (former Former, err error) {
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return former, err
	}
	tmp, err := writeTemporary(a.KeyFile(), text, 0o600)
	if err != nil {
		return former, err
	}
	defer os.Remove(tmp)
	if former.KeyFile, err = keep(a.KeyFile(), "ca-key-"+when+".pem"); err != nil {
		return former, err
	}
	if former.KeyFile != "" {
		if err := os.Chmod(former.KeyFile, 0o600); err != nil { // that others can read it may be why it is replaced
			return former, err
		}
	}
	if former.CertificateFile, err = keep(a.CertificateFile(), "ca-"+when+".pem"); err != nil {
		return former, err
	}
	return former, os.Rename(tmp, a.KeyFile())
}

// keep gives a file a second name in its folder, and returns that, or "" if the file does not exist.
func keep(name, also string) (string, error) {
	also = filepath.Join(filepath.Dir(name), also)
	switch err := os.Link(name, also); {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case errors.Is(err, fs.ErrExist):
		return "", fmt.Errorf("%s already exists: the authority was rotated within the last second; try again", also)
	case err != nil:
		return "", fmt.Errorf("keep the old authority: %w", err)
	}
	return also, nil
}
