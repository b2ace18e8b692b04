// Package receiver has the flags of commands that receive push notifications themselves, in the place of a webhook: where
// they listen, under which URL agents reach them, and with which certificate.
package receiver

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/trust"
	"a2atap/replay/client/webhook"
)

// Flags say where push notifications are received, and what the receiver proves itself by. The commands that
// have one share them.
type Flags struct {
	Listen, URL string
	remote      bool
	tls         bool
	cert, key   string // files
}

// Register adds the flags. Their help begins with when they matter, and ends that of --webhook-tls with what else is on
// https.
func (o *Flags) Register(f *pflag.FlagSet, when, tlsToo string) {
	f.StringVar(&o.Listen, "webhook-listen", "127.0.0.1:0", when+"receive on `ADDR`; port 0 is a free one")
	f.StringVar(&o.URL, "webhook-url", "", when+"the agent reaches the receiver beneath `URL` (default where it listens)")
	f.BoolVar(&o.remote, "allow-remote", false, when+"allow a listening address that other machines can reach")
	f.BoolVar(&o.tls, "webhook-tls", false, when+"receive on https, with a certificate of the authority that ca path "+
		"prints, which the agent has to trust"+tlsToo)
	f.StringVar(&o.cert, "webhook-cert", "", when+"receive on https with the certificate in `FILE` (PEM, with those "+
		"between it and its authority)")
	f.StringVar(&o.key, "webhook-key", "", "with --webhook-cert: its private key is in `FILE` (PEM)")
}

// Secured reports whether one of the flags is there that receive on https.
func (o *Flags) Secured() bool { return o.tls || o.cert != "" || o.key != "" }

// Check refuses flags that make no sense together.
func (o *Flags) Check() error {
	switch {
	case (o.cert == "") != (o.key == ""):
		return cli.Usage("--webhook-cert and --webhook-key belong together")
	case o.tls && o.cert != "":
		return cli.Usage("--webhook-tls makes a certificate, and --webhook-cert brings one; use one")
	}
	if o.Secured() && strings.HasPrefix(o.URL, "http://") {
		return cli.Usage("--webhook-url %s: with a certificate it must begin with https://", o.URL)
	}
	u, err := url.Parse(o.URL)
	if o.URL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return cli.Usage("--webhook-url %q: it must begin with http:// or https://", o.URL)
	}
	if err := cli.LocalOnly(o.Listen, o.remote); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(o.Listen)
	if ip := net.ParseIP(host); err == nil && o.URL == "" && (host == "" || ip != nil && ip.IsUnspecified()) {
		return cli.Usage("--webhook-listen %s is not an address that an agent can be given; say how it reaches the receiver with "+
			"--webhook-url", o.Listen)
	}
	return nil
}

// Certificate returns what the receiver proves itself by, and says what the agent has to trust; nil without TLS. If it
// must have one, it is made where none is given.
func (o *Flags) Certificate(e cli.Env, command string, must bool) (*tls.Certificate, error) {
	if o.cert != "" {
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return nil, fmt.Errorf("--webhook-cert %s, --webhook-key %s: %w", o.cert, o.key, err)
		}
		return &pair, nil
	}
	if !o.tls && !must {
		return nil, nil
	}
	authority, err := trust.Open(e)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(o.Listen)
	if u, urlErr := url.Parse(o.URL); urlErr == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	if err != nil {
		return nil, err
	}
	leaf, err := authority.Leaf(host)
	if err != nil {
		return nil, err
	}
	e.Tell("%s: the receiver is on https; the agent has to trust %s, as a2atap agent does with --webhook-ca %s",
		command, authority.CertificateFile(), authority.CertificateFile())
	return leaf, nil
}

// Options returns where a command receives.
func (o *Flags) Options(e cli.Env, command string) (webhook.Options, error) {
	certificate, err := o.Certificate(e, command, false)
	return webhook.Options{Address: o.Listen, Public: o.URL, Certificate: certificate}, err
}
