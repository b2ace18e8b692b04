package kept

import (
	"maps"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/proxy/a2a"
)

// result writes a result, but for its findings and what its capture says of itself.
func (e *encoder) result(r *judgment.Result) {
	c := &r.Counts
	for _, n := range []int{c.Exchanges, c.Judged, c.Forgotten, c.Streams, c.Events, c.Calls, c.Failed, c.Unseen, c.Made, c.Unproved} {
		e.count(n)
	}
	e.signed(c.Lost)
	e.list(r.Critical)
	for _, n := range r.Found {
		e.count(n)
	}
	e.count(len(r.Coverage))
	for i := range r.Coverage {
		v := &r.Coverage[i]
		e.text(v.Rule.ID)
		e.link(v.Link)
		e.count(v.Applied)
		e.count(v.Broken)
	}
	e.count(len(r.Calls))
	for i := range r.Calls {
		v := &r.Calls[i]
		e.link(v.Link)
		e.count(v.Made)
		e.count(v.Succeeded)
		e.count(v.Failed)
		for _, n := range []int{
			v.Refused, v.Exchanges, v.Missing, v.Foreign, v.Touched, v.Cards, v.Tasks, v.Answers, v.TasksFailed,
		} {
			e.count(n)
		}
		e.text(v.Card)
		e.text(v.Unusable)
		e.flags(v.Unheard, v.Unproved)
		e.counted(v.Failures)
		e.counted(v.Refusals)
		e.counted(v.Ends)
	}
	e.count(len(r.FailedCalls))
	for i := range r.FailedCalls {
		v := &r.FailedCalls[i]
		e.number(v.Exchange)
		e.count(len(v.Others))
		for _, n := range v.Others {
			e.number(n)
		}
		e.link(v.Link)
		e.octet(byte(v.Binding))
		e.list([]string{v.Operation, v.Error, v.Code, v.Text})
		e.flags(v.Refused, v.Task)
		e.count(v.Count)
	}
	e.count(len(r.NotSeen))
	for i := range r.NotSeen {
		v := &r.NotSeen[i]
		e.text(v.What)
		e.text(v.Why)
		e.number(v.Exchange)
		e.count(v.Count)
	}
	e.count(len(r.Agents))
	for i := range r.Agents {
		e.agent(&r.Agents[i])
	}
}

func (e *encoder) counted(by map[string]int) {
	e.count(len(by))
	for _, name := range slices.Sorted(maps.Keys(by)) {
		e.text(name)
		e.count(by[name])
	}
}

func (d *decoder) counted() map[string]int {
	n := d.count()
	if n == 0 {
		return nil
	}
	by := make(map[string]int)
	for range n {
		name := d.text()
		by[name] = d.small()
	}
	return by
}

func (e *encoder) agent(a *judgment.Agent) {
	for _, s := range []string{a.Link, a.URL, a.Name, a.Version, a.BadCard} {
		e.text(s)
	}
	e.flags(a.Streaming, a.Push, a.Operations != nil, a.Contacts != nil)
	e.operations(a.Operations)
	e.count(a.Completed)
	e.count(a.Refused)
	e.count(len(a.Contacts))
	for name, c := range a.Contacts {
		e.text(name)
		e.operations(c.Operations)
		e.flags(c.Operations != nil)
		e.count(c.AtOnce)
	}
}

func (e *encoder) operations(m map[a2a.Operation]int) {
	e.count(len(m))
	for op, n := range m {
		e.octet(byte(op))
		e.count(n)
	}
}

func (d *decoder) operations() map[a2a.Operation]int {
	m := make(map[a2a.Operation]int)
	for range d.count() {
		op := a2a.Operation(d.octet())
		m[op] = d.small()
	}
	return m
}

func (d *decoder) result(rules map[string]*analysis.Rule) *judgment.Result {
	r := &judgment.Result{}
	c := &r.Counts
	for _, n := range []*int{&c.Exchanges, &c.Judged, &c.Forgotten, &c.Streams, &c.Events, &c.Calls, &c.Failed, &c.Unseen, &c.Made, &c.Unproved} {
		*n = d.small()
	}
	c.Lost = d.signed()
	r.Critical = d.list()
	for i := range r.Found {
		r.Found[i] = d.small()
	}
	for range d.count() {
		r.Coverage = append(r.Coverage, judgment.Coverage{Rule: d.rule(rules), Link: d.link(), Applied: d.small(), Broken: d.small()})
	}
	if r.Calls = make([]judgment.Calls, 0); d.err != nil {
		return r
	}
	for range d.count() {
		v := judgment.Calls{Link: d.link(), Made: d.small(), Succeeded: d.small(), Failed: d.small()}
		for _, n := range []*int{
			&v.Refused, &v.Exchanges, &v.Missing, &v.Foreign, &v.Touched, &v.Cards, &v.Tasks, &v.Answers, &v.TasksFailed,
		} {
			*n = d.small()
		}
		v.Card = d.text()
		v.Unusable = d.text()
		d.flags(&v.Unheard, &v.Unproved)
		v.Failures, v.Refusals, v.Ends = d.counted(), d.counted(), d.counted()
		r.Calls = append(r.Calls, v)
	}
	for range d.count() {
		v := judgment.FailedCalls{Exchange: d.number()}
		for range d.count() {
			v.Others = append(v.Others, d.number())
		}
		v.Link, v.Binding = d.link(), a2a.Binding(d.octet())
		words := d.list()
		if d.known(len(words) == 4); d.err != nil {
			return r
		}
		v.Operation, v.Error, v.Code, v.Text = words[0], words[1], words[2], words[3]
		d.flags(&v.Refused, &v.Task)
		v.Count = d.small()
		r.FailedCalls = append(r.FailedCalls, v)
	}
	for range d.count() {
		r.NotSeen = append(r.NotSeen, judgment.NotSeen{What: d.text(), Why: d.text(), Exchange: d.number(), Count: d.small()})
	}
	for range d.count() {
		r.Agents = append(r.Agents, d.agent())
	}
	return r
}

func (d *decoder) agent() (a judgment.Agent) {
	a.Link, a.URL, a.Name, a.Version, a.BadCard = d.text(), d.text(), d.text(), d.text(), d.text()
	var operations, contacts bool
	d.flags(&a.Streaming, &a.Push, &operations, &contacts)
	if a.Operations = d.operations(); !operations {
		a.Operations = nil
	}
	a.Completed, a.Refused = d.small(), d.small()
	if contacts {
		a.Contacts = make(map[string]judgment.Contact)
	}
	for range d.count() {
		name := d.text()
		c := judgment.Contact{Operations: d.operations()}
		var has bool
		if d.flags(&has); !has {
			c.Operations = nil
		}
		if c.AtOnce = d.small(); a.Contacts != nil {
			a.Contacts[name] = c
		}
	}
	return a
}
