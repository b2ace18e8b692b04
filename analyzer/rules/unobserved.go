package rules

import "a2atap/analyzer"

const needsTLS = "needs the TLS layer"

// Unobserved lists the rows of the catalogue that have no rule: a tap sees HTTP, not what is below it.
var Unobserved = []analyzer.Unobserved{
	{ID: "transport-tls-old", Title: "SSL 3.0, TLS 1.0 or TLS 1.1", Level: analyzer.Should, Reason: needsTLS},
	{ID: "transport-tls13", Title: "TLS older than 1.3", Level: analyzer.Should, Reason: needsTLS},
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
