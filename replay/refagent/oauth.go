package refagent

import (
	"net/http"

	"a2atap/replay/refagent/internal/cards"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/wire"
)

// An agent that requires OAuth 2.0 tokens issues them itself, to its one client.
const (
	tokenPath    = "/oauth/token"
	metadataPath = "/.well-known/oauth-authorization-server"
)

// credentials returns the required credentials, as seen at an address of its endpoint, or nil.
func (s *service) credentials(base string) *Credentials {
	if s.opts.Auth == nil {
		return nil
	}
	c := *s.opts.Auth
	c.TokenURL, c.Now = base+tokenPath, s.opts.Now
	return &c
}

// serveOAuth serves a request to the token server at a path below the agent's, and reports whether it did.
func (a *Agent) serveOAuth(w http.ResponseWriter, r *http.Request, path string) bool {
	c := a.credentials(a.base(r))
	if c == nil || c.Scheme != OAuth2Auth {
		return false
	}
	switch path {
	case metadataPath: // RFC 8414 §3.2
		wire.NewAnswer(http.StatusOK, "application/json", jsonvalue.Object{
			{"issuer", a.base(r)},
			{"token_endpoint", c.TokenURL},
			{"grant_types_supported", jsonvalue.Texts("client_credentials")},
			{"token_endpoint_auth_methods_supported", jsonvalue.Texts("client_secret_basic", "client_secret_post")},
		}).Write(w)
	case tokenPath:
		giveToken(w, r, c)
	default:
		return false
	}
	return true
}

// giveToken issues a token to a client that sends its secret (RFC 6749 §4.4, §5).
func giveToken(w http.ResponseWriter, r *http.Request, c *Credentials) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
	client, secret, basic := r.BasicAuth()
	if !basic {
		client, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	refuse := func(status int, code string) {
		wire.NewAnswer(status, "application/json", jsonvalue.Object{{"error", code}}).Write(w)
	}
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		refuse(http.StatusMethodNotAllowed, "invalid_request")
		return
	}
	token, ok := c.Give(client, secret)
	switch grant := r.PostFormValue("grant_type"); {
	case !ok:
		w.Header().Set("WWW-Authenticate", `Basic realm="tokens"`)
		refuse(http.StatusUnauthorized, "invalid_client")
	case grant == "":
		refuse(http.StatusBadRequest, "invalid_request")
	case grant != "client_credentials":
		refuse(http.StatusBadRequest, "unsupported_grant_type")
	default:
		wire.NewAnswer(http.StatusOK, "application/json", jsonvalue.Object{
			{"access_token", token},
			{"token_type", "Bearer"},
			{"expires_in", int(cards.TokenLife.Seconds())},
		}).Write(w)
	}
}
