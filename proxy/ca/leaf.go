package ca

import (
	"container/list"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"a2atap/proxy/hostname"
)

const (
	leafLifetime = 90 * 24 * time.Hour // well below the limits of clients (398 days, and fewer from year to year)
	renewBefore  = 30 * 24 * time.Hour // a certificate is renewed if it would expire within this time
	maxLeafs     = 1000                // certificates that are kept
)

// leafs keeps the certificates that were signed, up to a number.
type leafs struct {
	key *ecdsa.PrivateKey // of all of them

	mu    sync.Mutex
	hosts map[string]*list.Element // to *leaf
	used  list.List                // the latest first
}

// A leaf is the certificate of one host. Its lock is held while it is signed, so that many clients that come at once
// get one certificate.
type leaf struct {
	host string
	mu   sync.Mutex
	cert *tls.Certificate
}

// Leaf returns a certificate for a host, a name or an IP address without port, signed by the authority. It is kept and
// given again until shortly before its end. It must not be changed.
func (a *Authority) Leaf(host string) (*tls.Certificate, error) {
	host = hostname.Normal(host)
	if host == "" || host == "." {
		return nil, fmt.Errorf("create a certificate: no host is given")
	}
	l := a.leafs.get(host)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := a.now()
	if l.cert != nil && now.Before(l.cert.Leaf.NotAfter.Add(-renewBefore)) && !now.Before(l.cert.Leaf.NotBefore) {
		return l.cert, nil
	}
	cert, err := a.sign(host, now)
	if err != nil {
		return nil, fmt.Errorf("create a certificate for %s: %w", host, err)
	}
	l.cert = cert
	return cert, nil
}

// get returns the place of a host. The one that was not used for longest makes room.
func (s *leafs) get(host string) *leaf {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.hosts[host]; e != nil {
		s.used.MoveToFront(e)
		return e.Value.(*leaf)
	}
	if s.hosts == nil {
		s.hosts = make(map[string]*list.Element)
	}
	if s.used.Len() == maxLeafs {
		last := s.used.Back()
		delete(s.hosts, last.Value.(*leaf).host)
		s.used.Remove(last)
	}
	l := &leaf{host: host}
	s.hosts[host] = s.used.PushFront(l)
	return l
}

// sign makes a certificate for a host. It ends no later than the authority.
func (a *Authority) sign(host string, now time.Time) (*tls.Certificate, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{Organization: []string{"a2atap"}}, // the alternative name has the host
		NotBefore:             latest(now.Add(-skew), a.cert.NotBefore),
		NotAfter:              earliest(now.Add(leafLifetime), a.cert.NotAfter),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		template.IPAddresses = append(template.IPAddresses, ip.AsSlice())
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &a.leafs.key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.leafs.key, Leaf: parsed}, nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
