package dispatch

import (
	"cmp"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/address"
	"a2atap/analyzer/internal/digest"
	"a2atap/analyzer/internal/recent"
	"a2atap/proxy/a2a"
)

// A merger merges findings with one cause: findings that others cover, findings of one mistake, findings that a rule
// reports once in its scope, and findings in a card that is fetched repeatedly.
type merger struct {
	rules   []*analysis.Rule
	covers  map[string][]string // rule id → ids that it covers, directly or indirectly; created on first use
	origins *recent.Map[string, *Reported]
	causes  *recent.Map[causeAt, *Reported]
	clients *recent.Map[clientAt, *Reported] // forgotten ones are reported again
	cards   refetched
}

// maxScopes bounds the origins, the clients of endpoints, and the causes whose reports are remembered.
const maxScopes = 10_000

func newMerger(rules []*analysis.Rule) merger {
	return merger{
		rules: rules, cards: newRefetched(),
		origins: recent.New[string, *Reported](maxScopes), causes: recent.New[causeAt, *Reported](maxScopes),
		clients: recent.New[clientAt, *Reported](maxScopes),
	}
}

// merge merges the findings of one step in place. A finding that is covered at its place is added to the covering
// finding's Also, which then has at least its severity. open returns the case of an open exchange, or nil.
func (m *merger) merge(found []analysis.Finding, open func(seq uint64) *Case) []analysis.Finding {
	if m.covers == nil && len(found) > 1 {
		m.covers = analysis.Covered(m.rules)
	}
	covered := make([]bool, len(found))
	var taken []cover
	for i := range found {
		f := &found[i]
		if len(m.covers[f.Rule.ID]) == 0 {
			continue
		}
		for j := range found {
			if g := &found[j]; i != j && slices.Contains(m.covers[f.Rule.ID], g.Rule.ID) && f.Place.Covers(g.Place) {
				covered[j] = true
				take(f, g)
				taken = append(taken, cover{i, g.Rule.ID, g.Severity})
			}
		}
	}
	takeCauses(found, covered)
	kept := found[:0]
	for i := range covered {
		f := found[i]
		c := open(f.Place.Exchange)
		if covered[i] || m.cards.again(c, &f) || !m.first(c, &f, i, taken) {
			continue
		}
		kept = append(kept, f)
	}
	return kept
}

// takeCauses merges the findings of each cause into the first of the worst of them.
func takeCauses(found []analysis.Finding, covered []bool) {
	for i := range found {
		f := &found[i]
		if f.Cause == "" || covered[i] {
			continue
		}
		for j := range found {
			g := &found[j]
			if i == j || covered[j] || g.Cause != f.Cause || g.Side != f.Side || g.Link != f.Link ||
				g.Severity > f.Severity || g.Severity == f.Severity && j < i {
				continue
			}
			covered[j] = true
			if g.Rule != f.Rule {
				take(f, g)
			}
		}
	}
}

// A cover is a finding that another finding of the step covers.
type cover struct {
	by       int // index of the covering finding
	rule     string
	severity analysis.Severity
}

// take merges a finding into the one that covers it.
func take(f, g *analysis.Finding) {
	if !slices.Contains(f.Also, g.Rule.ID) {
		f.Also = append(f.Also, g.Rule.ID)
	}
	if g.Severity > f.Severity {
		f.Severity, f.Weight = g.Severity, g.Rule
		if g.Weight != nil {
			f.Weight = g.Weight
		}
	}
}

// first reports whether finding i of the step is the first of its rule and severity in the rule's scope. It also counts
// as the report of the rules that it covers.
func (m *merger) first(c *Case, f *analysis.Finding, i int, taken []cover) bool {
	if c != nil && f.Cause != "" && f.Rule.Once != analysis.PerCause &&
		!m.reportedAt(c, f).addWorse("cause "+string(f.Cause)+" "+f.Side.String(), f.Severity) {
		return false
	}
	if c == nil || f.Rule.Once == analysis.Always {
		return true
	}
	had, within := &c.reported, ""
	switch f.Rule.Once {
	case analysis.PerEndpoint:
		had = m.reportedAt(c, f)
		within = " " + family(cmp.Or(f.Within, c.X.Call.Dialects)).String()
	case analysis.PerOrigin:
		had = reportedIn(m.origins, address.Origin(c.X.Address))
	case analysis.PerCause:
		had = reportedIn(m.causes, causeAt{address.Origin(c.X.Address), f.Link.Client, cmp.Or(f.Cause, analysis.Cause(analysis.WithoutNumbers(f.Seen)))})
	}
	own := f.Rule.ID + within
	if f.Rule.Either {
		own += " " + f.Side.String()
	}
	if !had.add(own, f.Severity) {
		return false
	}
	for _, t := range taken {
		if t.by == i {
			had.add(t.rule+within, t.severity)
			had.add(t.rule+within+" "+f.Side.String(), t.severity)
		}
	}
	return true
}

// family returns a set with both 0.2 and 0.3 if it has one of them: they have the same wire format, so a client may be
// taken for either.
func family(in a2a.Dialects) a2a.Dialects {
	if kinds := a2a.Of(a2a.V0_2, a2a.V0_3); !in.Intersect(kinds).Empty() {
		return kinds
	}
	return in
}

// A causeAt is the cause of findings that a client met at an origin.
type causeAt struct {
	origin, client string
	cause          analysis.Cause
}

// A clientAt is a client of an endpoint, or the sender to a webhook. Each rule that it breaks is reported once there.
type clientAt struct {
	end     *analysis.Endpoint // nil at a webhook
	webhook string             // its address
	client  string
}

// reportedAt returns the reports in the scope of a case: at its endpoint, for the agent or a client, or at its webhook.
func (m *merger) reportedAt(c *Case, f *analysis.Finding) *Reported {
	key := clientAt{end: c.X.Endpoint, client: f.Link.Client}
	switch {
	case key.end == nil:
		key.webhook = c.X.Address
	case f.Side != a2a.Client:
		return c.AtEndpoint
	}
	return reportedIn(m.clients, key)
}

// reportedIn returns the reports in one of many scopes.
func reportedIn[K comparable](scopes *recent.Map[K, *Reported], key K) *Reported {
	had, ok := scopes.Get(key)
	if !ok {
		had = &Reported{}
		scopes.Put(key, had)
	}
	return had
}

// maxToldOfCards bounds the remembered findings about cards. Forgotten ones are reported again.
const maxToldOfCards = 10_000

// refetched has the findings in cards, so that they are not reported again each time a client fetches the same card.
type refetched struct {
	told *recent.Map[digest.Digest, struct{}]
}

func newRefetched() refetched {
	return refetched{told: recent.New[digest.Digest, struct{}](maxToldOfCards)}
}

// again reports whether the finding is a repetition: the same client got the same card before, byte for byte from the
// same URL, with the same finding.
func (r *refetched) again(c *Case, f *analysis.Finding) bool {
	if c == nil || c.Card == 0 || !f.Place.Response || f.Side != a2a.Agent {
		return false
	}
	key := c.Card.Text(c.X.Link.Client).Text(c.X.Address)
	key = key.Text(f.Rule.ID).Text(f.Place.Part).Text(f.Place.Pointer).Text(f.Seen).Text(f.Expected)
	if _, known := r.told.Get(key); known {
		return true
	}
	r.told.Put(key, struct{}{})
	return false
}
