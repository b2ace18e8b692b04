package diff

import (
	"cmp"
	"context"
	"slices"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
	"a2atap/replay/noise"
	"a2atap/replay/report"
)

// Options configures what to compare, and how. The zero value compares everything by the profile protocol, without
// rules.
type Options struct {
	Rules   []*analysis.Rule             // judge both captures; they must have passed analysis.Validate
	KeepWas func(*capture.Exchange) bool // chooses exchanges of the first capture; nil chooses all
	KeepNow func(*capture.Exchange) bool // of the second
	Profile compare.Profile              // compare.Protocol if empty
	Texts   bool                         // compare the contents of texts, except for ids and times, under every profile
	Agents  map[string]string            // names of agents in the second capture by those in the first
	Noise   *noise.Rules                 // what may differ; nil if nothing may
	Late    time.Duration                // how much longer than in the first an answer or an event may take; 0 is any time
	Sides   report.Sides                 // names of the sides in the report; of one exchange each, regardless of their operations

	FoundWas []analysis.Finding // the rules' findings in the first capture, if known to the caller: without Rules
	FoundNow []analysis.Finding // in the second
}

// Run compares two captures of the same workflow. It fails if one of them cannot be read. The report has the
// differences, and calls the first capture recorded. Agents are the same if they have the same name, or if each
// capture has one that the other lacks.
func Run(ctx context.Context, was, now capture.Source, o Options) (*report.Report, error) {
	o.Profile = cmp.Or(o.Profile, compare.Protocol)
	if _, err := compare.ParseProfile(string(o.Profile)); err != nil {
		return nil, err
	}
	a, err := load(ctx, was, o.KeepWas)
	if err != nil {
		return nil, err
	}
	b, err := load(ctx, now, o.KeepNow)
	if err != nil {
		return nil, err
	}
	c := &comparison{a: a, b: b, opts: o, report: &report.Report{
		Verb: "diff", Sides: o.Sides, Capture: a.info.Name, To: b.info.Name, Profile: string(o.Profile),
		Lost: a.info.LostExchanges + b.info.LostExchanges,
	}}
	for _, info := range []capture.Info{a.info, b.info} {
		if info.Crashes > 0 {
			c.report.Crash = info.Crash.String()
		}
	}
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	return c.report, nil
}

// A comparison is a comparison in progress.
type comparison struct {
	a, b    *side
	opts    Options
	report  *report.Report
	threads []*thread                  // of the first capture
	values  map[string]*compare.Values // by the agent's name in the first capture
	meant   map[string]int             // numbers of exchanges compared by meaning, by their bindings and dialects
}

func (c *comparison) run(ctx context.Context) error {
	c.values, c.meant = map[string]*compare.Values{}, map[string]int{}
	was, now := byAgent(c.a.exchanges), byAgent(c.b.exchanges)
	agents := agentsOf(c.a.exchanges)
	others := pairNames(agents, agentsOf(c.b.exchanges), func(name string) string {
		return cmp.Or(c.opts.Agents[name], name)
	})
	for _, agent := range agents {
		if err := c.pairUp(agent, was[agent], now[others[agent]]); err != nil {
			return err
		}
	}
	c.pairChosen()
	for name, v := range c.values {
		for other := range c.values {
			if other != name {
				v.Share(c.values[other])
			}
		}
	}
	if err := c.lines(ctx); err != nil {
		return err
	}
	c.notices()
	return c.findings(ctx)
}

// pairChosen pairs the two exchanges that the user chose to compare.
func (c *comparison) pairChosen() {
	if c.opts.Sides.Each != report.OneExchange || len(c.a.exchanges) != 1 || len(c.b.exchanges) != 1 {
		return
	}
	a, b := c.a.exchanges[0], c.b.exchanges[0]
	switch {
	case a.skip == "" && b.skip == "":
		a.pair, b.pair = b, a
	case a.skip == "":
		a.skip = "its counterpart is not compared: " + b.skip
	case b.skip == "":
		b.skip = "its counterpart is not compared: " + a.skip
	}
}

func byAgent(exchanges []*exchange) map[string][]*exchange {
	groups := map[string][]*exchange{}
	for _, e := range exchanges {
		if e.skip == "" {
			groups[e.agent] = append(groups[e.agent], e)
		}
	}
	return groups
}

// pairNames pairs equal names, and the remaining two if each list has one left.
func pairNames(was, now []string, other func(string) string) map[string]string {
	pairs := map[string]string{}
	var restWas []string
	restNow := slices.Clone(now)
	for _, name := range was {
		pairs[name] = ""
		if i := slices.Index(restNow, other(name)); i >= 0 {
			pairs[name] = restNow[i]
			restNow = slices.Delete(restNow, i, i+1)
		} else {
			restWas = append(restWas, name)
		}
	}
	if len(restWas) == 1 && len(restNow) == 1 {
		pairs[restWas[0]] = restNow[0]
	}
	return pairs
}

// pairUp finds the counterparts of the exchanges with one agent.
func (c *comparison) pairUp(agent string, was, now []*exchange) error {
	v, err := compare.NewValues()
	if err != nil {
		return err
	}
	c.values[agent] = v
	clients := pairNames(clientsOf(was), clientsOf(now), func(name string) string { return name })
	for _, e := range now {
		e.agent = agent
		for name, other := range clients {
			if other == e.client && name != other {
				e.client = name
				break
			}
		}
	}
	a, b := threadsOf(was), threadsOf(now)
	pairThreads(a, b)
	for _, t := range a {
		if t.pair == nil {
			continue
		}
		if t.task != "" && t.pair.task != "" {
			v.Pair(&compare.Pairing{Role: compare.TaskID, Recorded: t.task, Live: t.pair.task})
		}
		pairExchanges(t.exchanges, t.pair.exchanges)
	}
	pairStrays(a, b)
	c.threads = append(c.threads, a...)
	return nil
}

// pairStrays finds counterparts for the remaining exchanges of threads without a counterpart, if no exchange in the
// thread created its task: in the other capture they belong to another task.
func pairStrays(a, b []*thread) {
	alone := func(e *exchange) bool { return e.pair == nil }
	strays := func(threads []*thread, all bool) (list []*exchange) {
		for _, t := range threads {
			if all || t.pair == nil && t.task != "" && !t.exchanges[0].op.Sends() {
				list = append(list, only(t.exchanges, alone)...)
			}
		}
		return list
	}
	pairBy(strays(a, true), strays(b, false), level(byText).ofClient)
	pairBy(strays(a, false), strays(b, true), level(byText).ofClient)
}
