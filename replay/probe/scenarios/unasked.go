package scenarios

import (
	"slices"

	"a2atap/replay/probe"
)

// An Unasked is a requirement that no scenario asks for.
type Unasked struct {
	ID  string // of the requirement, as tags have it
	Why string
}

// Unaskeds returns the requirements that no scenario asks for, and why.
func Unaskeds() []Unasked {
	return slices.DeleteFunc(unaskeds(), func(u Unasked) bool {
		return slices.ContainsFunc(All(), func(s *probe.Scenario) bool { return slices.Contains(s.Tags, u.ID) })
	})
}

func unaskeds() []Unasked {
	return []Unasked{
		{"A43", "no webhook is opened; of those that are recorded the rule hook-attempted judges deliveries"},
		{"A45", "no webhook is opened; of those that are recorded the rule hook-after-delete judges deliveries"},
		{"A51", "it is about a client that receives push notifications: record one"},
		{"A52", "it is about a client that meets an old agent: record one"},
		{"A53", "this program offers TLS 1.2 and later only; a scanner of TLS tells what else is taken"},
		{"GRPC-SVC-003", "whether gRPC has TLS is said by the address in the card, and shown by the connection there"},
		{"AUTH-TLS-002", "this program offers TLS 1.2 and later only; a scanner of TLS tells what else is taken"},
		{"AUTH-SERVER-001", "it is about clients that verify certificates, which needs a server that has a bad one"},
		{"AUTH-INTASK-004", "whether a text holds credentials cannot be told"},
		{"CARD-CACHE-003", "Last-Modified is optional: an agent without it is right"},
		{"CARD-SIGN-004", "whether a key was revoked cannot be told without its issuer"},
	}
}
