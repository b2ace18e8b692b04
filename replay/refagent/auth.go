package refagent

import (
	"net/http"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// refuseStranger answers a request that is for no operation and lacks the credentials, and reports whether it did.
func (a *Agent) refuseStranger(w http.ResponseWriter, r *http.Request) bool {
	f := a.authenticate(r)
	if f == nil {
		return false
	}
	if a.profile.dialect == nil {
		a.failREST(w, &wire.Call{Binding: wire.HTTPJSON, Dialect: a.profile.rest.dialect, MediaType: "application/json"}, f)
	} else {
		a.failRPC(w, &wire.Call{Binding: wire.JSONRPC, Dialect: a.profile.dialect, MediaType: "application/json"}, f)
	}
	return true
}

// authenticate refuses a request without the credentials that the agent asks for. The public card needs none
// (A2A 1.0 §8.2), nor does OPTIONS.
func (a *Agent) authenticate(r *http.Request) *model.Failure {
	c := a.opts.Auth
	if c == nil || c.Brought(r) {
		return nil
	}
	challenge := "Bearer"
	switch c.Scheme {
	case BasicAuth:
		challenge = "Basic"
	case APIKeyAuth:
		challenge = "ApiKey"
	}
	return &model.Failure{
		Code: model.CodeUnauthenticated, Message: "Unauthorized", HTTP: http.StatusUnauthorized,
		Challenge: challenge + ` realm="` + a.profile.name + `"`,
	}
}

// declareAuth returns a card that says which credentials the agent asks for.
func (s *service) declareAuth(card jsonvalue.Object) jsonvalue.Object {
	if s.opts.Auth == nil {
		return card
	}
	return s.profile.declare(card, s.opts.Auth)
}
