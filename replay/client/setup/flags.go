// Package setup has the flags of all commands that speak to an agent as a client, and what they stand for: credentials,
// headers, tenant, protocol, variables. [Flags.Setup] reads them; the result connects, renders templates, and hides
// every secret that it was given in what is printed.
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

// OAuthFlags say how to get tokens.
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
	tokenURLHelp     = "get tokens at `URL` (default what the authorization server's metadata at the agent's URL says)"
	scopeHelp        = "ask for the `SCOPE`; repeatable"
)

// registerCredentials adds only the flags of credentials to a set, for [Flags.setupCredentials]. The text says with
// which requests they go.
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
	set.StringArrayVar(to, "credentials-to", nil, "send credentials also to scheme, host and port of `URL`, where the "+
		"card says that the agent is there (default only to those of the agent's URL); repeatable")
}

// checkCredentialsTo refuses what is no URL of an agent.
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
	f.registerCredentials(set, "with every request, that for the card included")
	set.StringArrayVar(&f.Headers, "header", nil, "send the header field `NAME:VALUE` with every request, that for "+
		"the card included; VALUE may be @FILE or env:NAME; repeatable")
	set.StringVar(&f.Tenant, "tenant", "", "speak for the tenant `NAME` (default what the card says)")
	set.StringVar(&f.A2AVersion, "protocol-version", "",
		"send `VERSION` as A2A-Version, and prefer what the card offers of it (default what the card says)")
	set.StringVar(&f.Protocol, "protocol", "",
		"use `PROTOCOL`: "+strings.Join(Protocols(), ", ")+" (default what the card prefers)")
	set.BoolVar(&f.NoCard, "no-card", false,
		"read no card: URL is that of the interface, of --protocol or else 1.0-rest")
	set.DurationVar(&f.Timeout, "timeout", 2*time.Minute, "give up after `D` without an answer to a request")
	set.StringArrayVar(&f.Vars, "var", nil,
		"in templates, headers, credentials and URL write VALUE for {{NAME}}: `NAME=VALUE`; repeatable; "+
			"{{env.NAME}} is that of the environment")
}
