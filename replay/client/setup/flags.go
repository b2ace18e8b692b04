// Package setup has the flags of all commands that act as clients of an agent: credentials, headers, tenant, protocol,
// variables. [Flags.Setup] reads them; the result connects, renders templates, and masks every given secret in output.
package setup

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"a2atap/replay/client"
	"a2atap/replay/limits"
)

// Flags are the flags of a client.
type Flags struct {
	Auth       string
	To         []string // of --credentials-to
	OAuth      OAuthFlags
	Headers    []string
	Tenant     string
	A2AVersion string
	Protocol   string
	NoCard     bool
	Timeout    time.Duration
	Vars       []string
	Limits     limits.Limits // see cmd/internal/cli.RegisterLimits

	// Verbatim keeps {{NAME}} in the URL as it is, for a URL that came from traffic and not from the user: expanding it
	// would let recorded traffic read the environment.
	Verbatim bool
}

// OAuthFlags configure how to get tokens.
type OAuthFlags struct {
	TokenURL, ClientID, ClientSecret, User, Password string
	Scopes                                           []string
}

func (o OAuthFlags) given() bool {
	return o.TokenURL+o.ClientID+o.ClientSecret+o.User+o.Password != "" || len(o.Scopes) > 0
}

// protocols are the words of --protocol.
var protocols = []struct {
	word     string
	protocol client.Protocol
	proto    bool // the proto JSON of 0.3
}{
	{"1.0-jsonrpc", client.JSONRPC10, false},
	{"1.0-rest", client.REST10, false},
	{"1.0-grpc", client.GRPC10, false},
	{"0.3-jsonrpc", client.JSONRPC03, false},
	{"0.3-rest", client.REST03, false},
	{"0.3-rest-proto", client.REST03, true},
	{"0.3-grpc", client.GRPC03, false},
	{"0.1-jsonrpc", client.JSONRPC01, false},
	{"legacy", client.Early, false},
}

// Protocols returns the words of --protocol.
func Protocols() []string {
	words := make([]string, 0, len(protocols))
	for _, p := range protocols {
		words = append(words, p.word)
	}
	return words
}

const secretHelp = "@FILE or env:NAME to keep it out of the list of processes"

// How credentials are written.
const (
	authHelp = "bearer:TOKEN, basic:USER:PASSWORD, apikey:KEY (as X-API-Key), header:NAME=VALUE or query:NAME=VALUE; " +
		secretHelp + ", as a whole or only TOKEN, PASSWORD, KEY and VALUE"
	clientIDHelp     = "get tokens by OAuth, as the client `ID`"
	clientSecretHelp = "the `SECRET` of the client; @FILE or env:NAME"
	userHelp         = "get tokens with the password of the user `NAME`"
	passwordHelp     = "the `PASSWORD` of the user; @FILE or env:NAME"
	tokenURLHelp     = "get tokens at `URL` (default: from the authorization server's metadata at the agent's URL)"
	scopeHelp        = "request the `SCOPE`; repeatable"
)

// registerCredentials adds only the flags of credentials to a set, for [Flags.setupCredentials]. The text names the
// requests that they apply to.
func (f *Flags) registerCredentials(set *pflag.FlagSet, with string) {
	set.StringVar(&f.Auth, "auth", "", "send `CREDENTIALS` "+with+": "+authHelp)
	registerCredentialsTo(set, &f.To)
	set.StringVar(&f.OAuth.ClientID, "oauth-client-id", "", clientIDHelp)
	set.StringVar(&f.OAuth.ClientSecret, "oauth-client-secret", "", clientSecretHelp)
	set.StringVar(&f.OAuth.User, "oauth-user", "", userHelp)
	set.StringVar(&f.OAuth.Password, "oauth-password", "", passwordHelp)
	set.StringVar(&f.OAuth.TokenURL, "oauth-token-url", "", tokenURLHelp)
	set.StringArrayVar(&f.OAuth.Scopes, "oauth-scope", nil, scopeHelp)
}

// registerCredentialsTo adds the flag --credentials-to to a set.
func registerCredentialsTo(set *pflag.FlagSet, to *[]string) {
	set.StringArrayVar(to, "credentials-to", nil, "also send credentials to scheme, host and port of `URL`, where the "+
		"card has an interface of the agent (default: only to those of the agent's URL); repeatable")
}

// checkCredentialsTo rejects invalid agent URLs.
func checkCredentialsTo(to []string) error {
	for _, text := range to {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
			return errors.New("--credentials-to: write a URL such as https://agent.example:8443")
		}
	}
	return nil
}

// Register adds the flags to a set.
func (f *Flags) Register(set *pflag.FlagSet) {
	f.registerCredentials(set, "with every request, including the one for the card")
	set.StringArrayVar(&f.Headers, "header", nil, "send the header field `NAME:VALUE` with every request, including the one for "+
		"the card; VALUE may be @FILE or env:NAME; repeatable")
	set.StringVar(&f.Tenant, "tenant", "", "use the tenant `NAME` (default: from the card)")
	set.StringVar(&f.A2AVersion, "protocol-version", "",
		"send `VERSION` as A2A-Version, and prefer the card's interfaces of that version (default: from the card)")
	set.StringVar(&f.Protocol, "protocol", "",
		"use `PROTOCOL`: "+strings.Join(Protocols(), ", ")+" (default: the card's first choice)")
	set.BoolVar(&f.NoCard, "no-card", false,
		"do not read the card: URL is an interface of the --protocol, 1.0-rest by default")
	set.DurationVar(&f.Timeout, "timeout", 2*time.Minute, "give up if a request gets no answer within `D`")
	set.StringArrayVar(&f.Vars, "var", nil,
		"in templates, headers, credentials and URL, replace {{NAME}} by VALUE: `NAME=VALUE`; repeatable; "+
			"{{env.NAME}} is an environment variable")
}
