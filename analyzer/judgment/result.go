// Package judgment has the results of checking captures: the findings, the coverage on each link, the outcome of the
// calls, and the verdict in one word.
package judgment

import (
	"cmp"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
)

// A Result is the result of checking one or more captures.
type Result struct {
	Captures  []string           // their names
	Findings  []analysis.Finding // empty if the findings were passed on as they were made
	Critical  Critical
	Found     [analysis.Error + 1]int // the number for each severity, passed on or not
	Baselined int                     // known findings that were dropped
	Coverage  []Coverage              // of each link; see OtherClients
	Counts    Counts
	Calls     []Calls // of each link with traffic
	Around    []Calls // of all links of the captures, if a filter excluded some of Calls; else nil
	Agents    []Agent
	// calls that failed or were refused, and tasks that ended badly, grouped by failure; unseen traffic
	FailedCalls []FailedCalls
	NotSeen     []NotSeen
	Remarks     []Remark
	Nothing     string          // why the filter selects nothing; empty if it selects something
	Selection   Selection       // the part that the filter selects
	Live        bool            // a capture was still growing: the result so far
	Crashes     []capture.Crash // of captures whose recorder was killed, the last of each
	Insecure    bool            // agents of a capture were not verified
}

// A Selection describes the part of the captures that a result is about. The zero Selection is everything.
type Selection struct {
	By       string // the flags that select
	Findings bool   // they select findings only, and do not affect the counts of exchanges and calls
	Of       int    // the number of all exchanges, selected or not
}

// Add appends another capture's result to r. Coverage of the same rule on the same link is added up.
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
	r.Selection = Selection{
		cmp.Or(r.Selection.By, other.Selection.By), r.Selection.Findings || other.Selection.Findings, r.Selection.Of + other.Selection.Of,
	}
	r.Critical.merge(other.Critical)
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
	r.Around = append(r.Around, other.Around...)
	failed := slices.Clone(other.FailedCalls)
	for i := range failed {
		if failed[i].Capture == "" && len(other.Captures) == 1 {
			failed[i].Capture = other.Captures[0]
		}
	}
	r.addAccount(failed, other.NotSeen)
	for _, remark := range other.Remarks {
		if remark.Capture == "" && len(other.Captures) == 1 {
			remark.Capture = other.Captures[0]
		}
		r.Remarks = append(r.Remarks, remark)
	}
	for _, a := range other.Agents {
		r.addAgent(a)
	}
}

func (r *Result) addCoverage(other []Coverage) {
	key := func(c Coverage) Coverage {
		return Coverage{Rule: c.Rule, Link: c.Link, Notifications: c.Notifications}
	}
	known := make(map[Coverage]int, len(r.Coverage))
	for i, c := range r.Coverage {
		known[key(c)] = i
	}
	for _, c := range other {
		i, ok := known[key(c)]
		if !ok {
			r.Coverage = append(r.Coverage, c)
			continue
		}
		r.Coverage[i].Applied += c.Applied
		r.Coverage[i].Broken += c.Broken
	}
}

func (r *Result) addCalls(other []Calls) {
	known := make(map[analysis.Link]int, len(r.Calls))
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
		r.Calls[at].Merge(&other[i])
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
				known.Contacts[client] = known.Contacts[client].Add(contact)
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

// Note adds a capture's own gaps.
func (r *Result) Note(info capture.Info) {
	r.Counts.Lost = max(r.Counts.Lost, info.LostExchanges)
	r.Insecure = info.Insecure
	if info.Crashes > 0 {
		r.Crashes = append(r.Crashes, info.Crash)
	}
}

// Take adds a finding, instead of the findings that it revises, and with the rules that these covered.
func (r *Result) Take(f analysis.Finding) {
	if !f.Revises {
		r.Findings = append(r.Findings, f)
		return
	}
	at := len(r.Findings)
	kept := r.Findings[:0]
	for _, g := range r.Findings {
		if !f.Replace(&g) {
			kept = append(kept, g)
			continue
		}
		at = min(at, len(kept))
	}
	f.Revises = false
	r.Findings = slices.Insert(kept, min(at, len(kept)), f)
}

// Settle marks all findings as final: no revision will follow.
func (r *Result) Settle() {
	for i := range r.Findings {
		r.Findings[i].Unsettled = false
	}
}

// Keep drops the findings for which keep returns false.
func (r *Result) Keep(keep func(*analysis.Finding) bool) {
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

// Choose restricts calls, failures and unseen traffic to the selected exchanges, and counts only those. If all
// exchanges of a link are selected, its calls stay as they are, since other exchanges may show their outcome. If only
// some are, the link works if any of its calls succeeded, selected or not.
func (r *Result) Choose(counted []Calls, chosen func(exchange uint64) bool) {
	r.Around = r.Calls
	r.Calls = slices.Clone(counted)
	for i := range r.Calls {
		c := &r.Calls[i]
		all := slices.IndexFunc(r.Around, func(d Calls) bool { return d.Link == c.Link })
		switch {
		case all < 0:
		case r.Around[all].Exchanges == c.Exchanges:
			*c = r.Around[all]
		default:
			c.Works = r.Around[all].Succeeded > 0
		}
	}
	r.FailedCalls = slices.DeleteFunc(slices.Clone(r.FailedCalls), func(f FailedCalls) bool {
		return !chosen(f.Exchange) && !slices.ContainsFunc(f.Others, chosen)
	})
	r.Remarks = slices.DeleteFunc(slices.Clone(r.Remarks), func(m Remark) bool { return !chosen(m.Exchange) })
	r.NotSeen = slices.DeleteFunc(slices.Clone(r.NotSeen), func(n NotSeen) bool { return n.Exchange != 0 && !chosen(n.Exchange) })
}

// Accept marks the known failed calls, and returns their number. They are still counted, but do not make a link
// failing.
func (r *Result) Accept(known func(*FailedCalls) bool) (n int) {
	at, counted := make(map[analysis.Link]*Calls), r.Counted()
	for i := range r.Calls {
		at[r.Calls[i].Link] = &r.Calls[i]
	}
	for i := range r.FailedCalls {
		f := &r.FailedCalls[i]
		c := cmp.Or(at[f.Link], at[counted(f.Link)])
		if c == nil || f.Other || f.Refused && c.Succeeded > 0 || f.Known || !known(f) {
			continue
		}
		f.Known = true
		switch n += f.Count; {
		case f.Task:
			c.TasksKnown += f.Count
		case f.Refused:
			c.Waived += f.Count
		default:
			c.Known += f.Count
		}
	}
	return n
}

// Count adds exchanges to the counts of exchanges and calls, in the order in which they ended. Call it last.
func (r *Result) Count(list ...summary.Summary) {
	var calls []Calls
	var account Account
	for i := range list {
		x := &list[i]
		r.Counts.Exchanges++
		if x.Judged {
			r.Counts.Judged++
		}
		if x.Unseen {
			r.Counts.Unseen++
		}
		if x.FaultMade != "" {
			r.Counts.Made++
		}
		calls = append(append(calls, account.Take(x)), account.Changed()...)
	}
	if !r.Live {
		calls = append(calls, account.Close()...)
	}
	r.addCalls(calls)
	r.addAccount(account.Failed(), account.Gaps())
	r.Remarks = append(r.Remarks, account.Remarks()...)
}

// addAccount adds the facts of an account.
func (r *Result) addAccount(failed []FailedCalls, gaps []NotSeen) {
	var all failures
	for _, f := range slices.Concat(r.FailedCalls, failed) {
		all.add(f)
	}
	r.FailedCalls = all.list
	for _, g := range gaps {
		r.NotSeen = addGap(r.NotSeen, g)
	}
}

// Counted returns a function that maps a link to the link of Coverage that counts it: itself, or the combined one.
func (r *Result) Counted() func(analysis.Link) analysis.Link {
	has := make(map[analysis.Link]bool)
	for i := range r.Coverage {
		has[r.Coverage[i].Link] = true
	}
	return func(l analysis.Link) analysis.Link {
		others, all := analysis.Link{Client: OtherClients, Agent: l.Agent}, analysis.Link{Client: OtherClients, Agent: OtherAgents}
		switch {
		case has[l]:
		case has[others]:
			return others
		case has[all]:
			return all
		}
		return l
	}
}

// A Ledger counts findings by severity as they are made. The zero Ledger is empty.
type Ledger struct {
	Found    [analysis.Error + 1]int
	Critical Critical

	provisional map[revision][analysis.Error + 1]int
	unsettled   []analysis.Finding
}

// A revision identifies the findings that a finding revises.
type revision struct {
	rule *analysis.Rule
	link analysis.Link
}

// Add counts a finding in place of the findings that it revises.
func (l *Ledger) Add(f *analysis.Finding) {
	l.Found[f.Severity]++
	l.Critical.add(f.Rule.Critical, f.Programs().Agent)
	if !f.Rule.Revises {
		l.settle(f)
		return
	}
	key := revision{f.Rule, f.Link}
	counts := l.provisional[key]
	if f.Revises {
		for s, n := range counts {
			l.Found[s] -= n
		}
		counts = [analysis.Error + 1]int{}
	}
	counts[f.Severity]++
	if l.provisional == nil {
		l.provisional = make(map[revision][analysis.Error + 1]int)
	}
	l.provisional[key] = counts
}

// settle subtracts the findings that a finding revises, and remembers the finding if it may be revised itself.
func (l *Ledger) settle(f *analysis.Finding) {
	if f.Revises {
		l.unsettled = slices.DeleteFunc(l.unsettled, func(g analysis.Finding) bool {
			revised := f.TakesPlaceOf(&g)
			if revised {
				l.Found[g.Severity]--
			}
			return revised
		})
	}
	if f.Unsettled {
		l.unsettled = append(l.unsettled, *f)
	}
}
