package replay

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
	"a2atap/replay/report"
)

// An entry is one recorded exchange in the plan: when it may be sent, and the expected result.
type entry struct {
	seq      uint64
	index    int // in the plan
	op       a2a.Operation
	binding  a2a.Binding
	dialects a2a.Dialects
	task     string       // that the request names, as recorded
	needs    []dependency // what its client had received when it sent the request
	uses     []uint64     // earlier exchanges whose answers contain ids in the request
	pause    time.Duration
	silence  time.Duration // the longest time in which no part of its answer arrived
	skip     string        // why it is not sent; empty if it is
	webhook  bool          // a notification: the agent sent it
	agent    string        // name of the agent that it went to
	client   string        // name of the client that sent it
	state    a2a.State     // of the task that a single answer shows
	more     bool          // the next request that names its task polls again
	ahead    []a2a.State   // states that its task later reached by itself
	position int           // index of its answer in the timeline; -1 if it shows no task
}

// line begins the line of the report.
func (e *entry) line(s report.Status) report.Line {
	return report.Line{
		Exchange: e.seq, Agent: e.agent, Operation: e.op.String(), Task: e.task, Uses: e.uses, Status: s,
		Spoken: compare.SpokenIn(e.binding, e.dialects),
	}
}

// A dependency is a point of an earlier exchange that a request waits for.
type dependency struct {
	seq      uint64
	ended    bool // its answer is complete
	progress compare.Progress
}

// A valueKey is a value in its role.
type valueKey struct {
	role compare.Role
	text string
}

// An origin is the first exchange that named a value.
type origin struct {
	byAgent bool
	at      dependency // where the agent did
	listed  bool       // that is a list of tasks
	used    bool       // a request has had it from there
}

// A plan lists the exchanges of a capture to replay and their dependencies.
type plan struct {
	info    capture.Info
	entries []*entry // in order of their opening, with those left out
	origins map[valueKey]*origin
	reader  reading.Reader // what cards and calls of the capture tell about addresses
	hooks   []delivery     // recorded notifications
	push    bool           // agents were given webhooks

	taps taps                 // of the recording
	ends map[string]a2a.State // in which tasks were seen to end, by their recorded ids
}

// recorded returns what a live answer to the entry's request is compared with.
func (e *entry) recorded(r *compare.Reply) *compare.Recorded {
	return &compare.Recorded{Reply: r, Seq: e.seq, Task: e.task, Polled: e.more, Ahead: e.ahead}
}

// madeElsewhere reports whether the agent first named the id of a task in another exchange.
func (p *plan) madeElsewhere(task string, seq uint64) bool {
	o := p.origins[valueKey{role: compare.TaskID, text: task}]
	return o != nil && o.byAgent && o.at.seq > 0 && o.at.seq != seq
}

// agents returns the names of the agents that requests would be sent to, in order of appearance.
func (p *plan) agents() []string {
	var names []string
	for _, e := range p.entries {
		if e.skip == "" && !e.webhook && !slices.Contains(names, e.agent) {
			names = append(names, e.agent)
		}
	}
	return names
}

// basePath returns the path of an agent's URL without a trailing slash, or "".
func basePath(agentURL string) string {
	u, err := url.Parse(agentURL)
	if err != nil {
		return ""
	}
	return strings.TrimRight(u.EscapedPath(), "/")
}

// A delivery is one notification.
type delivery struct {
	seq    uint64 // of its exchange
	task   string
	answer a2a.Answer // its body
}

// readDelivery reads a notification; none if it cannot be read.
func readDelivery(x *capture.Exchange) []delivery {
	body, err := x.Request.Content()
	if err != nil || len(body) == 0 {
		return nil
	}
	doc := a2a.Parse(bytes.Clone(body)) // which is part of a block of the capture, and would keep all of that
	d := delivery{seq: x.Seq, answer: a2a.Answer{Doc: doc, Payload: a2a.ReadWebhook(&doc)}}
	d.task = compare.NewItem(0, d.answer).Task
	return []delivery{d}
}
