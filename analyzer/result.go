package analyzer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"a2atap/proxy/capture"
)

// A Result is what judging one or more captures came to.
type Result struct {
	Captures  []string       // their names
	Findings  []Finding      // none if they were handed out as they were made
	Found     [Error + 1]int // how many there are of each severity, handed out or not
	Baselined int            // findings that were dropped since they are known
	Coverage  []Coverage
	Counts    Counts
	Agents    []Agent
	Live      bool            // a capture was still growing: this is what has happened so far
	Crashes   []capture.Crash // of captures whose recorder was killed, the last of each
}

// Add puts another capture's result behind r. Coverage of the same rule on the same link is added up.
func (r *Result) Add(other *Result) {
	r.Captures = append(r.Captures, other.Captures...)
	r.Findings = append(r.Findings, other.Findings...)
	for s, n := range other.Found {
		r.Found[s] += n
	}
	r.Baselined += other.Baselined
	r.Counts.Exchanges += other.Counts.Exchanges
	r.Counts.Judged += other.Counts.Judged
	r.Counts.Lost += other.Counts.Lost
	r.Counts.Forgotten += other.Counts.Forgotten
	r.Counts.Streams += other.Counts.Streams
	r.Counts.Events += other.Counts.Events
	r.Live = r.Live || other.Live
	r.Crashes = append(r.Crashes, other.Crashes...)
	r.addCoverage(other.Coverage)
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

func (r *Result) addAgent(a Agent) {
	for i := range r.Agents {
		if known := &r.Agents[i]; known.Link == a.Link {
			for op, n := range a.Operations {
				known.Operations[op] += n
			}
			if a.Name != "" {
				known.Name, known.Version = a.Name, a.Version
			}
			known.Streaming, known.Push = known.Streaming || a.Streaming, known.Push || a.Push
			return
		}
	}
	r.Agents = append(r.Agents, a)
}

// Keep drops the findings for which keep returns false.
func (r *Result) Keep(keep func(*Finding) bool) {
	kept := r.Findings[:0]
	r.Found = [Error + 1]int{}
	for _, f := range r.Findings {
		if keep(&f) {
			kept = append(kept, f)
			r.Found[f.Severity]++
		}
	}
	r.Findings = kept
}

// Status is the verdict in one word.
type Status string

// The verdicts. StatusClean means that something was judged and nothing was found.
const (
	StatusClean      Status = "clean"
	StatusFindings   Status = "findings"
	StatusNothing    Status = "nothing"    // nothing was judged
	StatusIncomplete Status = "incomplete" // a counted loss, or a recorder that was killed, makes the answer incomplete
)

// A Verdict sums a result up.
type Verdict struct {
	Status    Status
	Errors    int
	Warnings  int
	Notes     int
	Baselined int // findings hidden since they are known
	Exchanges int
	Judged    int
	Lost      int64
	Crashes   []capture.Crash // of recorders that were killed: some traffic may be missing
	Forgotten int             // tasks, endpoints, webhooks and cards dropped to bound memory: rules are silent on them
}

// Verdict sums the result up. A finding at or above the gate makes it StatusFindings; without one, a loss or a
// recorder that was killed makes it StatusIncomplete.
func (r *Result) Verdict(gate Severity) Verdict {
	v := Verdict{
		Exchanges: r.Counts.Exchanges, Judged: r.Counts.Judged, Lost: r.Counts.Lost, Forgotten: r.Counts.Forgotten,
		Baselined: r.Baselined, Crashes: r.Crashes,
	}
	v.Notes, v.Warnings, v.Errors = r.Found[Note], r.Found[Warning], r.Found[Error]
	gated := false
	for s := gate; s <= Error; s++ {
		gated = gated || r.Found[s] > 0
	}
	switch {
	case gated:
		v.Status = StatusFindings
	case v.Judged == 0:
		v.Status = StatusNothing
	case v.Lost > 0, len(v.Crashes) > 0:
		v.Status = StatusIncomplete
	default:
		v.Status = StatusClean
	}
	return v
}

// String returns the verdict as one line for people.
func (v Verdict) String() string {
	text := fmt.Sprintf("%s: %s, %s, %s in %s, %d judged", v.Status,
		Plural(v.Errors, "error"), Plural(v.Warnings, "warning"), Plural(v.Notes, "note"),
		Plural(v.Exchanges, "exchange"), v.Judged)
	if v.Lost > 0 {
		text += fmt.Sprintf(", %d lost", v.Lost)
	}
	if v.Forgotten > 0 {
		text += fmt.Sprintf(", %d forgotten to bound memory", v.Forgotten)
	}
	if v.Baselined > 0 {
		text += fmt.Sprintf(", %d known and not counted", v.Baselined)
	}
	for _, c := range v.Crashes {
		text += "; " + c.String()
	}
	return text
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
	report := func(findings []Finding) {
		for _, f := range findings {
			f.Capture = info.Name
			result.Found[f.Severity]++
			if each != nil {
				each(f)
			} else {
				result.Findings = append(result.Findings, f)
			}
		}
	}
	e := NewEngine(rules, append(slices.Clip(options), From(ctx, src))...)
	result.Live, err = feed(ctx, e, src, report, follow)
	report(e.End(result.Live))
	result.Coverage, result.Counts, result.Agents = e.Coverage(), e.Counts(), e.Agents()
	if info, infoErr := src.Info(ctx); infoErr == nil {
		result.Counts.Lost = max(result.Counts.Lost, info.LostExchanges)
		if info.Crashes > 0 {
			result.Crashes = append(result.Crashes, info.Crash)
		}
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
