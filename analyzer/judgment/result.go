// Package judgment says what judging one or more captures came to: what was found, what was observed on which link, how
// the calls came out, and the verdict in one word.
package judgment

import (
	"cmp"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
)

// A Result is what judging one or more captures came to.
type Result struct {
	Captures  []string           // their names
	Findings  []analysis.Finding // none if they were handed out as they were made
	Critical  Critical
	Found     [analysis.Error + 1]int // how many there are of each severity, handed out or not
	Baselined int                     // findings that were dropped since they are known
	Coverage  []Coverage              // of each link; see OtherClients
	Counts    Counts
	Calls     []Calls // of each link on which anything passed
	Around    []Calls // of all links of the captures, where a filter has left some of Calls; nil if it has not
	Agents    []Agent
	// calls that failed or were refused, and tasks that ended badly, those together that are alike; what was not seen
	FailedCalls []FailedCalls
	NotSeen     []NotSeen
	Nothing     string          // why nothing was chosen of what was judged; empty if something was
	Live        bool            // a capture was still growing: this is what has happened so far
	Crashes     []capture.Crash // of captures whose recorder was killed, the last of each
	Insecure    bool            // agents of a capture were not verified
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

// Note takes what a capture says of its gaps.
func (r *Result) Note(info capture.Info) {
	r.Counts.Lost = max(r.Counts.Lost, info.LostExchanges)
	r.Insecure = info.Insecure
	if info.Crashes > 0 {
		r.Crashes = append(r.Crashes, info.Crash)
	}
}

// Take adds a finding, in the place of those that it revises, with the rules that these have covered.
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

// Settle says that no finding will come that revises others.
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

// Choose leaves what is chosen of the calls, of what failed, and of what was not seen. Counted are the chosen exchanges
// alone: where all of a link are chosen, its calls stay as they are, since other exchanges tell how they came out.
func (r *Result) Choose(counted []Calls, chosen func(exchange uint64) bool) {
	r.Around = r.Calls
	r.Calls = slices.Clone(counted)
	for i := range r.Calls {
		c := &r.Calls[i]
		all := slices.IndexFunc(r.Around, func(d Calls) bool { return d.Link == c.Link })
		if all >= 0 && r.Around[all].Exchanges == c.Exchanges {
			*c = r.Around[all]
		}
	}
	r.FailedCalls = slices.DeleteFunc(slices.Clone(r.FailedCalls), func(f FailedCalls) bool {
		return !chosen(f.Exchange) && !slices.ContainsFunc(f.Others, chosen)
	})
	r.NotSeen = slices.DeleteFunc(slices.Clone(r.NotSeen), func(n NotSeen) bool { return n.Exchange != 0 && !chosen(n.Exchange) })
}

// Accept marks the failed calls that are known, and returns how many there are. They are counted all the same, but
// nothing is wrong with a link because of them.
func (r *Result) Accept(known func(*FailedCalls) bool) (n int) {
	at, counted := make(map[analysis.Link]*Calls), r.Counted()
	for i := range r.Calls {
		at[r.Calls[i].Link] = &r.Calls[i]
	}
	for i := range r.FailedCalls {
		f := &r.FailedCalls[i]
		c := cmp.Or(at[f.Link], at[counted(f.Link)])
		if c == nil || f.Refused && c.Succeeded > 0 || f.Known || !known(f) {
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

// Count adds exchanges to the counts of exchanges and calls, in the order in which they ended. None may follow that is
// counted so.
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
}

// addAccount adds what an account says.
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

// Counted returns a function that tells as which link of Coverage a link is counted: itself, unless it is among the
// others.
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

// A revision is what a finding that revises others has in common with them.
type revision struct {
	rule *analysis.Rule
	link analysis.Link
}

// Add counts a finding, in the place of those that it revises.
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

// settle takes what a finding revises from the counts, and notes it if it may be revised itself.
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
