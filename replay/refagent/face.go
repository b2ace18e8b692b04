package refagent

import (
	"a2atap/replay/refagent/internal/cards"
	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/fault"
)

// An AgentFault is a named way to break one rule of the protocol, and as far as possible only that one.
type AgentFault = fault.AgentFault

// Faults returns the faults that the named agent can have, in the order of the rule catalogue; none if there is no
// such agent.
func Faults(name string) []AgentFault { return fault.Faults(name) }

// Credentials are the credentials that an agent requires of its clients.
type Credentials = cards.Credentials

// An AuthScheme is a way to send credentials.
type AuthScheme = cards.AuthScheme

// The schemes that agents can ask for.
const (
	BearerAuth = cards.BearerAuth
	BasicAuth  = cards.BasicAuth
	APIKeyAuth = cards.APIKeyAuth
	OAuth2Auth = cards.OAuth2Auth
)

// A CardError is the reason why an agent cannot serve a card. New returns it.
type CardError = cards.CardError

// A Store keeps what agents have to remember when they end.
type Store = engine.Store

// A StoreError is the reason why a store's contents cannot be used. New returns it.
type StoreError = engine.StoreError
