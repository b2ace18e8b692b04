package report

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/replay/compare"
)

// A Group is one difference in all exchanges that have it: of the same kind, agent and operation, at the same place
// except for indices, and with the same values except for ids and times. An error outside the protocol, or a missing
// answer, is the same for all operations.
type Group struct {
	Operation   string               // of the requests, or anyOperation; empty for what concerns no single exchange
	Agent       string               // its name in the recording, if there are several agents; otherwise empty
	Tasks       []string             // that the requests are about, as recorded, each once
	Differences []compare.Difference // in order; at least one
	indices     []int                // of the differences in the report
	tasks       map[string]bool
}

// anyOperation names the operation of a group that has several.
const anyOperation = "requests"

// A Cause is a difference that no other explains, with its consequences.
type Cause struct {
	Group
	Consequences []Group // in order
	NotSent      []Line  // requests that lack the ids that the answer should have had
}

// Count returns the number of differences that follow from the cause.
func (c *Cause) Count() (n int) {
	for _, g := range c.Consequences {
		n += len(g.Differences)
	}
	return n
}

// Causes groups the differences of the report by cause, in the order in which the causes appear. Each difference is
// in one group. A difference follows from another only if an id or a capability links them. It is about a task whose
// state the other changed; or about ids that an answer should have named but was an error instead. Or the card no
// longer offers the refused capability or address. Or it is a rule that is broken by the value that the other is
// about.
func (r *Report) Causes() []Cause {
	t := newTracer(r)
	t.trace()
	return t.sort()
}

// A tracer finds for each difference the one that explains it.
type tracer struct {
	*Report
	recorded  map[uint64]*Line  // by number in the recording
	live      map[uint64]*Line  // by number in the replayed traffic
	lines     []*Line           // for each difference; nil if it has none
	root      []int             // for each difference, the one that explains it; itself if none does
	tasks     map[subject]int   // the cause of differences about a task
	configs   map[subject]int   // the cause of differences in a task's notifications and configs
	answers   map[uint64]int    // the cause of ids missing from an answer
	withdrawn map[offer]int     // the cause of a refusal
	gone      map[string][]gone // by agent: the addresses at which it no longer serves
	several   bool              // agents
	notSent   map[int][]Line    // by cause
}

// A subject is a task of an agent; an offer is a capability in an agent's card. Ids and cards of other agents are
// unrelated.
type (
	subject struct{ agent, task string }
	offer   struct {
		agent string
		what  compare.Capability
	}
)

// A gone is an address at which an agent must not be called any more, and the cause that shows this.
type gone struct {
	where compare.Spoken
	root  int
}

func newTracer(r *Report) *tracer {
	t := &tracer{
		Report: r, recorded: map[uint64]*Line{}, live: map[uint64]*Line{}, lines: make([]*Line, len(r.Differences)),
		root: make([]int, len(r.Differences)), tasks: map[subject]int{}, configs: map[subject]int{},
		answers:   map[uint64]int{},
		withdrawn: map[offer]int{}, gone: map[string][]gone{}, notSent: map[int][]Line{},
	}
	for i := range r.Lines {
		l := &r.Lines[i]
		if l.Exchange > 0 {
			t.recorded[l.Exchange] = l
		}
		t.several = t.several || l.Agent != r.Lines[0].Agent
		for _, live := range append(slices.Clone(l.Polls), l.Live) {
			if live > 0 {
				t.live[live] = l
			}
		}
	}
	for i := range r.Differences {
		d := &r.Differences[i]
		t.root[i] = i
		if t.lines[i] = t.live[d.Live]; d.Exchange > 0 {
			t.lines[i] = t.recorded[d.Exchange]
		}
	}
	return t
}

// trace explains differences in the order of the recording, and then those that concern no single answer:
// consequences come later.
func (t *tracer) trace() {
	of := map[*Line][]int{}
	var rest []int
	for i := range t.Differences {
		if l := t.lines[i]; l != nil && t.Differences[i].Kind != compare.DifferentFinding {
			of[l] = append(of[l], i)
		} else {
			rest = append(rest, i)
		}
	}
	for i := range t.Lines {
		l := &t.Lines[i]
		if l.Status == LeftOut {
			t.leftOut(l)
			continue
		}
		lasting := -1 // the difference in this answer after which the rest of it must differ from the recording
		for _, d := range of[l] {
			t.explain(d, lasting)
			if e := t.Differences[d].Effect; lasting < 0 && (e.Lasting || e.NoAnswer) {
				lasting = d
			}
		}
	}
	for _, d := range rest {
		if t.Differences[d].Kind == compare.DifferentFinding {
			t.explainFinding(d, of[t.lines[d]])
		} else {
			t.explain(d, -1)
		}
	}
}

// leftOut notes a request that could not be sent because an answer lacked an id.
func (t *tracer) leftOut(l *Line) {
	root, ok := t.answers[l.Lacks]
	if !ok {
		return
	}
	t.notSent[root] = append(t.notSent[root], *l)
	t.answers[l.Exchange] = root
}

// explain finds the cause of a difference, and notes what follows from it.
func (t *tracer) explain(i, lasting int) {
	d, l := &t.Differences[i], t.lines[i]
	if root, ok := t.cause(d, l); ok {
		t.root[i] = root
	} else if lasting >= 0 && follows(d) && d.Kind != compare.DifferentEnd {
		t.root[i] = t.root[lasting]
	}
	e, root, about := d.Effect, t.root[i], t.subject(d, l)
	if e.Lasting && about.task != "" {
		noteFirst(t.tasks, about, root)
	}
	if e.Configs && about.task != "" {
		noteFirst(t.configs, about, root)
	}
	if e.NoAnswer && d.Exchange > 0 {
		noteFirst(t.answers, d.Exchange, root)
	}
	if e.Withdrawn != "" {
		noteFirst(t.withdrawn, offer{about.agent, e.Withdrawn}, root)
	}
	if e.Gone != (compare.Spoken{}) {
		t.gone[about.agent] = append(t.gone[about.agent], gone{e.Gone, root})
	}
}

func noteFirst[K comparable](causes map[K]int, of K, root int) {
	if _, known := causes[of]; !known {
		causes[of] = root
	}
}

// subject returns the task that a difference is about, and its agent.
func (t *tracer) subject(d *compare.Difference, l *Line) subject {
	s := subject{d.Effect.Agent, d.Effect.Task}
	if l != nil {
		s = subject{cmp.Or(s.agent, l.Agent), cmp.Or(s.task, l.Task)}
	}
	return s
}

// cause finds an earlier difference that explains one by ids or by the card.
func (t *tracer) cause(d *compare.Difference, l *Line) (int, bool) {
	if !follows(d) {
		return 0, false
	}
	about := t.subject(d, l)
	if root, ok := t.tasks[about]; ok {
		return root, true
	}
	if root, ok := t.configs[about]; ok && (l == nil || slices.Contains(aboutConfigs, l.Operation)) {
		return root, true
	}
	if l == nil {
		return 0, false
	}
	for _, seq := range l.Uses {
		if root, ok := t.answers[seq]; ok {
			return root, true
		}
	}
	for _, g := range t.gone[about.agent] {
		if g.where.Shares(l.Spoken) && notSpoken.MatchString(d.Got) {
			return g.root, true
		}
	}
	for capability, refusal := range refusals {
		if root, ok := t.withdrawn[offer{about.agent, capability}]; ok && d.Got == "error "+refusal.err.String() &&
			slices.Contains(refusal.operations, l.Operation) {
			return root, true
		}
	}
	return 0, false
}

// notSpoken matches the errors with which an agent rejects another dialect's method, path or version. An unsupported
// version has its own code only since 1.0.
var notSpoken = regexp.MustCompile(`^error (MethodNotFound|InvalidRequest|InvalidParams|ParseError|VersionNotSupported|` +
	`UnsupportedOperation|ContentTypeNotSupported)(Error)?$|^error (UNIMPLEMENTED|-32009)$|^error HTTP (4(00|04|05|06|15)|501)\b`)

// refusals are the errors with which an agent rejects operations that it does not offer.
//
// Source: A2A 1.0 §3.3.4.
var refusals = map[compare.Capability]struct {
	err        a2a.ErrorName
	operations []string
}{
	compare.Streaming: {a2a.UnsupportedOperation, []string{
		a2a.SendStreamingMessage.String(),
		a2a.SubscribeToTask.String(),
	}},
	compare.PushNotifications: {
		a2a.PushNotSupported,
		append([]string{a2a.SendMessage.String(), a2a.SendStreamingMessage.String()}, aboutConfigs...),
	},
}

var aboutConfigs = []string{
	a2a.CreatePushConfig.String(), a2a.GetPushConfig.String(), a2a.ListPushConfigs.String(),
	a2a.DeletePushConfig.String(),
}

// follows reports whether an earlier result of a task may explain a difference. It never explains the form of an
// answer.
func follows(d *compare.Difference) bool {
	switch d.Kind {
	case compare.DifferentContent: // also the wording of messages
		return d.Effect.Task != ""
	case compare.DifferentOutcome, compare.DifferentError, compare.DifferentState, compare.DifferentEvent,
		compare.DifferentEnd, compare.DifferentDelivery,
		compare.DifferentOperation, compare.MissingExchange, compare.NewExchange:
		return true
	}
	return false
}

// explainFinding finds the difference that goes with a broken rule: one of the same value, or one that replaced the
// whole answer. A common task does not connect them: an agent may make two mistakes.
func (t *tracer) explainFinding(i int, answer []int) {
	d := &t.Differences[i]
	for _, other := range answer {
		if o := &t.Differences[other]; o.Effect.NoAnswer || samePlace(d.Place, o) {
			t.root[i] = t.root[other]
			return
		}
	}
}

// samePlace reports whether a place in the replayed traffic lies in a value that a difference is about, or is the object
// that lacks it.
func samePlace(place string, d *compare.Difference) bool {
	message, pointer, _ := strings.Cut(place, "#")
	where, _, _ := strings.Cut(d.LivePlace, "#")
	if d.LivePlace == "" || message != where {
		return false
	}
	return place == d.LivePlace || slices.ContainsFunc(d.Changes, func(c compare.Change) bool {
		parent := c.Pointer[:max(0, strings.LastIndexByte(c.Pointer, '/'))]
		return pointer == c.Pointer || strings.HasPrefix(pointer, c.Pointer+"/") ||
			pointer == parent && (c.Was == "" || c.Now == "")
	})
}
