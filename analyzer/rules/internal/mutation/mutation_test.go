package mutation_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

var planted = flag.String("mutations", mutate, "where mutations are planted: in some of the transcripts, or in all")

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // what is alive is little: this saves a tenth of the time
	os.Exit(m.Run())
}

// A mutation is one change to a conversation: it breaks the rules that it names, or none.
type mutation struct {
	name  string
	in    speech   // where it can be planted
	on    []string // the tags of the objects that it changes; none for whole exchanges
	do    func(*spot) bool
	rules []string // of which one is broken by it; none if it is harmless
	also  []string // which may be found broken along with it
	far   bool     // what is broken shows in another exchange
	only  bool     // only for faithful transcripts, which miss nothing
}

// broken returns a mutation that breaks one of the rules given.
func broken(name string, in speech, rules, on string, do func(*spot) bool) mutation {
	return mutation{name: name, in: in, rules: strings.Fields(rules), on: strings.Fields(on), do: do}
}

// harmless returns a mutation that breaks nothing.
func harmless(name string, in speech, on string, do func(*spot) bool) mutation {
	return mutation{name: name, in: in, on: strings.Fields(on), do: do}
}

// with says which rules may be found broken too.
func (m mutation) with(rules string) mutation {
	m.also = append(slices.Clone(m.also), strings.Fields(rules)...)
	return m
}

// elsewhere says that another exchange shows what was broken.
func (m mutation) elsewhere() mutation {
	m.far = true
	return m
}

// faithfully restricts the mutation to faithful transcripts.
func (m mutation) faithfully() mutation {
	m.only = true
	return m
}

// A spot is where a mutation is planted, in a copy of a conversation that is its own.
type spot struct {
	exchanges []*capture.Exchange
	i         int // of the exchange
	kind      kind
	random    *rand.Rand

	o, parent *value // the object, and what it is a member or an element of
	name      string // of the member
	root      *value // the whole text
}

// x returns the exchange.
func (s *spot) x() *capture.Exchange { return s.exchanges[s.i] }

// own replaces the exchange i by a copy that can be changed.
func (s *spot) own(i int) *capture.Exchange {
	x := *s.exchanges[i]
	if x.Response != nil {
		r := *x.Response
		r.Events = slices.Clone(r.Events)
		x.Response = &r
	}
	s.exchanges[i] = &x
	return &x
}

// A place is where a mutation may be planted.
type place struct {
	from *conversation
	i    int
	text int // -1 is the body of the request, 0 that of the answer, others are events by their place in the list and one
	n    int // of the tagged objects of the text
}

// inPairs are the transcripts whose silence hangs on something that is there twice, or left out.
var inPairs = []string{
	"silent/accepts-text-only", "silent/credentials-refused-as-internal",
	"silent/goes-on-with-a-task",
	"silent/pieces-in-two-streams", "silent/sent-again", "silent/sent-again-to-unseen-task",
	"silent/streams-in-part",
}

// A conversation is a transcript that mutations are planted in.
type conversation struct {
	path      string
	in        speech
	exchanges []*capture.Exchange
	kinds     []kind
	baseline  []analysis.Finding
	places    map[string][]place // by tag; those of whole exchanges have none
}

func (c *conversation) text(i, text int) (string, bool) {
	x := c.exchanges[i]
	switch {
	case text < 0:
		return string(x.Request.Body.Data), x.Request.Body.Kept() && x.Request.Body.Complete
	case x.Response == nil:
		return "", false
	case text == 0:
		b := x.Response.Body
		return string(b.Data), !x.Response.Stream && b.Kept() && b.Complete
	}
	e := x.Response.Events[text-1]
	return string(e.Fields().Data), e.K > 0 && e.Dropped == 0 && !e.Unterminated
}

// mixed are recordings of frameworks that mix versions in one message, or change what has ended. With a fault more in
// them, other things follow than from that fault in traffic which is right: another version, or another old fault.
var mixed = map[string]bool{
	"agno-3.1.10": true, "fasta2a-2.1.1": true, "google-adk-2.13.0": true,
	"langgraph-api-0.16.7": true,
}

// conversations returns all transcripts of the folders.
func conversations(t *testing.T, folders ...string) []*conversation {
	t.Helper()
	var list []*conversation
	for _, path := range rulestest.Names(t, folders...) {
		if mixed[filepath.Base(path)] {
			continue
		}
		c := &conversation{path: path, exchanges: rulestest.Exchanges(t, path), places: make(map[string][]place)}
		c.in, c.baseline = speechOf(c.exchanges), rulestest.FindingsIn(t, path)
		for i, x := range c.exchanges {
			c.kinds = append(c.kinds, kindOf(x))
			c.places[""] = append(c.places[""], place{c, i, 0, 0})
			last := 0
			if x.Response != nil {
				last = len(x.Response.Events)
			}
			for text := -1; text <= last; text++ {
				c.find(i, text)
			}
		}
		list = append(list, c)
	}
	return list
}

func (c *conversation) find(i, text int) {
	data, ok := c.text(i, text)
	if !ok {
		return
	}
	root, ok := parseValue(data)
	if !ok {
		return
	}
	n := 0
	tagged(root, c.kinds[i], text < 0, func(tag string, _, _ *value, _ string) {
		c.places[tag] = append(c.places[tag], place{c, i, text, n})
		n++
	})
}

// plant returns the conversation with the mutation at the place, if it fits there.
func (m *mutation) plant(p place, random *rand.Rand) ([]*capture.Exchange, bool) {
	c := p.from
	s := &spot{exchanges: slices.Clone(c.exchanges), i: p.i, kind: c.kinds[p.i], random: random}
	if len(m.on) == 0 {
		s.own(p.i)
		return s.exchanges, m.do(s)
	}
	data, _ := c.text(p.i, p.text)
	s.root, _ = parseValue(data)
	n := 0
	tagged(s.root, s.kind, p.text < 0, func(_ string, parent, o *value, name string) {
		if n == p.n {
			s.parent, s.o, s.name = parent, o, name
		}
		n++
	})
	if !m.do(s) {
		return nil, false
	}
	x, text := s.own(p.i), s.root.text("")
	switch {
	case text == data:
		return nil, false
	case p.text < 0:
		setBody(&x.Request.Body, &x.Request.Head, func(string) string { return text })
	case p.text == 0:
		setBody(&x.Response.Body, &x.Response.Head, func(string) string { return text })
	default:
		x.Response.Events[p.text-1].Raw = []byte("data: " + text + "\n\n")
	}
	return s.exchanges, true
}

// A trace is who broke which rule.
type trace struct {
	rule string
	side a2a.Side
}

func traceOf(f *analysis.Finding) trace { return trace{f.Rule.ID, f.Side} }

// newFindings returns what is worse than a note and was not found before.
func (c *conversation) newFindings(findings []analysis.Finding) []*analysis.Finding {
	seen := make(map[trace]bool) // what is reported once may have moved on to another place
	for i := range c.baseline {
		if f := &c.baseline[i]; f.Severity >= analysis.Warning {
			seen[traceOf(f)] = true
		}
	}
	var list []*analysis.Finding
	for i := range findings {
		if f := &findings[i]; f.Severity >= analysis.Warning && !seen[traceOf(f)] {
			list = append(list, f)
		}
	}
	return list
}

// had reports whether one of the rules was broken before the mutation: what it adds could not be told then.
func (c *conversation) had(rules []string) bool {
	return slices.ContainsFunc(c.baseline, func(f analysis.Finding) bool { return slices.Contains(rules, f.Rule.ID) })
}

// verdict says what is wrong with what was found after a mutation; nothing if it is as it should be.
func (m *mutation) verdict(p place, findings []analysis.Finding) string {
	side := a2a.Client
	if p.text >= 0 || p.from.kinds[p.i].operation == "hook" {
		side = a2a.Agent
	}
	hit := func(f *analysis.Finding) bool {
		if !slices.ContainsFunc(append(f.Also, f.Rule.ID), func(id string) bool {
			return slices.Contains(m.rules,
				id)
		}) {
			return false
		}
		return m.far || len(m.on) == 0 && f.ExchangeID == p.from.exchanges[p.i].ID ||
			f.ExchangeID == p.from.exchanges[p.i].ID && f.Place.Response == (p.text >= 0) && f.Side == side &&
				(p.text <= 0 || !strings.HasPrefix(f.Place.Part, "event[") ||
					f.Place.Part == fmt.Sprintf("event[%d]", p.from.exchanges[p.i].Response.Events[p.text-1].K))
	}
	var b strings.Builder
	found := len(m.rules) == 0
	for i := range findings {
		found = found || hit(&findings[i])
	}
	if !found {
		fmt.Fprintf(&b, "\n  no %s", strings.Join(m.rules, " or "))
		for i := range findings {
			if f := &findings[i]; f.Severity == analysis.Note && f.ExchangeID == p.from.exchanges[p.i].ID {
				fmt.Fprintf(&b, "\n  note: %s", f)
			}
		}
	}
	for _, f := range p.from.newFindings(findings) {
		if !slices.Contains(m.rules, f.Rule.ID) && !slices.Contains(m.also, f.Rule.ID) || !found {
			fmt.Fprintf(&b, "\n  %s: %s", f.Severity, f)
		}
	}
	return b.String()
}

// choose returns the places to try, those of faithful transcripts first, and how many of each sort are enough.
func (m *mutation) choose(list []*conversation, in speech, random *rand.Rand) [][]place {
	sorts := make([][]place, 2)
	for _, c := range list {
		sort, folder := 1, filepath.Dir(c.path)
		if folder == "faithful" {
			sort = 0
		}
		if c.in != in || c.had(m.rules) || sort == 1 && m.only || folder == "silent" && len(m.rules) > 0 ||
			slices.Contains(inPairs, c.path) {
			continue // what the silent ones are about would have to be known
		}
		if len(m.on) == 0 {
			sorts[sort] = append(sorts[sort], c.places[""]...)
		}
		for _, tag := range m.on {
			sorts[sort] = append(sorts[sort], c.places[tag]...)
		}
	}
	for _, places := range sorts {
		random.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	}
	return sorts
}

// Each mutation that breaks a rule is found where it was planted and as what it is, and no harmless one is found.
func TestMutations(t *testing.T) {
	t.Parallel()
	list := conversations(t, "faithful", "clean", "silent", "wild")
	all := slices.Concat(envelopeMutations, httpMutations, shapeMutations, taskMutations, streamMutations,
		orderMutations,
		errorMutations, listMutations, pushMutations, cardMutations, capabilityMutations, harmlessMutations)
	checkMutations(t, all)
	counted := make([][]int, len(all))
	t.Cleanup(func() { report(t, all, counted) })
	for i := range all {
		m := &all[i]
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			counts := make([]int, len(speeches))
			for _, k := range m.sample() {
				counts[k] = m.try(t, list, speeches[k].is, speeches[k].name)
			}
			counted[i] = counts
		})
	}
}

// sample returns one of every oneIn protocols that the mutation is for, and maybe none; all where all places are tried.
func (m *mutation) sample() (some []int) {
	var all []int
	every := oneIn
	if *planted == "all" {
		every = 1
	}
	for k, s := range speeches {
		if m.in&s.is != 0 {
			all = append(all, k)
		}
	}
	for i := rulestest.Random(m.name).IntN(every); i < len(all); i += every {
		some = append(some, all[i])
	}
	return some
}

// try plants the mutation at some places of some transcripts, or of all, and returns at how many.
func (m *mutation) try(t *testing.T, list []*conversation, in speech, name string) int {
	t.Helper()
	n, random := 0, rulestest.Random(m.name+name)
	for sort, places := range m.choose(list, in, random) {
		left, tried := 1, make(map[*conversation]int)
		for _, p := range places {
			if tried[p.from] == []int{5, 1}[sort] {
				continue // it has been tried enough in this one
			}
			if len(m.on) > 0 && in&older != 0 && p.from.kinds[p.i].operation == "hook" {
				continue // before 1.0 notifications are what their agent likes
			}
			exchanges, ok := m.plant(p, random)
			if !ok {
				continue
			}
			n++
			tried[p.from]++
			if wrong := m.verdict(p, rulestest.Findings(t, exchanges)); wrong != "" && known[m.name] == "" {
				t.Errorf("in %s: %s, exchange %d, text %d:%s", name, p.from.path, p.i+1, p.text, wrong)
			}
			if left--; left == 0 && *planted != "all" {
				break
			}
		}
	}
	if n == 0 {
		t.Errorf("in %s: fits nowhere", name)
	}
	return n
}
