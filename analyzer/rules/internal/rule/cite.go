package rule

import (
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// Citations are the sections on which a rule is based.
type Citations []a2a.Cite

// Cite names one section for each of several dialects.
func Cite(section string, in ...a2a.Dialect) Citations { return Citations(nil).And(section, in...) }

// And returns the citations plus one section for each of several dialects.
func (c Citations) And(section string, in ...a2a.Dialect) Citations {
	cites := slices.Clone(c)
	for _, d := range in {
		cites = append(cites, a2a.Cite{In: d, Section: section})
	}
	return cites
}

// Dialects that many rules cite together. They must not be changed.
var (
	Every   = []a2a.Dialect{a2a.V0_1, a2a.V0_2, a2a.V0_3, a2a.V1_0} // all of them
	Before1 = []a2a.Dialect{a2a.V0_1, a2a.V0_2, a2a.V0_3}           // all before 1.0
)

// Bindings in which many rules hold.
const (
	OnRPC      = analysis.OnJSONRPC           // calls over JSON-RPC
	OnREST     = analysis.OnHTTPJSON          // calls over HTTP+JSON
	OnGRPC     = analysis.OnGRPC              // calls over gRPC
	OnJSONCall = OnRPC | OnREST               // calls over either that has JSON
	OnJSON     = analysis.OnHTTP | OnJSONCall // calls, cards and notifications that are JSON
	OnCall     = OnJSONCall | OnGRPC          // calls over any binding
	OnAll      = analysis.OnHTTP | OnCall     // calls, cards and notifications
)
