package rules

import "a2atap/analyzer"

const (
	needsGRPC = "needs gRPC"
	needsTLS  = "needs the TLS layer"
)

// Unobserved lists the rows of the catalogue that have no rule: a tap sees HTTP, not what is below it, and no protocol
// buffers.
var Unobserved = []analyzer.Unobserved{
	{ID: "transport-tls-old", Title: "SSL 3.0, TLS 1.0 or TLS 1.1", Level: analyzer.Should, Reason: needsTLS},
	{ID: "transport-tls13", Title: "TLS older than 1.3", Level: analyzer.Should, Reason: needsTLS},
	{
		ID: "grpc-service-path", Title: "gRPC service of another version than the interface", Level: analyzer.Must,
		Reason: needsGRPC,
	},
	{ID: "grpc-status-map", Title: "gRPC status does not fit the A2A error", Level: analyzer.Must, Reason: needsGRPC},
	{ID: "grpc-errorinfo", Title: "A2A error over gRPC without ErrorInfo", Level: analyzer.Must, Reason: needsGRPC},
	{
		ID: "grpc-metadata-version", Title: "gRPC call without the a2a-version metadata", Level: analyzer.Must,
		Reason: needsGRPC,
	},
}

// UnobservedByID returns the requirement of that id that no rule judges, and whether there is one.
func UnobservedByID(id string) (analyzer.Unobserved, bool) {
	for _, u := range Unobserved {
		if u.ID == id {
			return u, true
		}
	}
	return analyzer.Unobserved{}, false
}
