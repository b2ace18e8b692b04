// Package receiver has the flags of commands that receive push notifications instead of a webhook: the address to
// listen on, the URL for agents, and the certificate.
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

// Flags configure where to receive push notifications, and the receiver's certificate. All commands with a receiver
// share them.
type Flags struct {
	Listen, URL string
	remote      bool
	tls         bool
	cert, key   string // files
}

// Register adds the flags. when begins their help, and the help of --webhook-tls ends with a note about other cases of
// https.
func (o *Flags) Register(f *pflag.FlagSet, when, tlsToo string) {
	f.StringVar(&o.Listen, "webhook-listen", "127.0.0.1:0", when+"receive on `ADDR`; port 0 is any free port")
	f.StringVar(&o.URL, "webhook-url", "", when+"the agent reaches the receiver at `URL` (default its listening address)")
	f.BoolVar(&o.remote, "allow-remote", false, when+"allow a listening address that other machines can reach")
	f.BoolVar(&o.tls, "webhook-tls", false, when+"receive on https, with a certificate of the authority from ca path, "+
		"which the agent has to trust"+tlsToo)
	f.StringVar(&o.cert, "webhook-cert", "", when+"receive on https with the certificate in `FILE` (PEM, including "+
		"intermediate certificates)")
	f.StringVar(&o.key, "webhook-key", "", "with --webhook-cert: its private key is in `FILE` (PEM)")
}

// Secured reports whether a flag for HTTPS is set.
func (o *Flags) Secured() bool { return o.tls || o.cert != "" || o.key != "" }

// Check rejects invalid combinations of flags.
func (o *Flags) Check() error {
	switch {
	case (o.cert == "") != (o.key == ""):
		return cli.Usage("--webhook-cert and --webhook-key belong together")
	case o.tls && o.cert != "":
		return cli.Usage("--webhook-tls creates a certificate, and --webhook-cert provides one; use one of them")
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
		return cli.Usage("--webhook-listen %s is not an address that an agent can reach; set one with "+
			"--webhook-url", o.Listen)
	}
	return nil
}

// Certificate returns the receiver's certificate, and prints what the agent must trust; nil without TLS. If a
// certificate is required but not given, Certificate creates one.
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

// Options returns the options of the receiver.
func (o *Flags) Options(e cli.Env, command string) (webhook.Options, error) {
	certificate, err := o.Certificate(e, command, false)
	return webhook.Options{Address: o.Listen, Public: o.URL, Certificate: certificate}, err
}
