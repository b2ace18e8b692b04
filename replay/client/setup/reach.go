package setup

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"a2atap/proxy/outbound"
)

// ReachFlags are the flags for connections to agents: which authorities to trust, which certificate to present, and
// which proxy to use. All commands that dial agents have them under the same names.
type ReachFlags struct {
	Authorities   []string // --agent-ca
	Insecure      bool     // --insecure
	Certificate   string   // --client-cert
	Key           string   // --client-key
	UpstreamProxy string   // --upstream-proxy
}

// Register adds the flags to a set. The text explains the use of the environment's proxy without --upstream-proxy.
func (f *ReachFlags) Register(set *pflag.FlagSet, otherwise string) {
	set.StringArrayVar(&f.Authorities, "agent-ca", nil,
		"trust the authorities in `FILE` (PEM) in addition to the system's, for agents on TLS; repeatable")
	set.BoolVar(&f.Insecure, "insecure", false,
		"accept any certificate from agents: anyone on the network path can impersonate them")
	set.StringVar(&f.Certificate, "client-cert", "",
		"present the certificate in `FILE` (PEM, with its key) to agents that ask for one")
	set.StringVar(&f.Key, "client-key", "", "the key of --client-cert is in `FILE` (PEM)")
	set.StringVar(&f.UpstreamProxy, "upstream-proxy", "", "reach agents, except those on this machine, through the proxy "+
		"at `URL` (http, https or socks5), or env to use HTTPS_PROXY, HTTP_PROXY and NO_PROXY ("+otherwise+"); "+
		"may contain USER:PASSWORD@: "+secretHelp)
}

// Dialer returns a Dialer as the flags configure it. A client certificate must be valid now. Errors are about the
// command line, or about files, with an [os.PathError]; they have no secrets.
func (f *ReachFlags) Dialer(w World, now func() time.Time) (*outbound.Dialer, error) {
	d := &outbound.Dialer{Insecure: f.Insecure}
	var err error
	if len(f.Authorities) > 0 {
		if d.Roots, err = outbound.ReadRoots(f.Authorities...); err != nil {
			return nil, fmt.Errorf("--agent-ca: %w", err)
		}
	}
	switch {
	case f.Certificate != "":
		if d.Certificate, err = outbound.ReadCertificate(f.Certificate, f.Key, now()); err != nil {
			return nil, fmt.Errorf("--client-cert: %w", err)
		}
	case f.Key != "":
		return nil, errors.New("--client-key needs --client-cert FILE")
	}
	if f.UpstreamProxy == "" {
		return d, nil
	}
	value, err := w.Secret("--upstream-proxy", f.UpstreamProxy)
	if err != nil {
		return nil, err
	}
	if d.Proxy, err = outbound.ParseProxy(value, w.Getenv); err != nil {
		return nil, fmt.Errorf("--upstream-proxy: %w", err)
	}
	return d, nil
}
