package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
	"a2atap/replay/client/webhook"
)

// webhookFlags say where push notifications are received, and what the receiver proves itself by. The commands that
// have one share them.
type webhookFlags struct {
	listen, url string
	remote      bool
	tls         bool
	cert, key   string // files
}

// register adds the flags. Their help begins with when they matter, and ends that of --webhook-tls with what else is on
// https.
func (o *webhookFlags) register(f *pflag.FlagSet, when, tlsToo string) {
	f.StringVar(&o.listen, "webhook-listen", "127.0.0.1:0", when+"receive on `ADDR`; port 0 is a free one")
	f.StringVar(&o.url, "webhook-url", "", when+"the agent reaches the receiver beneath `URL` (default where it listens)")
	f.BoolVar(&o.remote, "allow-remote", false, when+"allow a listening address that other machines can reach")
	f.BoolVar(&o.tls, "webhook-tls", false, when+"receive on https, with a certificate of the authority that ca path "+
		"prints, which the agent has to trust"+tlsToo)
	f.StringVar(&o.cert, "webhook-cert", "", when+"receive on https with the certificate in `FILE` (PEM, with those "+
		"between it and its authority)")
	f.StringVar(&o.key, "webhook-key", "", "with --webhook-cert: its private key is in `FILE` (PEM)")
}

// secured reports whether one of the flags is there that receive on https.
func (o *webhookFlags) secured() bool { return o.tls || o.cert != "" || o.key != "" }

func (o *webhookFlags) check() error {
	switch {
	case (o.cert == "") != (o.key == ""):
		return cli.Usage("--webhook-cert and --webhook-key belong together")
	case o.tls && o.cert != "":
		return cli.Usage("--webhook-tls makes a certificate, and --webhook-cert brings one; use one")
	}
	if o.secured() && strings.HasPrefix(o.url, "http://") {
		return cli.Usage("--webhook-url %s: with a certificate it must begin with https://", o.url)
	}
	u, err := url.Parse(o.url)
	if o.url != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return cli.Usage("--webhook-url %q: it must begin with http:// or https://", o.url)
	}
	if err := cli.LocalOnly(o.listen, o.remote); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(o.listen)
	if ip := net.ParseIP(host); err == nil && o.url == "" && (host == "" || ip != nil && ip.IsUnspecified()) {
		return cli.Usage("--webhook-listen %s is no address that an agent can be given; say how it reaches the receiver with "+
			"--webhook-url", o.listen)
	}
	return nil
}

// certificate returns what the receiver proves itself by, and says what the agent has to trust; nil without TLS. If it
// must have one, it is made where none is given.
func (o *webhookFlags) certificate(e cli.Env, command string, must bool) (*tls.Certificate, error) {
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
	authority, err := openAuthority(e)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(o.listen)
	if u, urlErr := url.Parse(o.url); urlErr == nil && u.Hostname() != "" {
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

// options returns where a command receives.
func (o *webhookFlags) options(e cli.Env, command string) (webhook.Options, error) {
	certificate, err := o.certificate(e, command, false)
	return webhook.Options{Address: o.listen, Public: o.url, Certificate: certificate}, err
}
