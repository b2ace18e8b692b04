package rules

import "a2atap/analyzer/analysis"

const needsTLS = "needs the TLS layer"

// Unobserved lists the requirements of the catalog that have no rule: a tap sees HTTP, not the layers below it.
var Unobserved = []analysis.Unobserved{
	{ID: "transport-tls-old", Title: "SSL 3.0, TLS 1.0 or TLS 1.1", Level: analysis.Should, Reason: needsTLS},
	{ID: "transport-tls13", Title: "TLS older than 1.3", Level: analysis.Should, Reason: needsTLS},
}

// UnobservedByID returns the requirement with that id that no rule checks, and whether there is one.
func UnobservedByID(id string) (analysis.Unobserved, bool) {
	for _, u := range Unobserved {
		if u.ID == id {
			return u, true
		}
	}
	return analysis.Unobserved{}, false
}
