package parts

import (
	"fmt"
	"strings"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// A reader makes what was written out of its JSON form again. The first name that it does not know is its error.
type reader struct {
	rules map[string]*analyzer.Rule
	err   error
}

// Result returns what judging a part of the capture came to, and what is chosen of it: nil if everything is. Rules are
// those that there are. An error names what is not known.
func (c *Capture) Result(part analyzer.Part, rules []*analyzer.Rule) (*analyzer.Result, *Choice, error) {
	r := &reader{rules: make(map[string]*analyzer.Rule, len(rules))}
	for _, rule := range rules {
		r.rules[rule.ID] = rule
	}
	out := &analyzer.Result{
		Captures: []string{string(c.Name)}, Counts: analyzer.Counts(c.Counts), Calls: r.calls(c.Calls),
		Live: c.Live, Insecure: c.Insecure,
		Portion: analyzer.Portion{Part: part, Steps: c.Steps, Sum: c.Sum},
	}
	choice := &Choice{LeftOut: make(map[uint64]bool)}
	for i := range c.Findings {
		f := r.finding(&c.Findings[i])
		f.Capture = string(c.Name)
		out.Findings = append(out.Findings, f)
		if c.Findings[i].LeftOut {
			choice.LeftOut[f.Place.Exchange] = true
		}
	}
	for _, v := range c.Coverage {
		out.Coverage = append(out.Coverage, analyzer.Coverage{
			Rule: r.rule(v.Rule), Link: v.Link.link(), Applied: r.size(v.Applied), Broken: r.size(v.Broken),
		})
	}
	for i := range c.Agents {
		out.Agents = append(out.Agents, r.agent(&c.Agents[i]))
	}
	for _, v := range c.Crashes {
		out.Crashes = append(out.Crashes, capture.Crash(v))
	}
	if c.Chosen == nil {
		return out, nil, r.err
	}
	choice.Exchanges, choice.Judged = r.size(c.Chosen.Exchanges), r.size(c.Chosen.Judged)
	choice.Calls, choice.Nothing = r.calls(c.Chosen.Calls), string(c.Chosen.Nothing)
	return out, choice, r.err
}

func (r *reader) finding(f *finding) analyzer.Finding {
	out := analyzer.Finding{
		Order: analyzer.Order{Step: f.Step, Index: f.Index}, Rule: r.rule(f.Rule),
		Severity: named(r, "severity", f.Severity, analyzer.Error), Side: named(r, "side", f.Side, a2a.Receiver),
		Dialects: r.dialects(f.Dialects), Binding: named(r, "binding", f.Binding, a2a.GRPC),
		Operation: named(r, "operation", f.Operation, a2a.Webhook), Link: f.Link.link(), ExchangeID: f.ExchangeID,
		Place: f.Place.place(), Seen: string(f.Seen), Expected: string(f.Expected), Message: string(f.Message),
		Also: f.Also, Revises: f.Revises, Within: r.dialects(f.Within),
		Workflow: analyzer.Workflow{Number: f.Workflow, Others: f.Others},
	}
	for _, id := range f.Also {
		r.rule(id)
	}
	if f.Weight != "" {
		out.Weight = r.rule(f.Weight)
	}
	return out
}

func (p place) place() analyzer.Place {
	out := analyzer.Place{Exchange: p.Exchange, Response: p.Response, Part: string(p.Part)}
	if p.Pointer != nil {
		out.Pointer, out.HasPointer = string(*p.Pointer), true
	}
	return out
}

func (l link) link() analyzer.Link {
	return analyzer.Link{Client: string(l.Client), Agent: string(l.Agent)}
}

func (r *reader) calls(list []calls) []analyzer.Calls {
	var out []analyzer.Calls
	for _, c := range list {
		one := analyzer.Calls{
			Link: c.Link.link(), Made: r.size(c.Made), Succeeded: r.size(c.Succeeded), Failed: r.size(c.Failed),
			Unheard: c.Unheard, Unproved: c.Unproved,
		}
		for _, f := range c.Failures {
			if one.Failures == nil {
				one.Failures = make(map[string]int, len(c.Failures))
			}
			one.Failures[string(f.Name)] = r.size(f.Count)
		}
		out = append(out, one)
	}
	return out
}

func (r *reader) agent(a *agent) analyzer.Agent {
	out := analyzer.Agent{
		Link: string(a.Link), URL: string(a.URL), Name: string(a.Name), Version: string(a.Version),
		Streaming: a.Streaming, Push: a.Push, Operations: r.operations(a.Operations), Completed: r.size(a.Completed),
		Refused: r.size(a.Refused), BadCard: string(a.BadCard),
		Contacts: make(map[string]analyzer.Contact, len(a.Contacts)),
	}
	for _, c := range a.Contacts {
		out.Contacts[string(c.Client)] = analyzer.Contact{Operations: r.operations(c.Operations), AtOnce: r.size(c.AtOnce)}
	}
	return out
}

func (r *reader) operations(list []count) map[a2a.Operation]int {
	out := make(map[a2a.Operation]int, len(list))
	for _, c := range list {
		out[named(r, "operation", string(c.Name), a2a.Webhook)] = r.size(c.Count)
	}
	return out
}

func (r *reader) rule(id string) *analyzer.Rule {
	rule := r.rules[id]
	if rule == nil {
		r.fail("rule", id)
	}
	return rule
}

func (r *reader) dialects(name string) (set a2a.Dialects) {
	if name == "" {
		return 0
	}
	for one := range strings.SplitSeq(name, "/") {
		set |= a2a.Of(named(r, "dialect", one, a2a.V1_0))
	}
	return set
}

func (r *reader) size(n int) int {
	if n < 0 {
		r.fail("count", fmt.Sprint(n))
	}
	return n
}

func (r *reader) fail(what, name string) {
	if r.err == nil {
		r.err = fmt.Errorf("there is no %s %s", what, analyzer.QuoteText(name))
	}
}

// named returns the value of that name, up to the last that there is.
func named[T interface {
	~uint8
	fmt.Stringer
}](r *reader, what, name string, last T,
) T {
	for v := T(0); v <= last; v++ {
		if v.String() == name {
			return v
		}
	}
	r.fail(what, name)
	return 0
}
