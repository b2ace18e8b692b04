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

// A merger makes one finding of what has one cause: of those that others cover, of those that name one mistake, of those
// that a rule reports once in its scope, and of those in a card that is fetched again and again.
type merger struct {
	rules   []*analysis.Rule
	covers  map[string][]string // rule id → ids that it covers, directly or through another; nil until it is needed
	origins *recent.Map[string, *Reported]
	clients *recent.Map[clientAt, *Reported] // what is forgotten here is reported again
	cards   refetched
}

// maxScopes bounds the origins, and the clients of endpoints, of which it is known what was reported there.
const maxScopes = 10_000

func newMerger(rules []*analysis.Rule) merger {
	return merger{
		rules: rules, cards: newRefetched(),
		origins: recent.New[string, *Reported](maxScopes), clients: recent.New[clientAt, *Reported](maxScopes),
	}
}

// merge merges the findings of one step, in place: a finding that another one covers at its place goes into that one's
// Also, which is then at least as bad. Open returns the case of an exchange that is not over, or nil.
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

// takeCauses has the first of the worst findings of each cause take the others up.
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

// A cover is a finding that another one of the step covers.
type cover struct {
	by       int // index of the one that does
	rule     string
	severity analysis.Severity
}

// take takes a finding up into the one that covers it.
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

// first reports whether the finding, number i of the step, is the first of its rule and its severity in the rule's
// scope. What it covers has then had its report there too.
func (m *merger) first(c *Case, f *analysis.Finding, i int, taken []cover) bool {
	if c != nil && f.Cause != "" &&
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

// family returns a set with both of 0.2 and 0.3 if it has one of them: they are one wire format, and one client may be
// taken for either.
func family(in a2a.Dialects) a2a.Dialects {
	if kinds := a2a.Of(a2a.V0_2, a2a.V0_3); !in.Intersect(kinds).Empty() {
		return kinds
	}
	return in
}

// A clientAt is a client of an endpoint, or who posts to a webhook. There rules that it breaks report once.
type clientAt struct {
	end     *analysis.Endpoint // nil at a webhook
	webhook string             // its address
	client  string
}

// reportedAt returns what has been reported where a case belongs: at its endpoint, of the agent or of a client, or at
// its webhook.
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

// reportedIn returns what has been reported in one of many scopes.
func reportedIn[K comparable](scopes *recent.Map[K, *Reported], key K) *Reported {
	had, ok := scopes.Get(key)
	if !ok {
		had = &Reported{}
		scopes.Put(key, had)
	}
	return had
}

// maxToldOfCards bounds the findings about cards that are remembered. What is forgotten is reported again.
const maxToldOfCards = 10_000

// refetched is what has been found in cards, so that a client which fetches the same card again and again is not told
// the same each time.
type refetched struct {
	told *recent.Map[digest.Digest, struct{}]
}

func newRefetched() refetched {
	return refetched{told: recent.New[digest.Digest, struct{}](maxToldOfCards)}
}

// again reports whether the finding is about a card that the same client has got before, byte for byte from the same
// URL, and said the same then.
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
