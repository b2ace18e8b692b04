package ca

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// Clients that trust the authority take its certificates for the host that they mean, and for no other.
func TestLeafVerifies(t *testing.T) {
	a := newAuthority(t)
	roots := x509.NewCertPool()
	roots.AddCert(a.Certificate())
	const long = "a-name-that-is-longer-than-the-sixty-four-bytes-of-a-common-name.example"
	for asked, host := range map[string]string{
		"booker.example": "booker.example", "Booker.Example.": "booker.example", "127.0.0.1": "127.0.0.1", "::1": "::1",
		"::ffff:127.0.0.1": "127.0.0.1", "localhost": "localhost", "a_b.example": "a_b.example",
		long: long,
	} {
		cert, err := a.Leaf(asked)
		if err != nil {
			t.Errorf("%s: %v", asked, err)
			continue
		}
		client, server := net.Pipe()
		var wg sync.WaitGroup
		wg.Go(func() {
			s := tls.Server(server, &tls.Config{Certificates: []tls.Certificate{*cert}})
			if err := s.Handshake(); err != nil {
				t.Errorf("%s: server: %v", asked, err)
			}
		})
		if err := tls.Client(client, &tls.Config{RootCAs: roots, ServerName: host}).Handshake(); err != nil {
			t.Errorf("%s: client: %v", asked, err)
		}
		client.Close()
		wg.Wait()
		server.Close()
		expect.Error(t, fmt.Sprintf("%s: holds for another host", asked), cert.Leaf.VerifyHostname("other.example"))
		valid := cert.Leaf.NotAfter.Sub(cert.Leaf.NotBefore)
		if valid > 197*24*time.Hour || cert.Leaf.IsCA || cert.Leaf.PublicKeyAlgorithm != x509.ECDSA {
			t.Errorf("%s: valid for %v, authority %v, %v", asked, valid, cert.Leaf.IsCA, cert.Leaf.PublicKeyAlgorithm)
		}
	}
	expect.Error(t, "no error for no host", expect.Err(a.Leaf(".")))
}

func TestLeafIsKeptAndRenewed(t *testing.T) {
	a := newAuthority(t)
	now := time.Now()
	a.now = func() time.Time { return now }
	leaf := func(host string) *tls.Certificate {
		t.Helper()
		return must.Get(a.Leaf(host))(t)
	}
	first := leaf("a.example")
	expect.Equal(t, "signed again for another spelling", first, leaf("A.example."))
	now = first.Leaf.NotAfter.Add(-renewBefore - time.Second)
	expect.Equal(t, "signed again too early", first, leaf("a.example"))
	now = now.Add(2 * time.Second)
	second := leaf("a.example")
	if second == first || !second.Leaf.NotAfter.After(first.Leaf.NotAfter) ||
		second.Leaf.SerialNumber.Cmp(first.Leaf.SerialNumber) == 0 {
		t.Error("not renewed")
	}
	now = first.Leaf.NotBefore // the clock was set back
	if third := leaf("a.example"); third == second || third.Leaf.NotBefore.After(now) {
		t.Error("not renewed for an earlier time")
	}
	now = a.cert.NotAfter.Add(-time.Hour)
	if leaf("b.example").Leaf.NotAfter.After(a.cert.NotAfter) {
		t.Error("outlives the authority")
	}
}

func TestLeafsAreLimited(t *testing.T) {
	a := newAuthority(t)
	get := func(n int) *tls.Certificate {
		return must.Get(a.Leaf(fmt.Sprintf("h%d.example", n)))(t)
	}
	first, second := get(0), get(1)
	for n := 2; n < maxLeafs; n++ {
		get(n)
	}
	expect.Equal(t, "forgotten too early", first, get(0))
	get(maxLeafs)
	if len(a.leafs.hosts) != maxLeafs || a.leafs.used.Len() != maxLeafs {
		t.Errorf("%d and %d are kept", len(a.leafs.hosts), a.leafs.used.Len())
	}
	if get(0) != first || get(1) == second {
		t.Error("it is not the one used longest ago that makes room")
	}
}

// Clients that come at once for the same hosts get one certificate for each.
func TestLeafAtOnce(t *testing.T) {
	a := newAuthority(t)
	var mu sync.Mutex
	seen := make(map[string]*tls.Certificate)
	var wg sync.WaitGroup
	for n := range 50 {
		wg.Go(func() {
			host := fmt.Sprintf("h%d.example", n%3)
			cert, err := a.Leaf(host)
			mu.Lock()
			defer mu.Unlock()
			if err != nil || seen[host] != nil && seen[host] != cert {
				t.Errorf("%s: another one, or %v", host, err)
			}
			seen[host] = cert
		})
	}
	wg.Wait()
}
