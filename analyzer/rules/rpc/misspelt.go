package rpc

import (
	"strings"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
)

// checkMisspelt judges a method that the agent says it does not have, where nothing is known of the agent but that: a
// name that is but a slip away from one of A2A is that one misspelt, whatever a card may declare.
func checkMisspelt(p *analyzer.Pass) {
	call := &p.Exchange.Call
	if call.Operation != a2a.NoOperation || len(call.Batch) > 0 || !isRequest(call.Doc.Root, p.Dialects) ||
		p.Answer.Err == nil || p.Answer.Err.Name != a2a.MethodNotFound || !mayExtend(p) {
		return
	}
	if meant := misspelt(call.Method); meant != "" {
		p.Applied()
		p.Report(p.Exchange.RequestPlace().Body().At("/method"),
			"method is "+analyzer.QuoteText(call.Method)+", which the agent does not have", "expected "+analyzer.QuoteText(meant))
	}
}

// maxSlips is how many letters may be missing, too many or others in a name that is taken for another one.
const maxSlips = 2

// misspelt returns the method of A2A that a name comes close to, or "".
func misspelt(name string) string {
	best, meant := maxSlips+1, ""
	for o := a2a.SendMessage; o <= a2a.GetExtendedCard; o++ {
		for _, d := range [...]a2a.Dialect{a2a.V0_1, a2a.V0_2, a2a.V0_3, a2a.V1_0} {
			method := o.MethodName(d)
			if n := slips(strings.ToLower(name), strings.ToLower(method)); method != "" && n < best {
				best, meant = n, method
			}
		}
	}
	return meant
}

// slips returns how many letters have to be changed, added or taken away to make one word of another; more than
// maxSlips if it is clear from their lengths.
//
// Source: V. Levenshtein, Binary codes capable of correcting deletions, insertions, and reversals, 1966.
func slips(a, b string) int {
	if d := len(a) - len(b); d > maxSlips || d < -maxSlips {
		return maxSlips + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}
