package diff

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
	"a2atap/replay/report"
)

// lines compares each pair of exchanges, in the order of the first capture, and names those without a counterpart. An
// exchange that only the second has comes after the exchange that it followed.
func (c *comparison) lines(ctx context.Context) error {
	r := c.report
	var lines []report.Line
	behind := map[uint64]uint64{} // exchanges that only the second capture has, and the one of the first before each
	for _, e := range c.a.exchanges {
		if e.polled {
			continue
		}
		l, err := c.line(ctx, e)
		if err != nil {
			return err
		}
		lines = append(lines, l)
	}
	var last uint64
	for _, e := range c.b.exchanges {
		switch {
		case e.pair != nil:
			last = e.pair.seq
		case e.polled:
		default:
			lines = append(lines, c.onlyNow(e))
			behind[e.seq] = last
		}
	}
	at := func(l *report.Line) uint64 {
		if l.Exchange == 0 {
			return behind[l.Live]
		}
		return l.Exchange
	}
	slices.SortStableFunc(lines, func(l, m report.Line) int { return cmp.Compare(at(&l), at(&m)) })
	r.Lines = lines
	r.Tally()
	count := c.opts.Noise.Count()
	r.Ignored, r.IgnoredBy, r.Matching = count.Ignored, count.Rules, count.Matched
	c.notes()
	r.Notes = append(r.Notes, c.opts.Noise.Stale()...)
	return nil
}

// line describes the outcome for an exchange of the first capture.
func (c *comparison) line(ctx context.Context, e *exchange) (report.Line, error) {
	l := report.Line{
		Exchange: e.seq, Agent: e.agent, Operation: e.asks, Task: e.task, Requests: 1,
		Status: report.Matched,
	}
	if e.of != nil && e.names {
		if first := e.of.exchanges[0]; first != e && first.op.Sends() {
			l.Uses = []uint64{first.seq}
		}
	}
	switch {
	case e.skip != "":
		l.Status, l.Why = report.LeftOut, e.skip
		return l, nil
	case e.pair == nil:
		l.Status = report.Missing
		l.Differences = []compare.Difference{{
			Kind: compare.MissingExchange, Exchange: e.seq, Place: fmt.Sprintf("%d.request", e.seq), Want: e.asks,
			Message: "it is only in " + cmp.Or(c.opts.Sides.Was, "the first capture"), Side: compare.Client,
			Effect: compare.Effect{NoAnswer: true, Lasting: acts(e)},
		}}
		return l, nil
	}
	l.Live, l.Polls, l.Requests = e.pair.seq, e.pair.polls, 1+len(e.pair.polls)
	was, err := c.a.src.Exchange(ctx, e.seq)
	if err != nil {
		return l, err
	}
	now, err := c.b.src.Exchange(ctx, e.pair.seq)
	if err != nil {
		return l, err
	}
	if l.Differences = c.compare(e, was, now); len(l.Differences) > 0 {
		l.Status = report.Differing
	}
	for i := range l.Differences {
		d := &l.Differences[i]
		d.Live = l.Live
		if sides := c.opts.Sides; sides.Each == report.OneExchange {
			d.Message = strings.NewReplacer(
				", recorded as ", ", in "+sides.Was+" ", ", recorded ", ", in "+sides.Was+" ", ", the recorded one ", ", in "+sides.Was+" ",
				" when it was recorded", " in "+sides.Was,
			).Replace(d.Message) // neither of the two is a recording of the other
		}
	}
	return l, nil
}

// onlyNow reports an exchange that only the second capture has.
func (c *comparison) onlyNow(e *exchange) report.Line {
	l := report.Line{Live: e.seq, Agent: e.agent, Operation: e.asks, Task: e.task, Requests: 1, Status: report.New}
	if e.skip != "" {
		l.Status, l.Why = report.LeftOut, e.skip
		return l
	}
	d := compare.Difference{
		Kind: compare.NewExchange, Live: e.seq, Place: fmt.Sprintf("%d.request", e.seq), Got: e.asks,
		Message: "it is only in " + cmp.Or(c.opts.Sides.Now, "the second capture"), Side: compare.Client,
	}
	if e.of != nil && e.of.pair != nil {
		d.Effect = compare.Effect{Task: e.of.pair.task, Agent: e.of.pair.exchanges[0].agent, Lasting: acts(e)}
	}
	l.Differences = []compare.Difference{d}
	return l
}

// acts reports whether an exchange affects an existing task.
func acts(e *exchange) bool { return e.names && (e.op.Sends() || e.op == a2a.CancelTask) }

// compare compares two exchanges: first the requests, then the answers.
func (c *comparison) compare(e *exchange, was, now *capture.Exchange) []compare.Difference {
	v := c.values[e.agent]
	callWas, headWas := c.a.call(was)
	callNow, headNow := c.b.call(now)
	asked := compare.Requests{
		Values: v, Profile: c.opts.Profile, Noise: c.opts.Noise,
		Recorded: compare.Request{Seq: was.Seq, Call: &callWas, Head: headWas},
		Live:     compare.Request{Seq: now.Seq, Call: &callNow, Head: headNow},
	}
	diffs := asked.Run()
	rec := &compare.Recorded{
		Reply: compare.ReadReply(&callWas, was), Seq: was.Seq, Task: callWas.TaskID, Ahead: e.ahead,
	}
	rec.AssumeLeft()
	live := compare.ReadReply(&callNow, now)
	live.AssumeLeft()
	if c.opts.Profile != compare.Exact && !c.opts.Texts {
		c.report.Texts += rec.Texts()
	}
	p := compare.NewPairer(v, rec, &callNow)
	p.Noise = c.opts.Noise.Of(callWas.Operation, was.Seq, now.Seq)
	pairValues(p, &callNow, now, live)
	if e.asks != e.pair.asks {
		return diffs // another call has another answer
	}
	answered := compare.Comparison{
		Values: v, Profile: c.opts.Profile, Texts: c.opts.Texts, Recorded: rec, Live: live, LiveSeq: now.Seq,
		Both: true, LiveAhead: e.pair.ahead, Noise: c.opts.Noise, Tolerance: c.opts.Late,
	}
	diffs = append(diffs, p.Contradictions()...)
	if answered.ByMeaning() {
		c.report.ByMeaning++
		c.meant[spoken(&callWas)+" against "+spoken(&callNow)]++
	}
	diffs = append(diffs, answered.Run()...)
	answered.Note()
	return diffs
}

// pairValues shows the answer of the second capture to a pairer, event by event.
func pairValues(p *compare.Pairer, call *a2a.Call, x *capture.Exchange, r *compare.Reply) {
	if !r.Stream {
		for _, it := range r.Items {
			p.Take(0, it.Answer)
		}
		return
	}
	for i := range x.Response.Events {
		e := &x.Response.Events[i]
		if a, ok := compare.ReadEvent(call, e); ok {
			p.Take(e.K, a)
		}
	}
}

// spoken returns the binding and dialect of a call.
func spoken(call *a2a.Call) string {
	if call.Binding == a2a.NoBinding {
		return call.Dialects.String()
	}
	return fmt.Sprintf("%s %s", call.Binding, call.Dialects)
}

// notes describes comparisons that deviate from the profile.
func (c *comparison) notes() {
	for _, how := range slices.Sorted(maps.Keys(c.meant)) {
		c.note("%s compared by meaning, not by JSON names: %s", analysis.Plural(c.meant[how], "exchange"), how)
	}
	polls := func(list []*exchange) (n int) {
		for _, e := range list {
			if e.polled {
				n++
			}
		}
		return n
	}
	if was, now := polls(c.a.exchanges), polls(c.b.exchanges); was+now > 0 {
		c.note("the number of polls of an active task does not matter: %d and %d polls were not compared", was, now)
	}
	var apart []string
	for _, name := range agentsOf(c.a.exchanges) {
		if !slices.ContainsFunc(c.b.exchanges, func(e *exchange) bool { return e.pair != nil && e.pair.agent == name }) {
			apart = append(apart, name)
		}
	}
	if len(apart) > 0 && c.report.New > 0 && c.opts.Sides.Each != report.WholeCapture {
		c.note("no exchange of %s was paired with the agent %s", c.opts.Sides.Now, strings.Join(apart, ", "))
	} else if len(apart) > 0 && c.report.New > 0 {
		c.note("no exchange of the second capture was paired with the agent %s; --agent NAME=OTHER names its counterpart",
			strings.Join(apart, ", "))
	}
}

func (c *comparison) note(format string, args ...any) {
	c.report.Notes = append(c.report.Notes, fmt.Sprintf(format, args...))
}

// findings checks both captures. A rule that only the second breaks is a difference.
func (c *comparison) findings(ctx context.Context) error {
	was, err := c.judge(ctx, c.a, c.opts.FoundWas)
	if err != nil {
		return err
	}
	now, err := c.judge(ctx, c.b, c.opts.FoundNow)
	if err != nil {
		return err
	}
	before := "before"
	if sides := c.opts.Sides; sides.Each != report.WholeCapture {
		before = "in " + sides.Was
	}
	c.repaired(compare.NewFindings(now, was))
	c.report.Findings = compare.NewFindings(was, now)
	for i := range c.report.Findings {
		f := &c.report.Findings[i]
		d := compare.Difference{
			Kind: compare.DifferentFinding, Rule: f.Rule.ID, Live: f.Place.Exchange, Place: f.Place.String(),
			Want: f.Wanted(), Got: f.Seen, Message: fmt.Sprintf("%s (rule %s, not broken %s)", f.Message(), f.Rule.ID, before),
		}
		if f.Side == a2a.Client {
			d.Side = compare.Client
		}
		c.report.Differences = append(c.report.Differences, d)
	}
	return nil
}

// repaired notes the rules that are broken only in the first capture, as far as the exchange has a counterpart.
func (c *comparison) repaired(gone []analysis.Finding) {
	paired := map[uint64]bool{}
	for i := range c.report.Lines {
		l := &c.report.Lines[i]
		paired[l.Exchange] = l.Status == report.Matched || l.Status == report.Differing && !slices.ContainsFunc(l.Differences, replaced)
	}
	exchanges, rules := map[string][]uint64{}, []string{}
	for i := range gone {
		f := &gone[i]
		if !paired[f.Place.Exchange] {
			continue
		}
		if exchanges[f.Rule.ID] == nil {
			rules = append(rules, f.Rule.ID)
		}
		exchanges[f.Rule.ID] = append(exchanges[f.Rule.ID], f.Place.Exchange)
	}
	for _, id := range rules {
		where := slices.Compact(slices.Sorted(slices.Values(exchanges[id])))
		in := cmp.Or(c.opts.Sides.Was, "the first capture")
		if c.opts.Sides.Each != report.OneExchange {
			in = numbered(where) + " of " + in
		}
		c.note("no longer broken: rule %s, broken in %s", id, in)
	}
}

// replaced reports whether a difference is one of the whole answer, so that rules about the first do not apply to the
// second.
func replaced(d compare.Difference) bool {
	switch d.Kind {
	case compare.DifferentOutcome, compare.DifferentError, compare.DifferentEnd, compare.DifferentEvent:
		return true
	}
	return d.Effect.NoAnswer
}

// numbered names exchanges, at most five by their number.
func numbered(seqs []uint64) string {
	var words []string
	for _, seq := range seqs[:min(len(seqs), 5)] {
		words = append(words, fmt.Sprint(seq))
	}
	switch more := len(seqs) - len(words); {
	case len(seqs) == 1:
		return "exchange " + words[0]
	case more > 0:
		return fmt.Sprintf("exchanges %s and %d more", strings.Join(words, ", "), more)
	}
	return "exchanges " + strings.Join(words, ", ")
}

// judge returns the rules' findings in the chosen exchanges of a capture; without rules, it returns the known findings.
func (c *comparison) judge(ctx context.Context, s *side, known []analysis.Finding) ([]analysis.Finding, error) {
	if len(c.opts.Rules) > 0 {
		result, err := engine.Run(ctx, c.opts.Rules, s.src, nil)
		if err != nil {
			return nil, err
		}
		known = result.Findings
	}
	return slices.DeleteFunc(slices.Clone(known), func(f analysis.Finding) bool {
		return f.Place.Exchange != 0 && !s.chosen[f.Place.Exchange]
	}), nil
}
