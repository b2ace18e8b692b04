package snapshot

import (
	"maps"
	"slices"
	"time"

	"a2atap/analyzer/judgment"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// result encodes a result, except for its findings and its capture's own statements.
func (c codec) result(r *judgment.Result) {
	n := &r.Counts
	c.small(&n.Exchanges, &n.Judged, &n.Forgotten, &n.Streams, &n.Events, &n.Calls, &n.Failed, &n.Unseen, &n.Made, &n.Unproved)
	c.signed(&n.Lost)
	c.texts(&r.Critical.Gone)
	c.texts(&r.Critical.NeverReached)
	for i := range r.Found {
		c.small(&r.Found[i])
	}
	each(c, &r.Coverage, func(v *judgment.Coverage) {
		c.rule(&v.Rule)
		c.link(&v.Link)
		c.flags(&v.Notifications)
		c.small(&v.Applied, &v.Broken)
	})
	each(c, &r.Calls, func(v *judgment.Calls) {
		c.link(&v.Link)
		c.small(&v.Made, &v.Succeeded, &v.Failed, &v.Refused, &v.Exchanges, &v.Missing, &v.Foreign, &v.Touched, &v.Cards,
			&v.Tasks, &v.Answers, &v.TasksFailed)
		c.text(&v.Card, &v.Unusable, &v.Server)
		octet(c, &v.Offered)
		octet(c, &v.Spoken)
		c.texts(&v.Offers)
		c.flags(&v.Unheard, &v.Unproved, &v.Named, &v.OverGRPC)
		for _, by := range []*map[string]int{&v.Failures, &v.Refusals, &v.Ends} {
			counted(c, by, func(name *string) { c.text(name) })
		}
	})
	if r.Calls == nil && c.r != nil {
		r.Calls = []judgment.Calls{} // as the engine has it
	}
	each(c, &r.FailedCalls, func(v *judgment.FailedCalls) {
		c.number(&v.Exchange)
		c.numbers(&v.Others)
		c.link(&v.Link)
		octet(c, &v.Binding)
		words := 5
		if c.small(&words); c.r != nil {
			c.r.known(words == 5)
		}
		c.text(&v.Operation, &v.Error, &v.Code, &v.Text, &v.Cause)
		c.flags(&v.Refused, &v.Task, &v.Other)
		c.small(&v.Count)
	})
	each(c, &r.NotSeen, func(v *judgment.NotSeen) {
		c.text(&v.What, &v.Why)
		c.flags(&v.Decides)
		c.number(&v.Exchange)
		c.small(&v.Count)
		c.crash(&v.Crash)
	})
	each(c, &r.Remarks, func(v *judgment.Remark) {
		about := string(v.About)
		c.text(&about, &v.Text)
		c.number(&v.Exchange)
		v.About = judgment.Subject(about)
	})
	each(c, &r.Agents, c.agent)
}

// crash lays out the end of a recorder, if one was killed.
func (c codec) crash(of **capture.Crash) {
	killed := *of != nil
	if c.flags(&killed); !killed {
		return
	}
	if c.r != nil {
		*of = &capture.Crash{}
	}
	crash := *of
	known, at := !crash.After.IsZero(), crash.After.UnixNano()
	if c.flags(&known); known {
		c.signed(&at)
		crash.After = time.Unix(0, at).UTC()
	}
	c.took(&crash.Within)
}

func (c codec) agent(a *judgment.Agent) {
	c.text(&a.Link, &a.URL, &a.Name, &a.Version, &a.BadCard)
	asked, contacts := a.Operations != nil, a.Contacts != nil
	c.flags(&a.Streaming, &a.Push, &asked, &contacts)
	c.operations(&a.Operations)
	if asked && a.Operations == nil {
		a.Operations = make(map[a2a.Operation]int)
	}
	c.small(&a.Completed, &a.Refused)
	if contacts && a.Contacts == nil {
		a.Contacts = make(map[string]judgment.Contact)
	}
	names := slices.Sorted(maps.Keys(a.Contacts))
	each(c, &names, func(name *string) {
		one := a.Contacts[*name]
		c.text(name)
		c.operations(&one.Operations)
		asked := one.Operations != nil
		if c.flags(&asked); asked && one.Operations == nil {
			one.Operations = make(map[a2a.Operation]int)
		}
		if c.small(&one.AtOnce); c.r != nil && contacts {
			a.Contacts[*name] = one
		}
	})
}

func (c codec) operations(by *map[a2a.Operation]int) {
	counted(c, by, func(op *a2a.Operation) { octet(c, op) })
}
