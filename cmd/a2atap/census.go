package main

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/report/parts"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
)

// agentName is what the name of an agent can look like: one that a user gave, or a host and a port.
var agentName = regexp.MustCompile(`^[A-Za-z0-9._:\[\]%-]+$`)

// A census is what judging a capture says of each exchange, so that those of a selection can be counted.
type census struct {
	ended          map[uint64]analyzer.Summary
	clients, names map[string]bool // of clients and agents
	links          *workflow.Index
}

func newCensus() *census {
	return &census{
		ended: make(map[uint64]analyzer.Summary), clients: make(map[string]bool), names: make(map[string]bool),
		links: &workflow.Index{},
	}
}

// add takes an exchange that is over.
func (c *census) add(x analyzer.Summary) {
	c.ended[x.Seq] = x
	c.clients[x.Link.Client], c.names[x.Link.Agent] = true, true
}

// options returns those with which an engine fills the census; where all is chosen, that is the workflows alone.
func (c *census) options(s selection, options []analyzer.EngineOption) []analyzer.EngineOption {
	options = append(slices.Clip(options), workflow.Into(c.links.Put)...)
	if !s.all() {
		options = append(options, analyzer.OnEnded(c.add))
	}
	return options
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

// apply leaves in the result what is chosen: findings, and the counts of exchanges and calls. What a filter asks of
// findings chooses among these alone: that there are none of them is an answer.
func (s selection) apply(ctx context.Context, src capture.Source, r *analyzer.Result, c *census) error {
	if s.all() {
		return nil
	}
	s.links = c.links
	if s.judged {
		if err := s.findings(ctx, src, r); err != nil || s.agent == "" {
			return err
		}
		s = selection{agent: s.agent}
	}
	choice, err := s.choose(ctx, src, r, c)
	if err != nil {
		return err
	}
	s.leave(r, choice)
	return nil
}

// choose returns what is chosen of a result, for a filter that asks for no findings.
func (s selection) choose(
	ctx context.Context, src capture.Source, r *analyzer.Result, c *census,
) (*parts.Choice, error) {
	s.links = c.links
	chosen, err := s.chosen(ctx, src, c)
	if err != nil {
		return nil, err
	}
	var list []analyzer.Summary
	for _, seq := range slices.Sorted(maps.Keys(chosen)) {
		list = append(list, c.ended[seq])
	}
	var result analyzer.Result
	result.Count(list...)
	choice := &parts.Choice{
		Exchanges: result.Counts.Exchanges, Judged: result.Counts.Judged, Calls: result.Calls,
		LeftOut: make(map[uint64]bool),
	}
	for i := range r.Findings {
		if at := r.Findings[i].Place.Exchange; !chosen[at] {
			choice.LeftOut[at] = true
		}
	}
	if len(chosen) == 0 {
		choice.Nothing = "nothing matches " + s.String() + s.meant() + "; " + c.known(r.Captures[0])
	}
	return choice, nil
}

// leave leaves in the result what is chosen.
func (s selection) leave(r *analyzer.Result, choice *parts.Choice) {
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

// chosen returns which exchanges are. Only a filter has to read them.
func (s selection) chosen(ctx context.Context, src capture.Source, c *census) (map[uint64]bool, error) {
	chosen := make(map[uint64]bool)
	if s.filter.String() == "" {
		for seq, x := range c.ended {
			if x.Link.Agent == s.agent {
				chosen[seq] = true
			}
		}
		return chosen, nil
	}
	if err := s.readNotes(ctx, src); err != nil {
		return nil, err
	}
	reader, err := newReader(ctx, src)
	if err != nil {
		return nil, err
	}
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil {
			return nil, err
		}
		if s.match(x, reading.Facts{Reading: reader.Read(x)}) {
			chosen[x.Seq] = true
		}
	}
	return chosen, nil
}

// nothing says that nothing is chosen, and what there is, for a command that does not judge; "" if all is chosen.
func (s selection) nothing(ctx context.Context, src capture.Source) string {
	if s.all() {
		return ""
	}
	c := newCensus()
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil {
			return ""
		}
		c.add(analyzer.Summary{Seq: x.Seq, Link: analyzer.Link{Client: x.Client.Name, Agent: x.Agent.Name}})
	}
	info, err := src.Info(ctx)
	if err != nil {
		return ""
	}
	return "nothing matches " + s.String() + s.meant() + "; " + c.known(info.Name)
}

// String returns the flags that make the selection.
func (s selection) String() string {
	var flags []string
	if s.agent != "" {
		flags = append(flags, "--agent "+s.agent)
	}
	if f := s.filter.String(); f != "" {
		flags = append(flags, "--filter '"+f+"'")
	}
	return strings.Join(flags, " and ")
}
