package ca

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
)

// rootFiles are where systems keep the authorities that they trust, in PEM. The first that is there counts.
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
var ErrNoRoots = errors.New("the system's certificate authorities were not found, so the bundle holds ours alone")

// WriteBundle writes the system's certificate authorities, those in further files, and this one into the file name,
// PEM, readable for all. It is for programs that are told of one file that replaces what the system trusts. Empty names
// and files that are not there are passed over.
//
// With ErrNoRoots the file is written nevertheless.
func (a *Authority) WriteBundle(name string, further ...string) error {
	var out bytes.Buffer
	seen := make(map[string]bool)
	found := false
	for _, root := range rootFiles {
		if text, err := os.ReadFile(root); err == nil {
			found = appendCertificates(&out, text, seen) > 0
			break
		}
	}
	for _, file := range further {
		if text, err := os.ReadFile(file); err == nil {
			found = appendCertificates(&out, text, seen) > 0 || found
		}
	}
	appendCertificates(&out, certificatePEM(a.cert.Raw), seen)
	if err := replaceFile(name, out.Bytes()); err != nil {
		return fmt.Errorf("write the bundle of certificate authorities: %w", err)
	}
	if !found {
		return ErrNoRoots
	}
	return nil
}

// appendCertificates adds the certificates of a PEM file that are not there yet, and returns how many it read.
func appendCertificates(out *bytes.Buffer, text []byte, seen map[string]bool) (n int) {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return n
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		n++
		if !seen[string(block.Bytes)] {
			seen[string(block.Bytes)] = true
			out.Write(certificatePEM(block.Bytes))
		}
	}
}
