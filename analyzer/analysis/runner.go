package analysis

import (
	"cmp"
	"iter"
	"slices"
)

// A Session provides the passes of a Runner with the engine's facts about the whole capture.
type Session interface {
	Made(o Observation) // by the tracker that the pass went to: see Pass.Observe
	RequestMissed() bool
	AnswerMissed(agent string) bool
	Lost() int64
	Open() iter.Seq[*Exchange]
}

// A Runner runs the rules and trackers of an engine one after another. All of them get the same pass.
type Runner struct {
	pass     Pass
	rules    []*Rule
	checks   []func(*Pass) // of each rule
	needs    []states      // of each rule, and last of all no needs, for trackers
	trackers []*Tracker
	each     []State // of each tracker
	slots    int     // of each exchange
}

// NewRunner returns a runner of rules, of the trackers that they need directly or indirectly, and of additional
// trackers. given has the values for each tracker.
func NewRunner(s Session, rules []*Rule, more []*Tracker, given map[*Tracker][]any) *Runner {
	r := &Runner{
		rules: rules, needs: make([]states, 0, len(rules)+1), checks: make([]func(*Pass), 0, len(rules)),
	}
	r.pass = Pass{session: s, runner: r}
	for _, t := range order(rules, more...) {
		state := t.New(&Setup{r.statesOf(t.Needs), given[t], &r.slots})
		r.trackers, r.each = append(r.trackers, t), append(r.each, state)
	}
	for _, rule := range rules {
		r.needs, r.checks = append(r.needs, r.statesOf(rule.Needs)), append(r.checks, rule.Check)
	}
	r.needs = append(r.needs, states{})
	return r
}

// statesOf returns the states of trackers that have one.
func (r *Runner) statesOf(needs []*Tracker) states {
	if len(needs) == 0 {
		return states{}
	}
	s := states{needs, make([]State, len(needs))}
	for i, t := range needs {
		if k := slices.Index(r.trackers, t); k >= 0 {
			s.each[i] = r.each[k]
		}
	}
	return s
}

// States yields the trackers and their states, in the order in which they receive observations.
func (r *Runner) States() iter.Seq2[*Tracker, State] {
	return func(yield func(*Tracker, State) bool) {
		for i, t := range r.trackers {
			if !yield(t, r.each[i]) {
				return
			}
		}
	}
}

// Check runs a rule, by its number among the rules, on an observation. It returns the rule's findings, which are valid
// until the next call, and whether the rule applied.
func (r *Runner) Check(rule int, o *Observation) (found []Finding, applied bool) {
	p := r.to(rule, o)
	p.applied, p.findings = false, p.findings[:0]
	r.checks[rule](p)
	return p.findings, p.applied
}

// Tell passes an observation to a tracker's state.
func (r *Runner) Tell(s State, o *Observation) {
	s.Take(r.to(len(r.rules), o))
}

// to returns the pass of an observation to a rule, by its number. All rules and trackers get the same observation one
// after another, so usually only the number changes.
func (r *Runner) to(rule int, o *Observation) *Pass {
	p := &r.pass
	if p.rule = rule; p.Observation != o {
		p.Observation = o
	}
	return p
}

// order returns the trackers that rules need directly or indirectly, and additional ones: ordered by name, but each
// after those that it needs.
func order(rules []*Rule, more ...*Tracker) []*Tracker {
	var list []*Tracker
	seen := make(map[*Tracker]bool)
	var add func(needs []*Tracker)
	add = func(needs []*Tracker) {
		named := slices.DeleteFunc(slices.Clone(needs), func(t *Tracker) bool { return t == nil })
		slices.SortStableFunc(named, func(a, b *Tracker) int { return cmp.Compare(a.Name, b.Name) })
		for _, t := range named {
			if !seen[t] {
				seen[t] = true
				add(t.Needs)
				list = append(list, t)
			}
		}
	}
	needs := slices.Clone(more)
	for _, r := range rules {
		for _, t := range r.Needs {
			if !slices.Contains(needs, t) {
				needs = append(needs, t)
			}
		}
	}
	add(needs)
	return list
}
