package judgment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/neighbor"
)

// Bounds of the facts about calls of models and MCP servers. The least recently used ones are forgotten.
const (
	maxAsked   = 5_000 // distinct calls that are counted to find repeated ones
	maxBelow   = 5_000 // A2A calls below which a call failed, and as many tasks that calls began
	maxRemarks = 100   // of each subject

	manyEqual   = 10 // equal calls for one A2A call that cause a remark
	maxUnsolved = 8  // failed calls below an A2A call that are remembered
)

// A Remark is a fact about calls of models and MCP servers that the verdict states. It affects no verdict.
type Remark struct {
	Capture  string
	About    Subject
	Exchange uint64 // the first exchange that it concerns
	Text     string // which begins with the number of that exchange
}

// remarks collects facts about calls of models and MCP servers. The zero remarks is empty.
type remarks struct {
	servers  *recent.Map[string, *server] // by name
	asked    *recent.Map[asked, *repeated]
	repeated []*repeated                          // of asked, those with manyEqual calls
	below    *recent.Map[uint64, []unsolved]      // failed calls, by the A2A call that caused them
	tasks    *recent.Map[analysis.TaskKey, begun] // the call that began a task that had not ended with the call
	hidden   map[hiddenKind]*hidden
}

// A server is a model or an MCP server.
type server struct {
	first              uint64 // the first call that could not reach it; 0 if all could
	asked              string // by that call
	is                 string // "model" or "MCP server"
	calls, unreachable int
}

// An asked identifies equal calls that one client made for one A2A call.
type asked struct {
	link  analysis.Link
	title string
	cause uint64
	asks  uint64
}

// A repeated counts equal calls.
type repeated struct {
	asked
	first, last uint64
	count       int
}

// An unsolved is a failed call of a model or a tool that the same client has not made again with success.
type unsolved struct {
	exchange           uint64
	agent, title, text string
}

// A begun is an A2A call.
type begun struct {
	exchange uint64
	link     analysis.Link
	asked    string
}

// A hiddenKind identifies A2A calls of one kind that were completed although calls of one kind had failed.
type hiddenKind struct {
	link                    analysis.Link
	asked, agent, title, of string
}

// A hidden has the first such A2A call, the first call that failed for it, and their number.
type hidden struct {
	exchange uint64
	unsolved
	count int
}

// neighbor records a call of a model or an MCP server.
func (r *remarks) neighbor(s *summary.Summary) {
	if r.servers == nil {
		r.servers = recent.New[string, *server](maxNeighbors)
		r.asked = recent.New[asked, *repeated](maxAsked)
		r.below = recent.New[uint64, []unsolved](maxBelow)
	}
	r.reach(s)
	if s.Cause != 0 && !s.Neighbor.Handshake() {
		r.repeat(s)
		r.solve(s)
	}
}

// reach counts whether a call reached its server.
func (r *remarks) reach(s *summary.Summary) {
	at, known := r.servers.At(s.Link.Agent)
	if !known {
		*at = &server{is: "model"}
		if s.Neighbor.Kind == neighbor.MCP {
			(*at).is = "MCP server"
		}
	}
	to := *at
	to.calls++
	if f := s.Fault; f != nil && f.Side == "agent" && analysis.FaultName(f) == analysis.Unreachable {
		if to.unreachable++; to.first == 0 {
			to.first, to.asked = s.Seq, s.Asked
		}
	}
}

// repeat counts equal calls.
func (r *remarks) repeat(s *summary.Summary) {
	if s.Asks == 0 {
		return
	}
	at, known := r.asked.At(asked{s.Link, s.Asked, s.Cause, s.Asks})
	if !known {
		*at = &repeated{asked: asked{s.Link, s.Asked, s.Cause, s.Asks}, first: s.Seq, last: s.Seq}
	}
	calls := *at
	calls.first, calls.last = min(calls.first, s.Seq), max(calls.last, s.Seq)
	if calls.count++; calls.count == manyEqual && len(r.repeated) < maxRemarks {
		r.repeated = append(r.repeated, calls)
	}
}

// solve remembers a failed call, or forgets those that a later call has repeated successfully.
func (r *remarks) solve(s *summary.Summary) {
	failed, known := r.below.Get(s.Cause)
	same := func(u unsolved) bool { return u.agent == s.Link.Agent && u.title == s.Asked }
	switch {
	case s.Failed() && len(failed) < maxUnsolved && !slices.ContainsFunc(failed, same):
		why := strings.TrimPrefix(cmp.Or(s.Failure(), s.Faulted()), "failed: ")
		failed = append(failed, unsolved{s.Seq, s.Link.Agent, s.Asked, why})
	case s.Failed() || !known:
		return
	default:
		failed = slices.DeleteFunc(failed, same)
	}
	r.below.Put(s.Cause, failed)
}

// over records the end of an A2A exchange, which may show that a call was completed. task is the key of its task.
func (r *remarks) over(s *summary.Summary, task analysis.TaskKey) {
	if r.below == nil || !s.Outcome.Succeeded {
		return
	}
	sends, now := s.Operation.Sends(), begun{s.Seq, s.Link, s.Asked}
	var before begun
	if r.tasks != nil && s.Task != "" {
		before, _ = r.tasks.Get(task)
	}
	switch {
	case s.State == a2a.Completed, sends && s.Task == "" && s.State == a2a.NoState:
		r.complete(before)
		if sends {
			r.complete(now)
		}
	case sends && s.Task != "" && !s.State.Terminal() && before == begun{}:
		if r.tasks == nil {
			r.tasks = analysis.RecentByTask[begun](maxBelow)
		}
		r.tasks.Put(task, now)
	}
}

// complete records that a call was completed.
func (r *remarks) complete(call begun) {
	failed, _ := r.below.Get(call.exchange)
	r.below.Delete(call.exchange)
	for _, u := range failed {
		kind := hiddenKind{call.link, call.asked, u.agent, u.title, analysis.WithoutNumbers(u.text)}
		if known := r.hidden[kind]; known != nil {
			known.count++
		} else if len(r.hidden) < maxRemarks {
			if r.hidden == nil {
				r.hidden = make(map[hiddenKind]*hidden)
			}
			r.hidden[kind] = &hidden{call.exchange, u, 1}
		}
	}
}

// all returns the remarks so far, in the order of their subjects and first exchanges.
func (r *remarks) all() (list []Remark) {
	if r.servers == nil {
		return nil
	}
	add := func(about Subject, exchange uint64, format string, args ...any) {
		text := fmt.Sprintf("%d ", exchange) + fmt.Sprintf(format, args...)
		list = append(list, Remark{About: about, Exchange: exchange, Text: text})
	}
	for name, to := range r.servers.All() {
		if to.unreachable > 0 {
			add(AboutUnreached, to.first, "%s: the %s %s could not be reached, in %d of %s", to.asked, to.is, name,
				to.unreachable, analysis.Plural(to.calls, "call"))
		}
	}
	for _, calls := range r.repeated {
		add(AboutRepeated, calls.first, "%s: %d equal calls during %d, the last one is %d (%s)", calls.title, calls.count,
			calls.cause, calls.last, someLinks([]analysis.Link{calls.link}))
	}
	for kind, h := range r.hidden {
		text := fmt.Sprintf("%s was completed although %d %s, made during it, had failed: %s (%s)", kind.asked,
			h.unsolved.exchange, kind.title, h.text, someLinks([]analysis.Link{kind.link}))
		if h.count > 1 {
			text += fmt.Sprintf(" (and %d more)", h.count-1)
		}
		add(AboutHidden, h.exchange, "%s", text)
	}
	slices.SortFunc(list, func(a, b Remark) int {
		return cmp.Or(cmp.Compare(remarkable(a.About), remarkable(b.About)), cmp.Compare(a.Exchange, b.Exchange),
			cmp.Compare(a.Text, b.Text))
	})
	number := make(map[Subject]int)
	return slices.DeleteFunc(list, func(m Remark) bool {
		number[m.About]++
		return number[m.About] > maxRemarks
	})
}

// remarkable returns the place of a subject among those of remarks.
func remarkable(about Subject) int {
	return slices.Index([]Subject{AboutUnreached, AboutRepeated, AboutHidden}, about)
}
