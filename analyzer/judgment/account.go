package judgment

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/address"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
)

// Bounds of an account. Beyond them calls and gaps are counted, but not distinguished.
const (
	maxShown = 10_000 // tasks that agents have shown
	maxLeft  = 10_000 // streams that ended, or were open at the end, while their task was at work
	maxSent  = 10_000 // accepted notifications, and as many failed attempts

	maxReceivers = 1000 // links on which they accepted some
)

// LeftAtWork names the failure of a stream that ended while its task was at work, if no client resumed it or requested
// the task later.
const LeftAtWork = "ended at working"

// Reasons why the outcome of a stream's call is unknown.
const (
	openAtWork = "its stream was open when the recording ended, and its task active"

	// LeftEarly is the reason for a client that left a stream while its task was at work, if nothing showed the task later.
	LeftEarly = "its client left the stream while its task was active, and no later call or notification showed the task"
)

// An Account has the facts about exchanges that a verdict needs before any rules: the unseen traffic and the failed
// calls. It receives summaries of exchanges in the order in which they end, and remembers a bounded number of tasks.
// The zero Account is empty. It is not safe for concurrent use.
type Account struct {
	failed failures
	gaps   []NotSeen
	shown  *recent.Map[analysis.TaskKey, bool]        // whether the task was shown with an end
	left   *recent.Map[analysis.TaskKey, FailedCalls] // without an error if the call's outcome is unknown; see its text
	sent   deliveries
	worked workedOn
	last   *recent.Map[analysis.TaskKey, time.Time] // when the last exchange that showed a task began, by its id
	told   refusals
	led    redirects
	// by program: its last failed call of a model or an MCP server
	mishaps *recent.Map[string, mishap]
	remarks remarks
	// about the exchange taken last, for another link
	changed []Calls
}

// Take counts an exchange that has ended, or is open at the end of the recording. It returns what the exchange adds to
// the calls of its link.
func (a *Account) Take(s *summary.Summary) Calls {
	c := Calls{
		Link: s.Link, Exchanges: 1, Server: address.Server(s.AgentURL), Offers: s.Offers,
		Named: s.How != "" && !(&capture.Peer{How: s.How}).Anonymous(), OverGRPC: s.Call && s.Binding == a2a.GRPC,
	}
	a.changed = nil
	if isNeighbor(s) {
		a.remarks.neighbor(s)
		a.countNeighbor(s)
		return Calls{Link: s.Link}
	}
	a.shownAfter(s)
	a.cameAfter(&c, s)
	switch {
	case s.FaultMade != "":
		if s.Operation != a2a.NoOperation && s.Operation != a2a.GetCard && s.Operation != a2a.Webhook {
			c.Touched = 1
		}
		return c
	case s.Fault != nil && s.Fault.Kind == "unsolicited":
		a.gaps = addGap(a.gaps, NotSeen{What: seenInPart, Why: unsolicited(s.Fault), Exchange: s.Seq, Count: 1})
	case grpc.IsOwn(s.Target): // gRPC's own services need not be seen
	case s.Missing != "":
		c.Missing = 1
		a.gaps = addGap(a.gaps, NotSeen{What: seenInPart, Why: s.Missing, Exchange: s.Seq, Count: 1, Decides: s.InPart})
	case s.Call:
	case s.Card:
		c.Cards, c.Card, c.Unusable, c.Offered = 1, uselessCard(s), s.Unusable, s.Offered
	case s.Operation == a2a.NoOperation && s.Binding == a2a.NoBinding && !s.Push:
		c.Foreign = 1
	}
	for _, note := range s.Notes {
		if address, reason, ok := pastUs(note); ok {
			a.gaps = addGap(a.gaps, NotSeen{
				What: "traffic to " + address, Why: "the card of " + s.Link.Agent + " offers it, and it is not tapped" + reason,
				Exchange: s.Seq, Count: 1,
			})
		}
	}
	if s.Operation == a2a.Webhook {
		a.sent.take(s)
		if openAtEnd(s) && !s.Outcome.Known() {
			a.gaps = addGap(a.gaps, NotSeen{What: seenInPart, Why: openWhenEnded, Exchange: s.Seq, Count: 1})
		}
	}
	a.tasks(&c, s)
	a.remarks.over(s, a.worked.keys.of(s.Programs().Agent, s.Task))
	if !s.Call {
		return c
	}
	calls := s.Batch
	if len(calls) == 0 {
		calls = []summary.Member{{
			Asked: s.Asked, Operation: s.Operation, Task: s.Task, Outcome: s.Outcome, Text: withCredentials(s, s.FailureText()),
		}}
		if len(s.Errors) > 0 {
			calls[0].Error, calls[0].Code = s.Errors[0].Name, s.Errors[0].CodeText()
		}
	}
	for i := range calls {
		a.call(&c, s, &calls[i])
	}
	if s.Outcome.Succeeded {
		c.Spoken = s.Dialects
	}
	if why := whyUnknown(s); why != "" && !a.led.take(s, &calls[0]) {
		a.gaps = addGap(a.gaps, NotSeen{What: seenInPart, Why: why, Exchange: s.Seq, Count: 1})
	}
	if s.Outcome.Succeeded && len(s.Batch) == 0 { // a batch also names tasks that do not exist
		for _, id := range s.Tasks {
			a.remember(s.Link.Agent, id, len(s.Tasks) == 1 && s.State.Terminal())
		}
	}
	return c
}

// Changed returns what the last exchange passed to Take adds to the calls of another link.
func (a *Account) Changed() []Calls { return a.changed }

// tasks counts the tasks of an exchange.
func (a *Account) tasks(c *Calls, s *summary.Summary) {
	worked, ended := a.worked.take(s)
	for _, f := range ended {
		a.failed.add(f)
	}
	if worked.Link == c.Link {
		c.Merge(&worked)
	} else {
		a.changed = append(a.changed, worked)
	}
}

// unsolicited describes data that was sent without a request.
func unsolicited(f *capture.TransportFault) string {
	if f.Side == "agent" {
		return "the agent sent data that answers no request"
	}
	return "a client sent data that belongs to no request"
}

// uselessCard returns why a client may have been unable to use the card that it fetched.
func uselessCard(s *summary.Summary) string {
	changed := func(note string) bool { return strings.Contains(note, capture.SignatureBroken) }
	switch words := s.Failure(); {
	case words != "":
		return "it got " + words
	case slices.ContainsFunc(s.Notes, changed):
		return "the card is signed, and a client that verifies it rejects the recorder's changes " +
			"(--no-rewrite, or the forward proxy)"
	case s.Status == http.StatusOK && s.Method == http.MethodGet && s.CardSum == 0:
		return "it got something other than a card"
	}
	return ""
}

// whyUnknown returns why the record does not show the outcome of an exchange's calls. It is empty if the record does,
// or if the exchange's gap gives the reason.
func whyUnknown(s *summary.Summary) string {
	switch {
	case s.Outcome.Known() || s.Missing != "":
	case openAtEnd(s):
		return openWhenEnded
	case s.Status >= 300 && s.Status < 400:
		why := fmt.Sprintf("status %d redirects its client", s.Status)
		if s.Said != "" {
			why += ": " + address.Shown(s.Said)
		}
		return why
	}
	return ""
}

// openWhenEnded is NotSeen.Why of an exchange whose end was not recorded.
const openWhenEnded = "it was open when the recording ended"

// openAtEnd reports whether the end of an exchange was not recorded.
func openAtEnd(s *summary.Summary) bool {
	return s.Life != capture.StateClosed ||
		s.Fault != nil && s.Fault.Side == "proxy" && (s.Fault.Kind == "shutdown" || s.Fault.Kind == "abandoned")
}

// pastUs returns the card address that bypasses the recorder, if a note names one, and the note's reason in
// parentheses, if any.
func pastUs(note string) (address, reason string, ok bool) {
	before, reason, ok := strings.Cut(note, capture.NotTapped)
	if !ok {
		return "", "", false
	}
	_, address, ok = strings.Cut(before, " advertises ")
	return address, reason, ok
}

// call counts one call of an exchange.
func (a *Account) call(c *Calls, s *summary.Summary, m *summary.Member) {
	f := FailedCalls{
		Exchange: s.Seq, Link: s.Link, Binding: s.Binding, Operation: m.Asked, Error: m.Outcome.Failure, Code: m.Code,
		Text:    m.Text,
		Refused: a.refused(s, m), Count: 1 + m.Others,
	}
	if f.Error != "" {
		f.Cause = a.causeOf(s)
	}
	switch {
	case f.Error == "":
		c.add(m.Outcome, f.Count)
		if m.Outcome.Succeeded && m.Task != "" {
			a.remember(s.Link.Agent, m.Task, false)
			for _, before := range a.told.granted(requestOf(s, m)) {
				a.failed.add(before.FailedCalls)
			}
		}
		if m.Outcome.Succeeded && len(s.Batch) == 0 {
			a.answerChallenges(c, challengeOf(s, m))
		}
		if atWork(s) {
			a.leave(s, f)
		}
	case f.Refused:
		c.refuse(m.Outcome, f.Count)
		if f.Count > 1 || !a.told.add(requestOf(s, m), f, m.Error == a2a.TaskNotFound) {
			a.failed.add(f)
		}
	default:
		c.add(m.Outcome, f.Count)
		if !refusesCredentials(s, m) || !a.told.add(challengeOf(s, m), f, false) {
			a.failed.add(f)
		}
	}
}

// answerChallenges counts calls that failed because of their credentials as refused, if the client then sent other
// credentials and the same call succeeded. It does not if the client was refused repeatedly.
func (a *Account) answerChallenges(c *Calls, of request) {
	for _, before := range a.told.granted(of) {
		if before.Count < persistent {
			before.Refused = true
			c.Failed, c.Refused = c.Failed-before.Count, c.Refused+before.Count
			count(&c.Failures, before.Error, -before.Count)
			count(&c.Refusals, before.Error, before.Count)
		}
		a.failed.add(before.FailedCalls)
	}
}

// leave remembers the call of a stream that did not show the end of its task, unless the end is known or the stream
// broke. The call has failed, or its outcome is unknown, unless a later call shows more of the task.
func (a *Account) leave(s *summary.Summary, f FailedCalls) {
	f.Code, f.Text = "", ""
	switch {
	case openAtEnd(s) && !a.seenEnded(s):
		f.Text = openAtWork
	case s.LeftEarly && !a.seenEnded(s) && !a.shownSince(s):
		f.Text = LeftEarly
	case s.Life == capture.StateClosed && s.Fault == nil && !s.Cut:
		f.Error = LeftAtWork
	default:
		return
	}
	if a.left == nil {
		a.left = analysis.RecentByTask[FailedCalls](maxLeft)
	}
	a.left.Put(a.worked.keys.of("", s.Task), f)
}

// atWork reports whether a stream did not show its client the end of the task.
func atWork(s *summary.Summary) bool {
	if !s.Stream || !s.Outcome.Succeeded || s.Task == "" || s.NotHeard || s.Missing != "" && !s.LeftEarly {
		return false
	}
	return s.LeftEarly || s.State.Active() && !slices.ContainsFunc(s.States, a2a.State.Terminal)
}

// seenEnded reports whether another call has shown the end of the task.
func (a *Account) seenEnded(s *summary.Summary) bool {
	if a.shown == nil {
		return false
	}
	ended, _ := a.shown.Get(a.worked.keys.of(s.Link.Agent, s.Task))
	return ended
}

// shownAfter records that an exchange shows later states of tasks whose streams may have ended. A failed call shows
// nothing.
func (a *Account) shownAfter(s *summary.Summary) {
	if s.Call && s.Outcome.Failure != "" {
		return
	}
	for _, id := range s.Tasks {
		a.showsTask(id, s.Started)
	}
	if s.Task != "" && !slices.Contains(s.Tasks, s.Task) {
		a.showsTask(s.Task, s.Started)
	}
}

func (a *Account) showsTask(id string, began time.Time) {
	key := a.worked.keys.of("", id)
	if a.left != nil {
		a.left.Delete(key)
	}
	if a.last == nil {
		a.last = analysis.RecentByTask[time.Time](maxShown)
	}
	if last, _ := a.last.At(key); last.Before(began) {
		*last = began
	}
}

// shownSince reports whether an exchange that began after the client had left a stream has shown its task.
func (a *Account) shownSince(s *summary.Summary) bool {
	if a.last == nil {
		return false
	}
	last, known := a.last.Get(a.worked.keys.of("", s.Task))
	return known && last.After(s.Started.Add(max(s.Took, 0)))
}

func (a *Account) remember(agent, id string, ended bool) {
	if a.shown == nil {
		a.shown = analysis.RecentByTask[bool](maxShown)
	}
	before, _ := a.shown.At(a.worked.keys.of(agent, id))
	*before = *before || ended
}

// refused reports whether an agent used a protocol error to refuse an impossible request: a task that it never showed
// does not exist, an ended task cannot be canceled, or the agent does not offer the operation.
func (a *Account) refused(s *summary.Summary, m *summary.Member) bool {
	op := m.Operation
	switch m.Error {
	case a2a.TaskNotCancelable:
		return op == a2a.CancelTask
	case a2a.ExtendedCardNotConfigured:
		return op == a2a.GetExtendedCard
	case a2a.PushNotSupported:
		return op.Push() || op.Sends() && s.Push
	case a2a.UnsupportedOperation:
		return m.Task != "" || !op.Sends() && op != a2a.GetTask
	case a2a.TaskNotFound:
		return m.Task != "" && !a.hasShown(s.Link.Agent, m.Task)
	}
	return false
}

// hasShown reports whether an agent has shown a task.
func (a *Account) hasShown(agent, task string) bool {
	if a.shown == nil {
		return false
	}
	_, shown := a.shown.Get(a.worked.keys.of(agent, task))
	return shown
}

// withCredentials returns the error text of a failed call and, if it was refused because of its credentials, whether it
// had any.
func withCredentials(s *summary.Summary, text string) string {
	sent := s.Credentials.String()
	if text == "" || sent == "" {
		return text + sent
	}
	return text + "; " + sent
}

// Close ends the account: no exchange follows. It returns the resulting changes to the calls of links.
func (a *Account) Close() []Calls {
	var changes []Calls
	for _, f := range a.sent.failed() {
		a.failed.add(f)
	}
	changes = append(changes, a.sent.calls()...)
	a.sent = deliveries{}
	for _, gap := range a.worked.unended() {
		a.gaps = addGap(a.gaps, gap)
	}
	a.told.all(a.hasShown, func(f FailedCalls, unheeded bool) {
		if unheeded && f.Refused {
			f.Refused = false
			changes = append(changes, Calls{
				Link: f.Link, Failed: f.Count, Failures: map[string]int{f.Error: f.Count},
				Refused: -f.Count, Refusals: map[string]int{f.Error: -f.Count},
			})
		}
		a.failed.add(f)
	})
	a.told = refusals{}
	for _, p := range a.led.all() {
		if !p.back {
			a.gaps = addGap(a.gaps, p.gap())
			continue
		}
		p.Text = fmt.Sprintf("leads to %s, and the client did not follow", p.Text)
		changes = append(changes, Calls{Link: p.Link, Failed: 1, Failures: map[string]int{p.Error: 1}})
		a.failed.add(p.FailedCalls)
	}
	a.led = redirects{}
	if a.left == nil {
		return changes
	}
	for _, f := range a.left.All() {
		if f.Error == "" {
			changes = append(changes, Calls{Link: f.Link, Succeeded: -1})
			a.gaps = addGap(a.gaps, NotSeen{What: seenInPart, Why: f.Text, Exchange: f.Exchange, Count: 1})
			continue
		}
		changes = append(changes, Calls{Link: f.Link, Succeeded: -1, Failed: 1, Failures: map[string]int{f.Error: 1}})
		a.failed.add(f)
	}
	a.left = nil
	return changes
}

// Failed returns the calls that failed or were refused, in the order of the first of each group.
func (a *Account) Failed() []FailedCalls {
	all := a.failed
	if a.told.list != nil { // the account continues
		all = failures{}
		for _, f := range a.failed.list {
			all.add(f)
		}
		a.told.all(a.hasShown, func(f FailedCalls, _ bool) { all.add(f) })
	}
	return all.sorted()
}

// Remarks returns facts about calls of models and MCP servers.
func (a *Account) Remarks() []Remark { return a.remarks.all() }

// Gap records a loss of which only the reason is known.
func (a *Account) Gap(lost capture.Lost) {
	a.gaps = addGap(a.gaps, NotSeen{
		What: "traffic", Why: cmp.Or(lost.Reason, "not recorded"), Count: 1, Decides: true, Crash: lost.Crash,
	})
}

// Gaps returns the unseen traffic.
func (a *Account) Gaps() []NotSeen {
	gaps := slices.Clone(a.gaps)
	for _, p := range a.led.all() { // the account continues
		gaps = addGap(gaps, p.gap())
	}
	return gaps
}
