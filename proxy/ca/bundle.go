package ca

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
)

// rootFiles are the places where systems keep their trusted authorities, in PEM. The first existing one counts.
var rootFiles = []string{
	"/etc/ssl/certs/ca-certificates.crt",                // Debian, Ubuntu, Gentoo, Arch
	"/etc/pki/tls/certs/ca-bundle.crt",                  // Fedora, RHEL 6
	"/etc/ssl/ca-bundle.pem",                            // openSUSE
	"/etc/pki/tls/cacert.pem",                           // OpenELEC
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // CentOS, RHEL 7
	"/etc/ssl/cert.pem",                                 // Alpine, macOS, OpenBSD
	"/usr/local/etc/ssl/cert.pem",                       // FreeBSD
	"/usr/local/share/certs/ca-root-nss.crt",            // DragonFly
}

// ErrNoRoots is returned by WriteBundle where the file of the system's authorities was not found.
var ErrNoRoots = errors.New("the system's certificate authorities were not found, so the bundle contains only a2atap's")

// WriteBundle writes the system's certificate authorities, those in further files, and this one into the file name,
// PEM, readable for all. It is for programs that use one file instead of the system's authorities. Empty names and
// missing files are skipped.
//
// With ErrNoRoots the file is written nevertheless.
func (a *Authority) WriteBundle(name string, further ...string) error {
	list := a.trusted(further)
	var out bytes.Buffer
	for _, der := range list.certificates {
		out.Write(certificatePEM(der))
	}
	if err := replaceFile(name, out.Bytes()); err != nil {
		return fmt.Errorf("write the bundle of certificate authorities: %w", err)
	}
	return list.err()
}

// trusted returns the system's authorities, those in further files, and this one.
func (a *Authority) trusted(further []string) *authorityList {
	list := &authorityList{seen: make(map[string]bool)}
	for _, root := range rootFiles {
		if text, err := os.ReadFile(root); err == nil {
			list.add(text)
			break
		}
	}
	for _, file := range further {
		if text, err := os.ReadFile(file); err == nil {
			list.add(text)
		}
	}
	list.found = len(list.certificates)
	list.add(certificatePEM(a.cert.Raw))
	return list
}

// An authorityList is a list of certificates without duplicates.
type authorityList struct {
	certificates [][]byte // DER
	seen         map[string]bool
	found        int // of those that are not ours
}

// add adds the certificates of a text in PEM that are not there yet.
func (l *authorityList) add(text []byte) {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return
		}
		if block.Type == "CERTIFICATE" && !l.seen[string(block.Bytes)] {
			l.seen[string(block.Bytes)] = true
			l.certificates = append(l.certificates, block.Bytes)
		}
	}
}

// err returns ErrNoRoots if the list has only a2atap's authority.
func (l *authorityList) err() error {
	if l.found == 0 {
		return ErrNoRoots
	}
	return nil
}
