package probe

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"

	"a2atap/replay/client"
	"a2atap/replay/client/webhook"
)

// webhooks is the server behind all webhooks of a run: parallel cases share its port.
type webhooks struct {
	opts webhook.Options

	mu     sync.Mutex
	server *webhook.Server // nil until one is needed
}

// open returns the server, and starts it on the first call. The server uses TLS if it has a certificate, or if the
// protocol requires TLS and the options name no proxy in front of it.
func (w *webhooks) open(p client.Protocol) (*webhook.Server, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.server != nil {
		return w.server, nil
	}
	o := w.opts
	o.Address = cmp.Or(o.Address, "127.0.0.1:0")
	if p == client.Early && o.Certificate == nil && o.Public == "" {
		certificate, err := selfSigned()
		if err != nil {
			return nil, fmt.Errorf("make a certificate for the webhook: %w", err)
		}
		o.Certificate = certificate
	}
	var err error
	w.server, err = webhook.Serve(o)
	return w.server, err
}

// begin opens the server before the first request if the user chose its address: an unusable address is not the
// agent's fault.
func (w *webhooks) begin(t *target) error {
	if w.opts.Address == "" {
		return nil
	}
	var p client.Protocol
	if len(t.endpoints) > 0 {
		p = t.endpoints[0].Protocol
	}
	_, err := w.open(p)
	return err
}

func (w *webhooks) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.server != nil {
		w.server.Close()
	}
}

// selfSigned returns an untrusted certificate for this machine.
func selfSigned() (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		DNSNames: []string{"localhost"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
