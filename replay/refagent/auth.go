package refagent

import (
	"net/http"
)

// refuseStranger answers a request that is for no operation and lacks the credentials, and reports whether it did.
func (a *Agent) refuseStranger(w http.ResponseWriter, r *http.Request) bool {
	f := a.authenticate(r)
	if f == nil {
		return false
	}
	if a.profile.dialect == nil {
		a.failREST(w, &call{binding: httpJSON, dialect: a.profile.rest.dialect, mediaType: "application/json"}, f)
	} else {
		a.failRPC(w, &call{binding: jsonRPC, dialect: a.profile.dialect, mediaType: "application/json"}, f)
	}
	return true
}

// authenticate refuses a request without the credentials that the agent asks for. The public card needs none
// (A2A 1.0 §8.2), nor does OPTIONS.
func (a *Agent) authenticate(r *http.Request) *failure {
	c := a.opts.Auth
	if c == nil || c.brought(r) {
		return nil
	}
	challenge := "Bearer"
	switch c.Scheme {
	case BasicAuth:
		challenge = "Basic"
	case APIKeyAuth:
		challenge = "ApiKey"
	}
	return &failure{
		code: codeUnauthenticated, message: "Unauthorized", http: http.StatusUnauthorized,
		challenge: challenge + ` realm="` + a.profile.name + `"`,
	}
}

// declareAuth returns a card that says which credentials the agent asks for.
func (a *Agent) declareAuth(card object) object {
	if a.opts.Auth == nil {
		return card
	}
	return a.profile.declare(card, a.opts.Auth)
}
