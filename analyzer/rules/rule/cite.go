package rule

import (
	"a2atap/analyzer"
	"a2atap/proxy/a2a"
)

// Cite names one section for each of several dialects.
func Cite(section string, in ...a2a.Dialect) []a2a.Cite {
	cites := make([]a2a.Cite, 0, len(in))
	for _, d := range in {
		cites = append(cites, a2a.Cite{In: d, Section: section})
	}
	return cites
}

// Dialects that many rules cite together. Nobody may change them.
var (
	Every   = []a2a.Dialect{a2a.V0_1, a2a.V0_2, a2a.V0_3, a2a.V1_0} // all that there are
	Before1 = []a2a.Dialect{a2a.V0_1, a2a.V0_2, a2a.V0_3}           // all before 1.0
)

// Bindings in which many rules hold.
const (
	OnRPC  = analyzer.OnJSONRPC                                         // calls over JSON-RPC
	OnREST = analyzer.OnHTTPJSON                                        // calls over HTTP+JSON
	OnCall = analyzer.OnJSONRPC | analyzer.OnHTTPJSON                   // calls over either
	OnAll  = analyzer.OnHTTP | analyzer.OnJSONRPC | analyzer.OnHTTPJSON // calls, cards and notifications
)
