package agents

import (
	"crypto/x509"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"a2atap/cmd/internal/cli"
	"a2atap/replay/client/auth"
	"a2atap/replay/refagent"
)

// agentAuth returns the credentials that --auth of an agent requires, of one user or of several; nil for none.
func agentAuth(e cli.Env, values []string) (*refagent.Credentials, error) {
	var all []refagent.Credentials
	for _, value := range values {
		c, err := userAuth(e, value)
		if err != nil {
			return nil, err
		}
		for i := range all {
			switch {
			case !all[i].SameKind(c):
				return nil, cli.Usage("--auth is given for %s and for %s; all users need the same kind of credentials", &all[i], c)
			case c.Verify == nil && all[i].User() == c.User():
				return nil, cli.Usage("--auth is given twice for the same user, or with the same secret")
			}
		}
		all = append(all, *c)
	}
	if len(all) == 0 {
		return nil, nil
	}
	all[0].Others = all[1:]
	return &all[0], nil
}

// userAuth parses the credentials of one user. The whole text, or only its secret, may come from a file or a variable.
func userAuth(e cli.Env, value string) (*refagent.Credentials, error) {
	resolve := func(text string) (string, error) { return e.Secret("--auth", text) }
	if strings.HasPrefix(value, "@") || strings.HasPrefix(value, "env:") {
		var err error
		if value, err = resolve(value); err != nil {
			return nil, err
		}
		resolve = func(text string) (string, error) { return text, nil }
	}
	kind, rest, _ := strings.Cut(value, ":")
	var c refagent.Credentials
	ok := true
	switch kind = strings.ToLower(kind); kind {
	case "bearer":
		c.Scheme = refagent.BearerAuth
	case "basic":
		c.Scheme = refagent.BasicAuth
	case "apikey":
		c.Scheme, c.Header = refagent.APIKeyAuth, auth.DefaultKeyName
	case "header":
		c.Scheme = refagent.APIKeyAuth
		c.Header, rest, _ = strings.Cut(rest, "=")
		ok = httpguts.ValidHeaderFieldName(c.Header)
	case "query":
		c.Scheme = refagent.APIKeyAuth
		c.Query, rest, _ = strings.Cut(rest, "=")
		ok = c.Query != ""
	case "oauth2":
		c.Scheme = refagent.OAuth2Auth
	case "jwt":
		if rest == "" {
			ok = false
			break
		}
		file, err := openKeyFile(strings.TrimPrefix(rest, "@"))
		c.Scheme, c.Verify = refagent.BearerAuth, func(token string, now time.Time) (string, error) {
			return verifyToken(file.current(), token, now)
		}
		return &c, err
	default:
		ok = false
	}
	paired := kind == "basic" || kind == "oauth2"
	user, password, named := strings.Cut(rest, ":")
	apart := paired && named && user != "env" && user != "" // only the password is a secret
	if ok && rest != "" {
		var err error
		if apart {
			password, err = resolve(password)
			rest = user + ":" + password
		} else {
			rest, err = resolve(rest)
		}
		if err != nil {
			return nil, err
		}
	}
	c.Secret = rest
	if !ok || rest == "" || paired && !strings.Contains(rest, ":") {
		return nil, cli.Usage("--auth: use bearer:TOKEN, basic:USER:PASSWORD, apikey:KEY, header:NAME=KEY, query:NAME=KEY, " +
			"oauth2:CLIENT:SECRET or jwt:FILE")
	}
	return &c, nil
}

// webhookRoots returns the authorities that an agent trusts at webhooks: the system's, and those in a PEM file. With an
// empty name it returns nil, for the system's only.
func webhookRoots(name string) (*x509.CertPool, error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--webhook-ca %s: %w", name, cli.Cause(err))
	}
	roots, err := x509.SystemCertPool()
	if err != nil { // a system without any
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(text) {
		return nil, cli.Usage("--webhook-ca %s: it contains no certificate; give a PEM file, which has lines "+
			"BEGIN CERTIFICATE and END CERTIFICATE", name)
	}
	return roots, nil
}
