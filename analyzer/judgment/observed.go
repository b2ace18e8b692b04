package judgment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// A Coverage counts how often a rule applied on a link, and how often it was broken there. A rule that never applied
// has no Coverage: it was not observed, which does not mean that it was kept. The notifications of a link are counted
// apart from its calls, since they are about another agent.
type Coverage struct {
	Rule          *analysis.Rule
	Link          analysis.Link
	Notifications bool
	Applied       int
	Broken        int
}

// Programs returns the role of each program in the counted exchanges.
func (c *Coverage) Programs() analysis.Programs {
	if c.Notifications {
		return c.Link.Programs(a2a.Webhook)
	}
	return c.Link.Programs(a2a.NoOperation)
}

// Counts has the amounts of checked traffic.
type Counts struct {
	Exchanges int   // opened
	Judged    int   // of them, how many at least one rule applied to
	Lost      int64 // exchanges of which nothing was recorded
	Forgotten int   // tasks, endpoints, webhooks and cards dropped to bound memory
	Streams   int   // event streams seen
	Events    int   // events of streams seen
	Calls     int   // calls that have ended: see Calls
	Failed    int   // of them, how many failed
	Unseen    int   // upgrades and tunnels, whose contents were not observed
	Made      int   // exchanges in which the recorder injected a fault on request
	Unproved  int   // links with calls, none of which is known to have succeeded
}

// The names of clients and agents that are counted together because too many links came before theirs. No client can
// have such a name: a product in User-Agent has no blank (RFC 9110 section 10.1.5).
const (
	OtherClients = "other clients"
	OtherAgents  = "other agents"
)

// Calls counts the outcomes of the calls of one link, or of OtherClients and OtherAgents together. Fetches of public
// cards and notifications are not calls.
type Calls struct {
	Link      analysis.Link
	Made      int            // including open calls and those with an unknown outcome
	Succeeded int            // the agent answered with a result
	Failed    int            // the agent answered with an error, or not at all
	Refused   int            // the agent refused an impossible request, which is no failure on a working link
	Known     int            // failed calls that are accepted: see Result.Accept
	Waived    int            // refused calls that are accepted
	Failures  map[string]int // by error, such as "VersionNotSupported", "HTTP 401", "unreachable"
	Refusals  map[string]int // those that were refused, by error
	Exchanges int            // of the link that have ended, calls or not
	Missing   int            // of them, how many cannot be checked completely
	Foreign   int            // of them, how many use an unknown protocol
	Touched   int            // including calls that are not counted because of an injected fault or a hold
	Cards     int            // of them, how many asked for a card
	Card      string         // why the last fetched card may have been useless; empty if unknown
	Unusable  string         // why the client cannot use a card that it fetched; empty if it may be able to
	Offered   a2a.Dialects   // of the cards that the client fetched; empty if one of them does not show it
	Spoken    a2a.Dialects   // of its successful calls, where they tell
	Offers    []string       // servers named by the cards that the client read, as from address.Server
	Server    string         // the link's server, in the same form; empty if unknown
	Named     bool           // the client is known by more than the name of its library
	OverGRPC  bool           // one of the calls was made over gRPC
	// tasks on which the agent worked; sent messages that were answered without a task; tasks that failed, were
	// rejected, or were canceled without a request; how many of those are accepted; how the tasks ended
	Tasks, Answers, TasksFailed, TasksKnown int
	Ends                                    map[string]int
	Unheard                                 bool // webhooks were configured whose notifications went past the recorder
	Works                                   bool // a call succeeded that a filter excluded from the counts
	Unproved                                bool // it combines the calls of links that are too many to count separately
}

// Proved reports whether a call of the link is known to have succeeded, none was made, or all failures are accepted.
func (c *Calls) Proved() bool {
	return c.Made == 0 || !c.Unproved && (c.Succeeded > 0 || c.Works || c.Known+c.Waived == c.Made)
}

// Add counts a call.
func (c *Calls) Add(o analysis.Outcome) { c.add(o, 1) }

// add counts calls with the same outcome.
func (c *Calls) add(o analysis.Outcome, n int) {
	c.Made += n
	switch {
	case o.Succeeded:
		c.Succeeded += n
	case o.Failure != "":
		c.Failed += n
		count(&c.Failures, o.Failure, n)
	}
}

// refuse counts calls that were refused alike.
func (c *Calls) refuse(o analysis.Outcome, n int) {
	c.Made += n
	c.Refused += n
	count(&c.Refusals, o.Failure, n)
}

func count(by *map[string]int, name string, n int) {
	if *by == nil {
		*by = make(map[string]int)
	}
	if (*by)[name] += n; (*by)[name] == 0 {
		delete(*by, name)
	}
	if len(*by) == 0 {
		*by = nil
	}
}

// Settled returns the counts with refused calls counted as failed, if no call of the link succeeded: such an agent
// cannot be told from one that does not work.
func (c *Calls) Settled() Calls {
	s := *c
	if c.Succeeded > 0 || c.Works || c.Refused == 0 {
		return s
	}
	s.Failures = maps.Clone(c.Failures)
	for name, n := range c.Refusals {
		count(&s.Failures, name, n)
	}
	s.Failed, s.Refused, s.Refusals = c.Failed+c.Refused, 0, nil
	s.Known, s.Waived = c.Known+c.Waived, 0
	return s
}

// Unknown returns the number of calls with an unknown outcome.
func (c *Calls) Unknown() int { return c.Made - c.Succeeded - c.Failed - c.Refused }

// New returns how many calls and tasks failed that are not accepted.
func (c *Calls) New() int {
	s := c.Settled()
	return s.Failed - s.Known + s.TasksFailed - s.TasksKnown
}

// Failing reports whether at least half of the calls with a known outcome failed and at least one of the failures is
// not accepted, or whether the same holds for tasks.
func (c *Calls) Failing() bool {
	s := c.Settled()
	return s.Failed > s.Known && 2*s.Failed >= s.Failed+s.Succeeded+s.Refused || c.tasksFailing()
}

// blind reports whether most of the link is unknown: exchanges that cannot be checked or are of no known protocol, and
// calls without a known outcome.
func (c *Calls) blind() bool {
	return c.Unknown() > 0 && 2*c.Unknown() >= c.Made || c.Missing > 0 && 2*c.Missing >= c.Exchanges-c.Foreign || c.foreign()
}

// foreign reports whether most traffic on a link that speaks A2A is in an unknown protocol. Then it is unknown how much
// was not checked.
func (c *Calls) foreign() bool {
	return (c.Made > 0 || c.Cards > 0) && 2*c.Foreign > c.Exchanges
}

// maxOffers bounds the remembered servers of the cards that a client read from an agent.
const maxOffers = 64

// Merge adds another count.
func (c *Calls) Merge(other *Calls) {
	c.Made, c.Succeeded, c.Failed = c.Made+other.Made, c.Succeeded+other.Succeeded, c.Failed+other.Failed
	c.Refused += other.Refused
	c.Known, c.Waived = c.Known+other.Known, c.Waived+other.Waived
	c.Exchanges, c.Missing = c.Exchanges+other.Exchanges, c.Missing+other.Missing
	c.Foreign, c.Touched, c.Cards = c.Foreign+other.Foreign, c.Touched+other.Touched, c.Cards+other.Cards
	c.Tasks, c.Answers = c.Tasks+other.Tasks, c.Answers+other.Answers
	c.TasksFailed, c.TasksKnown = c.TasksFailed+other.TasksFailed, c.TasksKnown+other.TasksKnown
	c.Spoken |= other.Spoken
	switch {
	case other.Cards == 0:
	case c.Cards == other.Cards: // c had none
		c.Offered = other.Offered
	case c.Offered.Empty() || other.Offered.Empty():
		c.Offered = 0
	default:
		c.Offered |= other.Offered
	}
	c.Unusable, c.Server = cmp.Or(c.Unusable, other.Unusable), cmp.Or(c.Server, other.Server)
	c.Named, c.OverGRPC = c.Named || other.Named, c.OverGRPC || other.OverGRPC
	for _, server := range other.Offers {
		if len(c.Offers) < maxOffers && !slices.Contains(c.Offers, server) {
			c.Offers = append(slices.Clip(c.Offers), server)
		}
	}
	c.Unheard, c.Unproved = c.Unheard || other.Unheard, c.Unproved || other.Unproved
	c.Works = c.Works || other.Works
	if other.Cards > 0 {
		c.Card = other.Card
	}
	for name, n := range other.Failures {
		count(&c.Failures, name, n)
	}
	for name, n := range other.Refusals {
		count(&c.Refusals, name, n)
	}
	for name, n := range other.Ends {
		count(&c.Ends, name, n)
	}
}

// A Failure is an error, or the end of a task, by name, and how many calls or tasks failed with it.
type Failure struct {
	Error string
	Count int
}

// ByError returns the failures, most frequent first.
func (c *Calls) ByError() []Failure { return byError(c.Failures) }

// ByRefusal returns the refusals, most frequent first.
func (c *Calls) ByRefusal() []Failure { return byError(c.Refusals) }

// ByEnd returns the ends of failed tasks, most frequent first.
func (c *Calls) ByEnd() []Failure { return byError(c.Ends) }

func byError(by map[string]int) []Failure {
	list := make([]Failure, 0, len(by))
	for name, n := range by {
		list = append(list, Failure{name, n})
	}
	slices.SortFunc(list, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Error, b.Error))
	})
	return list
}

// String returns the counts in words, as verdicts have them: "3 of 6 calls failed: VersionNotSupported 3; 1 refused:
// TaskNotFound 1; 2 of 3 tasks failed: failed 1, rejected 1".
func (c *Calls) String() string {
	s := c.Settled()
	unknown := s.Unknown()
	var text string
	switch {
	case s.Made == 0 && s.TasksFailed > 0:
		return s.taskWords()
	case s.Made == 0:
		return "no call"
	case s.Failed == 0:
		text = fmt.Sprintf("%d of %s succeeded", s.Succeeded, analysis.Plural(s.Made, "call"))
	default:
		text = fmt.Sprintf("%d of %s failed: %s", s.Failed, analysis.Plural(s.Made, "call"), errorWords(s.Failures))
		text += acceptedWords(s.Known, s.Failed)
	}
	if s.Refused > 0 {
		text += fmt.Sprintf("; %d refused: %s", s.Refused, errorWords(s.Refusals))
	}
	switch {
	case unknown > 0 && s.Failed == 0 && s.Refused == 0:
		text += fmt.Sprintf(", %d without a known outcome", unknown)
	case unknown > 0:
		text += fmt.Sprintf("; %d without a known outcome", unknown)
	}
	switch tasks := s.taskWords(); {
	case tasks == "":
		return text
	case s.Failed == 0: // failures come first
		return tasks + "; " + text
	default:
		return text + "; " + tasks
	}
}

// tasksFailing reports whether at least half of the tasks have failed, and some failures are not accepted.
func (c *Calls) tasksFailing() bool {
	return c.TasksFailed > c.TasksKnown && 2*c.TasksFailed >= c.Tasks+c.Answers
}

// taskWords describes the ends of tasks for a verdict: "3 of 10 tasks failed: failed 2, rejected 1"; "" if none ended
// badly.
func (c *Calls) taskWords() string {
	if c.TasksFailed == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s failed: %s%s", c.TasksFailed, analysis.Plural(c.Tasks, "task"), errorWords(c.Ends),
		acceptedWords(c.TasksKnown, c.TasksFailed))
}

// acceptedWords returns the number of accepted failures as the end of a sentence; "" without any.
func acceptedWords(known, failed int) string {
	switch {
	case known == 0:
		return ""
	case known == failed:
		return ", as is accepted"
	}
	return fmt.Sprintf(", %d of them accepted", known)
}

// errorWords names errors, most frequent first, the first few of them.
func errorWords(by map[string]int) string {
	const named = 5
	var words []string
	rest := 0
	for i, f := range byError(by) {
		if i < named {
			words = append(words, fmt.Sprintf("%s %d", analysis.Clean(f.Error), f.Count))
		} else {
			rest += f.Count
		}
	}
	if rest > 0 {
		words = append(words, fmt.Sprintf("others %d", rest))
	}
	return strings.Join(words, ", ")
}

// An Agent has the observed facts about one agent, for the head of a report.
type Agent struct {
	Link       string                // its name in links
	URL        string                // its real address
	Name       string                // from its newest public card; empty if no card was seen
	Version    string                // the same
	Streaming  bool                  // a card advertises it
	Push       bool                  // the same
	Operations map[a2a.Operation]int // how often each was answered without an error
	Completed  int                   // tasks that were seen completed, each counted every time
	Refused    int                   // calls that were answered with an error of the protocol
	BadCard    string                // why a public card is unusable: not JSON, or no name; empty if none is
	Contacts   map[string]Contact    // with each client, by its name
}

// A Contact counts an agent's answers to one client.
type Contact struct {
	Operations map[a2a.Operation]int // how often each was answered without an error
	AtOnce     int                   // tasks seen at work while another one was
}

// Add adds another contact with the same client.
func (c Contact) Add(other Contact) Contact {
	operations := make(map[a2a.Operation]int)
	for _, from := range []Contact{c, other} {
		for op, n := range from.Operations {
			operations[op] += n
		}
	}
	return Contact{Operations: operations, AtOnce: c.AtOnce + other.AtOnce}
}
