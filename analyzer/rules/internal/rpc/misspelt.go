package rpc

import (
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/spelling"
)

// checkMisspelt checks a method that the agent does not know, if nothing else is known about the agent. A name close to
// an A2A method counts as misspelled, whatever a card may declare.
func checkMisspelt(p *analysis.Pass) {
	call := &p.Exchange.Call
	if call.Operation != a2a.NoOperation || len(call.Batch) > 0 || !isRequest(call.Doc.Root, p.Dialects) ||
		p.Answer.Err == nil || p.Answer.Err.Name != a2a.MethodNotFound || !mayExtend(p) {
		return
	}
	if meant := misspelt(call.Method); meant != "" {
		p.Applied()
		p.Report(p.Exchange.RequestPlace().Body().At("/method"),
			"method is "+analysis.QuoteText(call.Method)+", which the agent does not have", "expected "+analysis.QuoteText(meant))
	}
}

// maxSlips is how many letters may be missing, extra or wrong in a misspelled name.
const maxSlips = 2

// misspelt returns the method of A2A that a name comes close to, or "".
func misspelt(name string) string {
	best, meant := maxSlips+1, ""
	for o := a2a.SendMessage; o <= a2a.GetExtendedCard; o++ {
		for _, d := range [...]a2a.Dialect{a2a.V0_1, a2a.V0_2, a2a.V0_3, a2a.V1_0} {
			method := o.MethodName(d)
			if method == "" {
				continue
			}
			if n := spelling.Distance(strings.ToLower(name), strings.ToLower(method)); n < best {
				best, meant = n, method
			}
		}
	}
	return meant
}
