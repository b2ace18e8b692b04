package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
	"a2atap/replay/live"
	"a2atap/replay/report"
)

// player plays a plan against a live agent.
type player struct {
	opts    Options
	src     capture.Source
	plan    *plan
	log     *recorder
	wires   wires
	targets map[string]*target // by the name of the recorded agent
	order   []*target
	hooks   *hooks

	mu    sync.Mutex
	runs  map[uint64]*run
	lines []report.Line
	notes notes
	texts int // in recorded answers, that are not compared
}

// A run is how far one exchange has come, for those that wait for it.
type run struct {
	mu       sync.Mutex
	progress compare.Progress
	sent     bool
	ended    bool
	changed  chan struct{} // closed at the next change
}

func newRun() *run { return &run{changed: make(chan struct{})} }

func (r *run) update(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
	close(r.changed)
	r.changed = make(chan struct{})
}

// await waits until the run is as far as ok wants it, has ended, or the context has.
func (r *run) await(ctx context.Context, ok func() bool) {
	for {
		r.mu.Lock()
		there, changed := ok() || r.ended, r.changed
		r.mu.Unlock()
		if there {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// leaveOut notes that a request was not sent, and for want of which recorded exchange's answer, if that is why.
func (p *player) leaveOut(e *entry, why string, lacks uint64) {
	l := e.line(report.LeftOut)
	l.Why, l.Lacks = why, lacks
	p.line(l)
}

func (p *player) line(l report.Line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, l)
}

func (p *player) countTexts(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.texts += n
}

// comparison compares what was recorded of an agent with what has the number live now.
func (p *player) comparison(t *target, rec *compare.Recorded, now *compare.Reply, live uint64) *compare.Comparison {
	return &compare.Comparison{
		Values: t.values, Profile: p.opts.Profile, Texts: p.opts.Texts, Recorded: rec, Live: now, LiveSeq: live, Translated: p.translated(),
		Noise: p.opts.Noise, Tolerance: p.opts.Late, Closer: p.opts.further != nil,
	}
}

// A target is a live agent that stands for a recorded one, and what is known of it. Each has values of its own: two
// agents may use one context id, and answer with different ones.
type target struct {
	url       string
	agent     capture.Peer
	endpoints *endpoints
	values    *compare.Values
	authorize Authorizer // nil if there are no credentials for it

	interfaces []a2a.Interface // of the live card, if requests are to be sent in other words
}

// noteCallers says which live agents were clients, too: what they sent is sent again, as all that went to the agents
// that are replayed, and they make such calls themselves as well.
func (p *player) noteCallers() {
	asked := map[string][]string{} // by caller
	var callers, others []string
	for _, e := range p.plan.entries {
		switch {
		case e.skip != "" || e.webhook || e.client == "" || p.targets[e.agent] == nil:
		case p.targets[e.client] == nil:
			if !slices.Contains(others, e.client) {
				others = append(others, e.client)
			}
		case e.client != e.agent && !slices.Contains(asked[e.client], e.agent):
			if asked[e.client] == nil {
				callers = append(callers, e.client)
			}
			asked[e.client] = append(asked[e.client], e.agent)
		}
	}
	for _, name := range callers {
		text := fmt.Sprintf("what %s asked of %s was sent again, beside the calls that it makes itself now that it is live",
			name, strings.Join(asked[name], " and "))
		if len(others) == 1 {
			text += fmt.Sprintf("; --filter client:%s plays only what %s sent", others[0], others[0])
		}
		p.notes.once(text)
	}
}

// recorder keeps the live traffic: every step goes to the rules and to the caller's sink, in one order. It is safe for
// concurrent use.
type recorder struct {
	*live.Log

	mu       sync.Mutex
	engine   *engine.Engine
	sink     capture.Sink // nil if the traffic is not kept
	findings []analysis.Finding
	err      error // why the traffic could not be kept; the first one
}

func newRecorder(rules []*analysis.Rule, sink capture.Sink, seq uint64) *recorder {
	r := &recorder{engine: engine.New(rules), sink: sink}
	r.Log = live.NewLog(seq, r.take)
	return r
}

func (r *recorder) take(s capture.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.findings = append(r.findings, r.engine.Step(s)...)
	if r.sink != nil && r.err == nil {
		r.err = r.sink.Append(s.Clone())
	}
}

// end judges what can be judged only when all is over, and returns all findings.
func (r *recorder) end() []analysis.Finding {
	r.Log.End()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.findings = append(r.findings, r.engine.End(false)...)
	return r.findings
}
