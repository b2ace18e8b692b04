package replay

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/replay/compare"
	"a2atap/replay/noise"
	"a2atap/replay/report"
)

// A Learnt is a rule for values that may differ, with the values that show it.
type Learnt struct {
	Rule   string    // as package noise reads it
	Values [3]string // raw JSON in one line: recorded, of the first live run, of the second; empty if missing
	Secret bool      // its name suggests a secret; then there are no Values
}

// Learn replays a capture twice, as Run does, and learns what differs from one live run to the other. It returns the
// report of the second run without that, and rules for it, in the order of the recording. It never learns differences
// in outcomes, states, errors, kinds or the order of events: if only one run has such a difference, it is in the
// report, and a note calls it flaky. Options.Sink records the second run.
func Learn(ctx context.Context, src capture.Source, to string, o Options) (*report.Report, []Learnt, error) {
	rules, sink := o.Noise, o.Sink
	o.Sink = nil
	first, err := look(ctx, src, to, o, rules.Fresh())
	if err != nil {
		return first.report, nil, err
	}
	o.Sink = sink
	second, err := look(ctx, src, to, o, rules.Fresh())
	if err != nil {
		return second.report, nil, err
	}
	l := learner{first: first, second: second, known: map[string]bool{}}
	l.learn(first)
	l.learn(second)
	earlier := l.left(first)
	l.show(l.left(second))
	l.flaky(earlier)
	return second.report, l.learnt, nil
}

// A oneRun is a replay that keeps all differences.
type oneRun struct {
	report  *report.Report
	further map[uint64][]compare.Difference // by exchange: what a report would leave out
	values  map[spot]string                 // that a rule may cover: the live ones; artifacts may come in chunks
	broken  map[uint64]bool                 // exchanges with a difference that no rule may cover
}

// A spot is where a value differs in the answers of an exchange.
type spot struct {
	exchange uint64
	pointer  string
}

func look(ctx context.Context, src capture.Source, to string, o Options, rules *noise.Rules) (*oneRun, error) {
	k := &oneRun{further: map[uint64][]compare.Difference{}, values: map[spot]string{}, broken: map[uint64]bool{}}
	o.Noise = rules
	o.further = func(exchange uint64, d []compare.Difference) { k.further[exchange] = d }
	var err error
	if k.report, err = Run(ctx, src, to, o); err != nil {
		return k, err
	}
	for d := range k.all {
		for _, c := range d.Changes {
			if _, ok := learnable(d, c.Pointer); ok {
				k.values[spot{d.Exchange, c.Pointer}] += c.Now + "\n"
			}
		}
		switch d.Kind {
		case compare.DifferentValue, compare.DifferentStructure, compare.DifferentMember, compare.DifferentType:
		default:
			k.broken[d.Exchange] = true
		}
	}
	return k, nil
}

// all yields all differences.
func (k *oneRun) all(yield func(*compare.Difference) bool) {
	for i := range k.report.Differences {
		if !yield(&k.report.Differences[i]) {
			return
		}
	}
	for _, exchange := range slices.Sorted(maps.Keys(k.further)) {
		for i := range k.further[exchange] {
			if !yield(&k.further[exchange][i]) {
				return
			}
		}
	}
}

// maxChanges bounds what a difference shows.
const maxChanges = 20

// protocol lists the names of values that the protocol defines.
var protocol = []string{
	"state", "status", "kind", "role", "final", "code", "reason", "error", "result", "jsonrpc", "task", "message",
	"statusUpdate", "artifactUpdate",
}

// learnable returns the JSON Pointer of a rule for a difference at a pointer, with indices replaced by *. It returns
// false if a difference is about the protocol. An added or missing element is a difference in its list, which must be
// the agent's own data.
func learnable(d *compare.Difference, pointer string) (rule string, ok bool) {
	switch d.Kind {
	case compare.DifferentValue, compare.DifferentStructure, compare.DifferentMember, compare.DifferentType:
	default:
		return "", false
	}
	parsed, err := capture.ParsePointer(pointer)
	if err != nil || d.Side == compare.Client || len(parsed.Names()) == 0 {
		return "", false
	}
	names := slices.Clone(parsed.Names())
	own := slices.ContainsFunc(names[:len(names)-1],
		func(name string) bool { return name == "metadata" || name == "data" })
	if isIndex(names[len(names)-1]) {
		if names = names[:len(names)-1]; !own || len(names) == 0 {
			return "", false
		}
	}
	last := names[len(names)-1]
	if !own && slices.Contains(protocol, last) || strings.Contains(pointer, "=") ||
		strings.ContainsAny(pointer, " \t\r\n") {
		return "", false
	}
	for _, name := range names {
		if isIndex(name) {
			name = capture.AnyName
		}
		rule = a2a.Ptr(rule, name)
	}
	return rule, true
}

func isIndex(name string) bool { return name != "" && strings.Trim(name, "0123456789") == "" }

type learner struct {
	first, second *oneRun
	known         map[string]bool // rules
	learnt        []Learnt
}

// varies reports whether the live runs disagree about a spot. A difference in only one run does not count if the other
// run did not reach the comparison.
func (l *learner) varies(s spot) bool {
	a, inFirst := l.first.values[s]
	b, inSecond := l.second.values[s]
	switch {
	case inFirst && inSecond:
		return a != b
	case inFirst:
		return !l.second.broken[s.exchange]
	}
	return inSecond && !l.first.broken[s.exchange]
}

// learn makes rules from the differences of a run that vary.
func (l *learner) learn(run *oneRun) {
	for d := range run.all {
		for _, c := range d.Changes {
			pointer, ok := learnable(d, c.Pointer)
			s := spot{d.Exchange, c.Pointer}
			if !ok || !l.varies(s) {
				continue
			}
			rule := pointer
			if operation := l.operation(d.Exchange); operation != "" {
				rule = operation + ":" + pointer
			}
			if l.known[rule] {
				continue
			}
			l.known[rule] = true
			learnt := Learnt{Rule: rule, Secret: secret(c.Pointer)}
			if !learnt.Secret {
				// A value that differs in only one run is as recorded in the other.
				learnt.Values = [3]string{c.Was, valueAt(l.first.values, s, c.Was), valueAt(l.second.values, s, c.Was)}
			}
			l.learnt = append(l.learnt, learnt)
		}
	}
}

func valueAt(values map[spot]string, s spot, recorded string) string {
	now, ok := values[s]
	if !ok {
		return recorded
	}
	now, _, _ = strings.Cut(now, "\n")
	return now
}

// secret reports whether a pointer has the name of a secret.
func secret(pointer string) bool {
	parsed, err := capture.ParsePointer(pointer)
	return err != nil || slices.ContainsFunc(parsed.Names(), func(name string) bool {
		return credential.Member(name) || credential.Param(name).Hidden()
	})
}

func (l *learner) operation(exchange uint64) string {
	lines := l.second.report.Lines
	if i := slices.IndexFunc(lines, func(line report.Line) bool { return line.Exchange == exchange }); i >= 0 {
		return lines[i].Operation
	}
	return ""
}

// left returns a run's differences without the learned ones. At places where a learned difference had hidden others, it
// returns those.
func (l *learner) left(run *oneRun) []compare.Difference {
	kept := l.without(run.report.Differences)
	for _, exchange := range slices.Sorted(maps.Keys(run.further)) {
		of := func(d compare.Difference) bool { return d.Exchange == exchange && d.Kind != compare.DifferentValue }
		if !slices.ContainsFunc(kept, of) {
			kept = append(kept, l.without(run.further[exchange])...)
		}
	}
	return kept
}

// show puts the differences that are left into the report of the second run.
func (l *learner) show(differences []compare.Difference) {
	r := l.second.report
	slices.SortStableFunc(differences, func(a, b compare.Difference) int {
		if a.Exchange == 0 || b.Exchange == 0 {
			return cmp.Compare(b.Exchange, a.Exchange) // differences of no exchange come last
		}
		return cmp.Compare(a.Exchange, b.Exchange)
	})
	r.Differences, r.Matched, r.Differing = differences, 0, 0
	for i := range r.Lines {
		line := &r.Lines[i]
		if line.Status == report.LeftOut {
			continue
		}
		line.Differences = nil
		for _, d := range differences {
			if d.Exchange == line.Exchange && d.Exchange != 0 {
				line.Differences = append(line.Differences, d)
			}
		}
		if line.Status = report.Matched; len(line.Differences) > 0 {
			line.Status = report.Differing
			r.Differing++
		} else {
			r.Matched++
		}
	}
}

func (l *learner) without(differences []compare.Difference) []compare.Difference {
	var kept []compare.Difference
	for _, d := range differences {
		var changes []compare.Change
		for _, c := range d.Changes {
			if _, ok := learnable(&d, c.Pointer); !ok || !l.varies(spot{d.Exchange, c.Pointer}) {
				changes = append(changes, c)
			}
		}
		switch {
		case len(changes) == len(d.Changes):
		case len(changes) == 0:
			continue
		default:
			d.Changes = changes
			c := changes[0]
			at, _, _ := strings.Cut(d.Place, "#")
			d.Place, d.Want, d.Got = at+"#"+c.Pointer, c.Was, c.Now
			d.Message = fmt.Sprintf("%s is %s, recorded %s", c.Pointer, orAbsent(c.Now), orAbsent(c.Was))
		}
		d.Changes = d.Changes[:min(len(d.Changes), maxChanges)]
		kept = append(kept, d)
	}
	return kept
}

func orAbsent(value string) string {
	if value == "" {
		return "absent"
	}
	return analysis.Clip(value)
}

// flaky notes the differences that only one of the runs has, and adds those of the first run to the report.
func (l *learner) flaky(earlier []compare.Difference) {
	later := l.second.report.Differences
	for _, d := range later {
		if !slices.ContainsFunc(earlier, func(e compare.Difference) bool { return alike(&d, &e) }) {
			l.note("second", &d)
		}
	}
	var more []compare.Difference
	for _, d := range earlier {
		if !slices.ContainsFunc(later, func(e compare.Difference) bool { return alike(&d, &e) }) {
			l.note("first", &d)
			d.Live, d.LivePlace = 0, "" // in traffic that is not kept
			more = append(more, d)
		}
	}
	if len(more) > 0 {
		l.show(slices.Concat(later, more))
	}
}

func (l *learner) note(run string, d *compare.Difference) {
	r := l.second.report
	r.Notes = append(r.Notes, fmt.Sprintf("flaky, and not learned: only in the %s run: %s", run, d))
}

var anyNumber = regexp.MustCompile(`\d+`)

// alike reports whether two runs differ from the recording in the same way, ids and numbers of exchanges apart.
func alike(d, e *compare.Difference) bool {
	place := func(d *compare.Difference) string { return anyNumber.ReplaceAllString(d.Place, "*") }
	if d.Exchange != e.Exchange || d.Kind != e.Kind || d.Rule != e.Rule || place(d) != place(e) {
		return false
	}
	switch d.Kind {
	case compare.DifferentID, compare.DifferentFinding, compare.DifferentTime, compare.DifferentMatch:
		return true
	}
	return d.Want == e.Want && d.Got == e.Got
}
