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

// A Coverage says how often a rule applied on a link, and how often it was broken there. A rule that never applied has
// none: it was not observed, which is not the same as kept. Notifications of a link are counted apart from its calls,
// since they tell of another agent.
type Coverage struct {
	Rule          *analysis.Rule
	Link          analysis.Link
	Notifications bool
	Applied       int
	Broken        int
}

// Programs returns which program plays which part in the exchanges that are counted.
func (c *Coverage) Programs() analysis.Programs {
	if c.Notifications {
		return c.Link.Programs(a2a.Webhook)
	}
	return c.Link.Programs(a2a.NoOperation)
}

// Counts says how much was looked at.
type Counts struct {
	Exchanges int   // opened
	Judged    int   // of them, how many at least one rule applied to
	Lost      int64 // exchanges of which nothing was recorded
	Forgotten int   // tasks, endpoints, webhooks and cards dropped to bound memory
	Streams   int   // event streams seen
	Events    int   // events of streams seen
	Calls     int   // that are over: see Calls
	Failed    int   // of them, how many failed
	Unseen    int   // upgrades and tunnels: what passed in them was not observed
	Made      int   // exchanges in which the recorder made a fault because it was told to
	Unproved  int   // links with calls of which none is known to have succeeded
}

// How clients and agents are called that are counted together, since their links came after too many others. No client
// names itself so: a product in User-Agent has no blank (RFC 9110 section 10.1.5).
const (
	OtherClients = "other clients"
	OtherAgents  = "other agents"
)

// Calls says how the calls of one link came out, or those of OtherClients and OtherAgents together. Fetches of public
// cards and notifications are not calls.
type Calls struct {
	Link      analysis.Link
	Made      int            // those that are open, or of which the record does not show how they came out, included
	Succeeded int            // the agent answered with a result
	Failed    int            // the agent answered with an error, or not at all
	Refused   int            // it answered that what was asked cannot be done, which is no failure of a link that works
	Known     int            // of those that failed, how many are accepted: see Result.Accept
	Waived    int            // of those that were refused, how many are
	Failures  map[string]int // by error, such as "VersionNotSupported", "HTTP 401", "unreachable"
	Refusals  map[string]int // those that were refused, by error
	Exchanges int            // of the link that are over, calls or not
	Missing   int            // of them, how many cannot be judged as a whole
	Foreign   int            // of them, how many are of no protocol that is known here
	Touched   int            // of them, how many are calls that count as none, since a fault was made there, or something held
	Cards     int            // of them, how many asked for a card
	Card      string         // why the card that was asked for last may have been of no use; empty if nothing is known
	Unusable  string         // why the client cannot use a card that it asked for; empty if nothing shows that
	Offers    []string       // servers that the cards name which the client read, as address.Server has them
	Server    string         // that the link leads to, in the same form; empty if it is not known
	Named     bool           // the client is known by more than the name of its library
	OverGRPC  bool           // one of the calls was made over gRPC
	// tasks on which the agent worked, sent messages that were answered without one, and how many tasks failed, were
	// rejected, or canceled though nobody asked for it; of them, how many are accepted; how they ended
	Tasks, Answers, TasksFailed, TasksKnown int
	Ends                                    map[string]int
	Unheard                                 bool // webhooks were configured whose notifications went past the recorder
	Unproved                                bool // it has calls of links that are too many to tell which have had a success
}

// Proved reports whether a call of the link is known to have succeeded, none was made, or all failed as is accepted.
func (c *Calls) Proved() bool {
	return c.Made == 0 || !c.Unproved && (c.Succeeded > 0 || c.Known+c.Waived == c.Made)
}

// Add counts a call.
func (c *Calls) Add(o analysis.Outcome) {
	c.Made++
	switch {
	case o.Succeeded:
		c.Succeeded++
	case o.Failure != "":
		c.Failed++
		count(&c.Failures, o.Failure, 1)
	}
}

// Refuse counts a call that was refused.
func (c *Calls) Refuse(o analysis.Outcome) {
	c.Made++
	c.Refused++
	count(&c.Refusals, o.Failure, 1)
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

// Settled returns the counts with what was refused among what failed, if no call of the link succeeded: then it cannot
// be told from an agent that does not work.
func (c *Calls) Settled() Calls {
	s := *c
	if c.Succeeded > 0 || c.Refused == 0 {
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

// Unknown returns of how many calls the record does not show how they came out.
func (c *Calls) Unknown() int { return c.Made - c.Succeeded - c.Failed - c.Refused }

// New returns how many calls and tasks failed that are not accepted.
func (c *Calls) New() int {
	s := c.Settled()
	return s.Failed - s.Known + s.TasksFailed - s.TasksKnown
}

// Failing reports whether at least half of the calls whose outcome is known failed, and one of them is not accepted; or
// whether at least half of what was worked on did.
func (c *Calls) Failing() bool {
	s := c.Settled()
	return s.Failed > s.Known && 2*s.Failed >= s.Failed+s.Succeeded+s.Refused || c.tasksFailing()
}

// blind reports whether what is not known of the link outweighs the rest: exchanges that cannot be judged, or are of no
// known protocol, and calls without a known outcome.
func (c *Calls) blind() bool {
	return c.Unknown() > 0 && 2*c.Unknown() >= c.Made || c.Missing > 0 && 2*c.Missing >= c.Exchanges-c.Foreign || c.foreign()
}

// foreign reports whether most of what passed on a link that speaks A2A is of no known protocol: nobody knows then what
// was not judged.
func (c *Calls) foreign() bool {
	return (c.Made > 0 || c.Cards > 0) && 2*c.Foreign > c.Exchanges
}

// maxOffers bounds the servers that are remembered of the cards that a client read of an agent.
const maxOffers = 64

// Merge adds what another count says.
func (c *Calls) Merge(other *Calls) {
	c.Made, c.Succeeded, c.Failed = c.Made+other.Made, c.Succeeded+other.Succeeded, c.Failed+other.Failed
	c.Refused += other.Refused
	c.Known, c.Waived = c.Known+other.Known, c.Waived+other.Waived
	c.Exchanges, c.Missing = c.Exchanges+other.Exchanges, c.Missing+other.Missing
	c.Foreign, c.Touched, c.Cards = c.Foreign+other.Foreign, c.Touched+other.Touched, c.Cards+other.Cards
	c.Tasks, c.Answers = c.Tasks+other.Tasks, c.Answers+other.Answers
	c.TasksFailed, c.TasksKnown = c.TasksFailed+other.TasksFailed, c.TasksKnown+other.TasksKnown
	c.Unusable, c.Server = cmp.Or(c.Unusable, other.Unusable), cmp.Or(c.Server, other.Server)
	c.Named, c.OverGRPC = c.Named || other.Named, c.OverGRPC || other.OverGRPC
	for _, server := range other.Offers {
		if len(c.Offers) < maxOffers && !slices.Contains(c.Offers, server) {
			c.Offers = append(slices.Clip(c.Offers), server)
		}
	}
	c.Unheard, c.Unproved = c.Unheard || other.Unheard, c.Unproved || other.Unproved
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

// ByEnd returns how tasks ended that failed, most frequent first.
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
	case s.Failed == 0: // what failed comes first
		return tasks + "; " + text
	default:
		return text + "; " + tasks
	}
}

// tasksFailing reports whether at least half of what was worked on has failed, and a part of it is not accepted.
func (c *Calls) tasksFailing() bool {
	return c.TasksFailed > c.TasksKnown && 2*c.TasksFailed >= c.Tasks+c.Answers
}

// taskWords says how tasks ended, as verdicts have it: "3 of 10 tasks failed: failed 2, rejected 1"; nothing if none
// ended badly.
func (c *Calls) taskWords() string {
	if c.TasksFailed == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %s failed: %s%s", c.TasksFailed, analysis.Plural(c.Tasks, "task"), errorWords(c.Ends),
		acceptedWords(c.TasksKnown, c.TasksFailed))
}

// acceptedWords says how many of those that failed are accepted, as the end of a sentence; nothing if none are.
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

// An Agent is what was seen of one agent, for the head of a report.
type Agent struct {
	Link       string                // its name in links
	URL        string                // where it really lives
	Name       string                // that its newest public card gives; empty if no card was seen
	Version    string                // the same
	Streaming  bool                  // a card advertises it
	Push       bool                  // the same
	Operations map[a2a.Operation]int // how often each was answered without an error
	Completed  int                   // tasks that were seen completed, each as often as it was seen
	Refused    int                   // calls that were answered with an error of the protocol
	BadCard    string                // why a public card is none: no JSON, or without a name; empty if none was
	Contacts   map[string]Contact    // with each client, by its name
}

// A Contact is what one client had answered by an agent.
type Contact struct {
	Operations map[a2a.Operation]int // how often each was answered without an error
	AtOnce     int                   // messages of them that were answered while another one waited for its answer
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
