package judged

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"a2atap/analyzer"
	"a2atap/analyzer/kept"
	"a2atap/analyzer/report/parts"
	"a2atap/analyzer/track/workflow"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
)

// A census names those who talk in a capture, and knows what caused what.
type census struct {
	clients, names map[string]bool // of clients and agents
	Links          *workflow.Index
}

// NewCensus returns a census of nobody.
func NewCensus() *census {
	return &census{clients: make(map[string]bool), names: make(map[string]bool), Links: &workflow.Index{}}
}

// add takes the ends of an exchange.
func (c *census) add(client, agent string) { c.clients[client], c.names[agent] = true, true }

// Options returns those with which an engine tells what caused what.
func (c *census) Options(options []analyzer.EngineOption) []analyzer.EngineOption {
	return append(slices.Clip(options), workflow.Into(c.Links.Put)...)
}

// known names the agents and clients of a capture.
func (c *census) known(name string) string {
	list := func(names map[string]bool) string {
		const most = 10
		all := slices.Sorted(maps.Keys(names))
		text := analyzer.Clean(strings.Join(all[:min(len(all), most)], ", "))
		if len(all) > most {
			text += fmt.Sprintf(" and %d more", len(all)-most)
		}
		return text
	}
	if len(c.names) == 0 {
		return name + " has no exchange"
	}
	return fmt.Sprintf("%s has the agents %s and the clients %s", name, list(c.names), list(c.clients))
}

// Apply leaves in the result what is chosen: findings, and the counts of exchanges and calls. What a filter asks of
// findings chooses among these alone: that there are none of them is an answer.
func (s Selection) Apply(ctx context.Context, j *Capture, r *analyzer.Result) error {
	if s.All() {
		return nil
	}
	if s.Judged {
		if err := s.findings(ctx, j, r); err != nil || s.agent == "" {
			return err
		}
		var err error
		if s, err = ParseSelection("", s.agent); err != nil {
			return err
		}
	}
	choice, err := s.Choose(ctx, j, r, func(row *kept.Row) bool { return row.Judged })
	if err != nil {
		return err
	}
	s.Leave(r, choice)
	return nil
}

// findings leaves in the result those findings whose exchange is chosen.
func (s Selection) findings(ctx context.Context, j *Capture, r *analyzer.Result) error {
	var chosen cli.Set
	if err := s.readNotes(ctx, j.Source); err != nil {
		return err
	}
	if s.Linked {
		var err error
		if s.Links, err = j.AllLinks(ctx); err != nil {
			return err
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(groupFindings(r.Findings))) {
		row, err := j.Row(ctx, seq)
		if err != nil {
			return err
		}
		if row == nil {
			continue
		}
		is, err := j.Match(ctx, s, row)
		if err != nil {
			return err
		}
		if is {
			chosen.Add(seq)
		}
	}
	r.Keep(func(f *analyzer.Finding) bool { return chosen.Has(f.Place.Exchange) })
	return nil
}

// Choose returns what is chosen of a result, for a filter that asks for no findings. Judged tells which exchanges were.
func (s Selection) Choose(
	ctx context.Context, j *Capture, r *analyzer.Result, judged func(*kept.Row) bool,
) (*parts.Choice, error) {
	var result analyzer.Result
	var chosen cli.Set
	n := 0
	err := j.Choose(ctx, s, 1, math.MaxUint64, func(row *kept.Row, is bool) bool {
		if is {
			n++
			chosen.Add(row.Seq)
			summary := row.Summary
			summary.Judged = judged(row)
			result.Count(summary)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	choice := &parts.Choice{
		Exchanges: result.Counts.Exchanges, Judged: result.Counts.Judged, Calls: result.Calls,
		LeftOut: make(map[uint64]bool),
	}
	for i := range r.Findings {
		if at := r.Findings[i].Place.Exchange; !chosen.Has(at) {
			choice.LeftOut[at] = true
		}
	}
	if n == 0 {
		choice.Nothing = s.Nothing(ctx, j.Source)
	}
	return choice, nil
}

// Leave leaves in the result what is chosen.
func (s Selection) Leave(r *analyzer.Result, choice *parts.Choice) {
	r.Keep(func(f *analyzer.Finding) bool { return !choice.LeftOut[f.Place.Exchange] })
	r.Counts.Exchanges, r.Counts.Judged = choice.Exchanges, choice.Judged
	r.Calls = choice.Calls
	if s.agent != "" {
		r.Coverage = slices.DeleteFunc(r.Coverage, func(v analyzer.Coverage) bool { return v.Link.Agent != s.agent })
		r.Agents = slices.DeleteFunc(r.Agents, func(a analyzer.Agent) bool { return a.Link != s.agent })
	}
	if choice.Nothing != "" {
		r.Coverage, r.Agents, r.Nothing = nil, nil, choice.Nothing
	}
}

// Nothing says that nothing is chosen, and what there is, for a command that does not judge; "" if all is chosen.
func (s Selection) Nothing(ctx context.Context, src capture.Source) string {
	if s.All() {
		return ""
	}
	c := NewCensus()
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil {
			return ""
		}
		c.add(x.Client.Name, x.Agent.Name)
	}
	info, err := src.Info(ctx)
	if err != nil {
		return ""
	}
	return "nothing matches " + s.String() + s.suggestion() + "; " + c.known(info.Name)
}

// String returns the flags that make the selection.
func (s Selection) String() string {
	var flags []string
	if s.agent != "" {
		flags = append(flags, "--agent "+s.agent)
	}
	if f := s.filter.String(); f != "" {
		flags = append(flags, "--filter '"+f+"'")
	}
	return strings.Join(flags, " and ")
}
