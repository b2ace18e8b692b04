package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/snapshot"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/a2a"
)

// A Reached is an agent that the page can send to.
type Reached struct {
	Name string `json:"name"`
	URL  string `json:"url"` // of the agent, of its card or, in a recording, of its tap
}

// A total is the result of checking the capture so far.
type total struct {
	verdict judgment.Verdict
	agents  []Reached
	parts   map[string]string // of the page, as markup, by name
}

// newTotal computes the result so far, one call at a time.
func newTotal(ctx context.Context, state known, caused *trees, now time.Time) (*total, error) {
	result, err := resultOf(ctx, state, caused)
	if err != nil {
		return nil, err
	}
	parts, err := report.NewParts(&report.Report{
		Result: result, Rules: rules.All, Gate: analysis.Error, Tool: cli.Tool(), Now: now,
		Directions: report.Directions(result),
	})
	if err != nil {
		return nil, err
	}
	t := &total{
		verdict: result.Verdict(analysis.Error),
		parts:   map[string]string{"verdict": parts.Verdict, "findings": parts.Findings, "failed": parts.Failed},
	}
	cards, err := cardsOf(ctx, state.Capture)
	for i := range result.Agents {
		if a := &result.Agents[i]; a.URL != "" {
			t.agents = append(t.agents, Reached{a.Link, cmp.Or(cards[a.Link], a.URL)})
		}
	}
	return t, err
}

// cardsOf returns the place of the newest known public card of each agent, by the agent's name.
func cardsOf(ctx context.Context, j *verdict.Capture) (map[string]string, error) {
	cards := make(map[string]string)
	for _, seq := range j.Head().Cards {
		row, err := j.Row(ctx, seq)
		if err != nil {
			return nil, err
		}
		if row == nil || row.Operation != a2a.GetCard || row.Method != http.MethodGet {
			continue
		}
		if at, err := url.Parse(row.AgentURL); err == nil && at.Host != "" {
			cards[row.Link.Agent] = at.Scheme + "://" + at.Host + row.Target
		}
	}
	return cards, nil
}

// resultOf returns the result so far, with its findings.
func resultOf(ctx context.Context, state known, t *trees) (*judgment.Result, error) {
	result, err := state.Capture.Result(ctx)
	if errors.Is(err, snapshot.ErrNone) && !state.Whole { // it is written from time to time
		result, err = &judgment.Result{}, nil
	}
	if err != nil {
		return nil, err
	}
	if newer := state.Capture.Head().Counts; newer != nil {
		result.Counts = *newer
	}
	result.Captures, result.Live = []string{cli.ShownName(state.Info.Name)}, state.Info.Live || !state.Whole
	result.Note(state.Info)
	result.Found = [analysis.Error + 1]int{}
	for f, err := range state.Capture.Findings(ctx, 0) {
		if err != nil {
			return nil, err
		}
		verdict.InWorkflow(t.links, f.Finding)
		result.Found[f.Severity]++
		result.Findings = append(result.Findings, *f.Finding)
	}
	whole := &judgment.Result{}
	whole.Add(result)
	whole.Explain()
	return whole, nil
}
