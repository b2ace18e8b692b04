package parts

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
)

// Of returns what judging a part of one capture came to. The findings must be as the engine has made them: Settle has
// not been called. The choice is nil if everything is chosen.
func Of(r *analyzer.Result, choice *Choice) Capture {
	c := Capture{
		Name: text(r.Captures[0]), Steps: r.Portion.Steps, Sum: r.Portion.Sum, Counts: counts(r.Counts),
		Live: r.Live, Insecure: r.Insecure, Calls: ofCalls(r.Calls),
		Findings: []finding{}, Coverage: []coverage{}, Agents: []agent{},
	}
	for i := range r.Findings {
		f := ofFinding(&r.Findings[i])
		f.LeftOut = choice != nil && choice.LeftOut[f.Place.Exchange]
		c.Findings = append(c.Findings, f)
	}
	for _, v := range r.Coverage {
		c.Coverage = append(c.Coverage, coverage{v.Rule.ID, ofLink(v.Link), v.Applied, v.Broken})
	}
	for i := range r.Agents {
		c.Agents = append(c.Agents, ofAgent(&r.Agents[i]))
	}
	for _, v := range r.Crashes {
		c.Crashes = append(c.Crashes, crash(v))
	}
	if choice != nil {
		c.Chosen = &chosen{choice.Exchanges, choice.Judged, ofCalls(choice.Calls), text(choice.Nothing)}
	}
	return c
}

func ofFinding(f *analyzer.Finding) finding {
	out := finding{
		Step: f.Order.Step, Index: f.Order.Index, Rule: f.Rule.ID, Severity: f.Severity.String(), Side: f.Side.String(),
		Dialects: f.Dialects.String(), Binding: f.Binding.String(), Operation: f.Operation.String(), Link: ofLink(f.Link),
		ExchangeID: f.ExchangeID, Place: ofPlace(f.Place), Seen: text(f.Seen), Expected: text(f.Expected),
		Message: text(f.Message), Also: f.Also, Revises: f.Revises, Within: f.Within.String(),
		Workflow: f.Workflow.Number, Others: f.Workflow.Others,
	}
	if f.Weight != nil {
		out.Weight = f.Weight.ID
	}
	return out
}

func ofPlace(p analyzer.Place) place {
	out := place{Exchange: p.Exchange, Response: p.Response, Part: text(p.Part)}
	if p.HasPointer {
		pointer := text(p.Pointer)
		out.Pointer = &pointer
	}
	return out
}

func ofLink(l analyzer.Link) link { return link{text(l.Client), text(l.Agent)} }

func ofCalls(list []analyzer.Calls) []calls {
	out := []calls{}
	for i := range list {
		c := &list[i]
		one := calls{
			Link: ofLink(c.Link), Made: c.Made, Succeeded: c.Succeeded, Failed: c.Failed,
			Unheard: c.Unheard, Unproved: c.Unproved,
		}
		for _, name := range slices.Sorted(maps.Keys(c.Failures)) {
			one.Failures = append(one.Failures, count{text(name), c.Failures[name]})
		}
		out = append(out, one)
	}
	return out
}

func ofAgent(a *analyzer.Agent) agent {
	out := agent{
		Link: text(a.Link), URL: text(a.URL), Name: text(a.Name), Version: text(a.Version), Streaming: a.Streaming,
		Push: a.Push, Operations: ofOperations(a.Operations), Completed: a.Completed, Refused: a.Refused,
		BadCard: text(a.BadCard), Contacts: []contact{},
	}
	for client, c := range a.Contacts {
		out.Contacts = append(out.Contacts, contact{text(client), ofOperations(c.Operations), c.AtOnce})
	}
	slices.SortFunc(out.Contacts, func(a, b contact) int { return cmp.Compare(a.Client, b.Client) })
	return out
}

func ofOperations(operations map[a2a.Operation]int) []count {
	out := []count{}
	for op, n := range operations {
		out = append(out, count{text(op.String()), n})
	}
	slices.SortFunc(out, func(a, b count) int { return strings.Compare(string(a.Name), string(b.Name)) })
	return out
}
