package scenarios

import (
	"slices"

	"a2atap/replay/probe"
)

// An Unasked is a requirement that no scenario tests.
type Unasked struct {
	ID  string // of the requirement, as tags have it
	Why string
}

// Unaskeds returns the requirements that no scenario tests, with the reasons.
func Unaskeds() []Unasked {
	return slices.DeleteFunc(unaskeds(), func(u Unasked) bool {
		return slices.ContainsFunc(All(), func(s *probe.Scenario) bool { return slices.Contains(s.Tags, u.ID) })
	})
}

func unaskeds() []Unasked {
	return []Unasked{
		{"A43", "no webhook is opened; the rule hook-attempted checks deliveries in recordings"},
		{"A45", "no webhook is opened; the rule hook-after-delete checks deliveries in recordings"},
		{"A51", "it is about a client that receives push notifications: record one"},
		{"A52", "it is about a client that meets an old agent: record one"},
		{"A53", "a2atap offers only TLS 1.2 and later; a TLS scanner shows what else the agent accepts"},
		{"GRPC-SVC-003", "the address in the card and the connection show whether gRPC uses TLS"},
		{"AUTH-TLS-002", "a2atap offers only TLS 1.2 and later; a TLS scanner shows what else the agent accepts"},
		{"AUTH-SERVER-001", "it is about clients that verify certificates, which needs a server with an invalid one"},
		{"AUTH-INTASK-004", "it is impossible to tell whether a text contains credentials"},
		{"CARD-CACHE-003", "Last-Modified is optional: an agent without it is correct"},
		{"CARD-SIGN-004", "only a key's issuer knows whether it was revoked"},
	}
}
