package cli

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"a2atap/proxy/fleet"
	"a2atap/proxy/outbound"
)

// NATSFlags are the flags of commands that connect to a NATS server: credentials and trusted authorities. Environment
// variables are the defaults.
type NATSFlags struct {
	creds string
	user  string
	token string
	ca    string
	cert  string
	key   string
}

// These environment variables replace the flags, so that readers and sidecars need none.
const (
	natsCreds = "A2ATAP_NATS_CREDS"
	natsUser  = "A2ATAP_NATS_USER"
	natsToken = "A2ATAP_NATS_TOKEN"
	natsCA    = "A2ATAP_NATS_CA"
	natsCert  = "A2ATAP_NATS_CERT"
	natsKey   = "A2ATAP_NATS_KEY"
)

// NATSHelp is the part of the help about authentication at a NATS server.
const NATSHelp = `One of --nats-creds, --nats-user and --nats-token, or the user information in the URL, logs in to the
NATS server. tls:// requires TLS; the server is verified with the system's authorities and those of --nats-ca. Each flag
can be replaced by an environment variable: ` + natsCreds + ` for
--nats-creds, and so on.`

// Register adds the flags to a command.
func (o *NATSFlags) Register(f *pflag.FlagSet) {
	f.StringVar(&o.creds, "nats-creds", "", "log in to the NATS server with the credentials in `FILE`, as nsc writes them")
	f.StringVar(&o.user, "nats-user", "", "log in to the NATS server as `USER:PASS`; "+SecretHelp)
	f.StringVar(&o.token, "nats-token", "", "log in to the NATS server with `TOKEN`; "+SecretHelp)
	f.StringVar(&o.ca, "nats-ca", "", "trust the authorities in `FILE` (PEM) in addition to the system's, for NATS on TLS")
	f.StringVar(&o.cert, "nats-cert", "", "present the certificate in `FILE` (PEM) to the NATS server")
	f.StringVar(&o.key, "nats-key", "", "the key of --nats-cert is in `FILE` (PEM)")
}

// Options returns the connection options for an address. Its errors are usage errors and contain no secrets.
func (o *NATSFlags) Options(e Env, a fleet.Address) (fleet.Options, error) {
	var c fleet.Options
	f := *o
	fill := func(value *string, name string) {
		*value = cmp.Or(*value, e.Getenv(name))
	}
	if f.creds == "" && f.user == "" && f.token == "" && !a.HasCredentials() { // flags replace the whole environment
		fill(&f.creds, natsCreds)
		fill(&f.user, natsUser)
		fill(&f.token, natsToken)
	}
	if f.cert == "" && f.key == "" {
		fill(&f.cert, natsCert)
		fill(&f.key, natsKey)
	}
	fill(&f.ca, natsCA)
	kinds := 0
	for _, is := range []bool{f.creds != "", f.user != "", f.token != "", a.HasCredentials()} {
		if is {
			kinds++
		}
	}
	if kinds > 1 {
		return c, Usage("%s: several kinds of credentials are given; choose one of --nats-creds, --nats-user, --nats-token "+
			"and the URL's user information", a)
	}
	if f.creds != "" {
		if err := readable(f.creds); err != nil {
			return c, Usage("--nats-creds: %w", err)
		}
		c.CredentialsFile = f.creds
	}
	if f.user != "" {
		text, err := e.Secret("--nats-user", f.user)
		if err != nil {
			return c, AsUsage(err)
		}
		var both bool
		if c.User, c.Password, both = strings.Cut(text, ":"); !both || c.User == "" {
			return c, Usage("--nats-user: write USER:PASS")
		}
	}
	var err error
	if f.token != "" {
		if c.Token, err = e.Secret("--nats-token", f.token); err != nil {
			return c, AsUsage(err)
		}
	}
	if f.ca != "" {
		if c.Roots, err = outbound.ReadRoots(f.ca); err != nil {
			return c, Usage("--nats-ca: %w", err)
		}
	}
	switch {
	case f.cert != "":
		if c.Certificate, err = outbound.ReadCertificate(f.cert, f.key, e.Now()); err != nil {
			return c, Usage("--nats-cert: %w", err)
		}
	case f.key != "":
		return c, Usage("--nats-key needs --nats-cert FILE")
	}
	return c, nil
}

// readable reports why a file cannot be read.
func readable(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Read(make([]byte, 1)); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}
