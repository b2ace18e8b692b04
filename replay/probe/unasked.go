package probe

import "slices"

// An Unasked is a requirement that no scenario asks for.
type Unasked struct {
	ID  string // of the requirement, as tags have it
	Why string
}

// Unaskeds returns the requirements that no scenario asks for, and why.
func Unaskeds() []Unasked {
	return slices.DeleteFunc(unaskeds(), func(u Unasked) bool {
		return slices.ContainsFunc(Scenarios(), func(s *Scenario) bool { return slices.Contains(s.Tags, u.ID) })
	})
}

func unaskeds() []Unasked {
	const grpc = "this program does not speak gRPC"
	return []Unasked{
		{"A41", "a tenant that the card declares goes with every request; what another one gets is not prescribed"},
		{"A43", "no webhook is opened; of those that are recorded the rule hook-attempted judges deliveries"},
		{"A44", "no address is tried that may be somebody's; the rule push-private-url-accepted judges those that pass"},
		{"A45", "no webhook is opened; of those that are recorded the rule hook-after-delete judges deliveries"},
		{"A50", "no keys are fetched; the rule card-signature-valid judges signatures by the keys that pass"},
		{"A51", "it is about a client that receives push notifications: record one"},
		{"A52", "it is about a client that meets an old agent: record one"},
		{"A53", "old versions of TLS are not offered"},
		{"A56", grpc},
		{"GRPC-SVC-001", grpc},
		{"GRPC-SVC-002", grpc},
		{"GRPC-SVC-003", grpc},
		{"GRPC-META-001", grpc},
		{"GRPC-ERR-001", grpc},
		{"GRPC-ERR-002", grpc},
		{"GRPC-ERR-003", grpc},
		{"AUTH-TLS-002", "versions of TLS are not looked at"},
		{"AUTH-SERVER-001", "it is about clients that verify certificates, which needs a server that has a bad one"},
		{"AUTH-INTASK-004", "whether a text holds credentials cannot be told"},
		{"CARD-CACHE-003", "Last-Modified is optional: an agent without it is right"},
		{"CARD-SIGN-004", "whether a key was revoked cannot be told without its issuer"},
	}
}
