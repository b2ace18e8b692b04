package analyzer

import (
	"context"
	"errors"
	"slices"

	"a2atap/proxy/capture"
)

// A Result is what judging one or more captures came to.
type Result struct {
	Captures  []string       // their names
	Findings  []Finding      // none if they were handed out as they were made
	Critical  []string       // agents that were gone at the end
	Found     [Error + 1]int // how many there are of each severity, handed out or not
	Baselined int            // findings that were dropped since they are known
	Coverage  []Coverage     // of each link; see OtherClients
	Counts    Counts
	Calls     []Calls // of each link on which there were any
	Agents    []Agent
	Nothing   string          // why nothing was chosen of what was judged; empty if something was
	Live      bool            // a capture was still growing: this is what has happened so far
	Crashes   []capture.Crash // of captures whose recorder was killed, the last of each
	Insecure  bool            // agents of a capture were not verified
}

// Add puts another capture's result behind r. Coverage of the same rule on the same link is added up.
func (r *Result) Add(other *Result) {
	r.Captures = append(r.Captures, other.Captures...)
	if r.Findings == nil { // they may be many
		r.Findings = slices.Clip(other.Findings)
	} else {
		r.Findings = append(r.Findings, other.Findings...)
	}
	for s, n := range other.Found {
		r.Found[s] += n
	}
	r.Baselined += other.Baselined
	if other.Nothing != "" {
		r.Nothing = other.Nothing
	}
	for _, agent := range other.Critical {
		if !slices.Contains(r.Critical, agent) {
			r.Critical = append(r.Critical, agent)
		}
	}
	r.Counts.Exchanges += other.Counts.Exchanges
	r.Counts.Judged += other.Counts.Judged
	r.Counts.Lost = capture.AddLost(r.Counts.Lost, other.Counts.Lost)
	r.Counts.Forgotten += other.Counts.Forgotten
	r.Counts.Streams += other.Counts.Streams
	r.Counts.Events += other.Counts.Events
	r.Counts.Calls += other.Counts.Calls
	r.Counts.Failed += other.Counts.Failed
	r.Counts.Unproved += other.Counts.Unproved
	r.Counts.Unseen += other.Counts.Unseen
	r.Counts.Made += other.Counts.Made
	r.Live = r.Live || other.Live
	r.Insecure = r.Insecure || other.Insecure
	r.Crashes = append(r.Crashes, other.Crashes...)
	r.addCoverage(other.Coverage)
	r.addCalls(other.Calls)
	for _, a := range other.Agents {
		r.addAgent(a)
	}
}

func (r *Result) addCoverage(other []Coverage) {
	type key struct {
		rule *Rule
		link Link
	}
	known := make(map[key]int, len(r.Coverage))
	for i, c := range r.Coverage {
		known[key{c.Rule, c.Link}] = i
	}
	for _, c := range other {
		i, ok := known[key{c.Rule, c.Link}]
		if !ok {
			r.Coverage = append(r.Coverage, c)
			continue
		}
		r.Coverage[i].Applied += c.Applied
		r.Coverage[i].Broken += c.Broken
	}
}

func (r *Result) addCalls(other []Calls) {
	known := make(map[Link]int, len(r.Calls))
	for i := range r.Calls {
		known[r.Calls[i].Link] = i
	}
	for i := range other {
		at, ok := known[other[i].Link]
		if !ok {
			at = len(r.Calls)
			known[other[i].Link] = at
			r.Calls = append(r.Calls, Calls{Link: other[i].Link})
		}
		r.Calls[at].merge(&other[i])
	}
}

func (r *Result) addAgent(a Agent) {
	for i := range r.Agents {
		if known := &r.Agents[i]; known.Link == a.Link {
			for op, n := range a.Operations {
				known.Operations[op] += n
			}
			for client, contact := range a.Contacts {
				if known.Contacts == nil {
					known.Contacts = make(map[string]Contact)
				}
				known.Contacts[client] = known.Contacts[client].add(contact)
			}
			if a.Name != "" {
				known.Name, known.Version = a.Name, a.Version
			}
			known.Completed, known.Refused = known.Completed+a.Completed, known.Refused+a.Refused
			if a.BadCard != "" {
				known.BadCard = a.BadCard
			}
			known.Streaming, known.Push = known.Streaming || a.Streaming, known.Push || a.Push
			return
		}
	}
	r.Agents = append(r.Agents, a)
}

// Note takes what a capture says of its gaps.
func (r *Result) Note(info capture.Info) {
	r.Counts.Lost = max(r.Counts.Lost, info.LostExchanges)
	r.Insecure = info.Insecure
	if info.Crashes > 0 {
		r.Crashes = append(r.Crashes, info.Crash)
	}
}

// take adds a finding, in the place of those that it revises, with the rules that these have covered.
func (r *Result) take(f Finding) {
	if !f.Revises {
		r.Findings = append(r.Findings, f)
		return
	}
	at := len(r.Findings)
	kept := r.Findings[:0]
	for _, g := range r.Findings {
		if !f.TakesPlaceOf(&g) {
			kept = append(kept, g)
			continue
		}
		at = min(at, len(kept))
		for _, id := range g.Also {
			if !slices.Contains(f.Also, id) {
				f.Also = append(f.Also, id)
			}
		}
	}
	f.Revises = false
	r.Findings = slices.Insert(kept, min(at, len(kept)), f)
}

// Keep drops the findings for which keep returns false.
func (r *Result) Keep(keep func(*Finding) bool) {
	kept := r.Findings[:0]
	var ledger Ledger
	for _, f := range r.Findings {
		if keep(&f) {
			kept = append(kept, f)
			ledger.Add(&f)
		}
	}
	r.Findings, r.Found, r.Critical = kept, ledger.Found, ledger.Critical
}

// Run judges what is in the source now and calls each with every finding as it is made; each may be nil. It returns
// the result, without the findings if each is given.
func Run(
	ctx context.Context, rules []*Rule, src capture.Source, each func(Finding), options ...EngineOption,
) (*Result, error) {
	return run(ctx, rules, src, each, false, options)
}

// Follow is Run on a recording that goes on: it judges what comes until the recording or the context ends.
func Follow(
	ctx context.Context, rules []*Rule, src capture.Source, each func(Finding), options ...EngineOption,
) (*Result, error) {
	return run(ctx, rules, src, each, true, options)
}

func run(
	ctx context.Context, rules []*Rule, src capture.Source, each func(Finding), follow bool, options []EngineOption,
) (*Result, error) {
	if err := Validate(rules); err != nil {
		return nil, err
	}
	info, err := src.Info(ctx)
	if err != nil {
		return nil, err
	}
	result := &Result{Captures: []string{info.Name}}
	var ledger Ledger
	report := func(findings []Finding) {
		for _, f := range findings {
			f.Capture = info.Name
			ledger.Add(&f)
			if each != nil {
				each(f)
			} else {
				result.take(f)
			}
		}
	}
	e := NewEngine(rules, append(slices.Clip(options), From(ctx, src))...)
	result.Live, err = feed(ctx, e, src, report, follow)
	report(e.End(result.Live))
	result.Found, result.Critical = ledger.Found, ledger.Critical
	result.Coverage, result.Counts, result.Calls, result.Agents = e.Coverage(), e.Counts(), e.Calls(), e.Agents()
	if info, infoErr := src.Info(ctx); infoErr == nil {
		result.Note(info)
	}
	return result, err
}

// feed gives the engine all steps. It returns whether more may come.
func feed(
	ctx context.Context, e *Engine, src capture.Source, report func([]Finding), follow bool,
) (live bool, err error) {
	next := uint64(1)
	for {
		for s, err := range src.Steps(ctx, next) {
			if err != nil {
				return false, err
			}
			next = s.Arrival + 1
			report(e.Step(s))
		}
		if !follow {
			info, err := src.Info(ctx)
			return info.Live, err
		}
		switch err := src.Wait(ctx, next); {
		case errors.Is(err, capture.ErrEnded):
			return false, nil
		case err != nil && ctx.Err() != nil:
			return true, nil
		case err != nil:
			return true, err
		}
	}
}
