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
	log     *live.Log // every live step goes to the engine and to the caller's sink
	engine  *engine.Engine
	found   []analysis.Finding // by the engine; complete when the log has ended
	agents  live.Transport     // carries requests to the agents
	targets map[string]*target // by the name of the recorded agent
	order   []*target
	hooks   *hooks

	mu    sync.Mutex
	runs  map[uint64]*run
	lines []report.Line
	notes notes
	texts int // in recorded answers, that are not compared
}

// A run is the progress of one exchange, for exchanges that wait for it.
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

// leaveOut records that a request was not sent, and the recorded exchange whose missing answer is the reason, if any.
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

// comparison compares an agent's recorded answer with the live answer in the exchange of the given number.
func (p *player) comparison(t *target, rec *compare.Recorded, now *compare.Reply, live uint64) *compare.Comparison {
	return &compare.Comparison{
		Values: t.values, Profile: p.opts.Profile, Texts: p.opts.Texts, Recorded: rec, Live: now, LiveSeq: live, Translated: p.translated(),
		Noise: p.opts.Noise, Tolerance: p.opts.Late, Closer: p.opts.further != nil,
	}
}

// A target is the live agent for a recorded one, with known facts about it. Each has separate values: two agents may
// receive the same context id and answer with different ones.
type target struct {
	url       string
	agent     capture.Peer
	endpoints *endpoints
	values    *compare.Values
	authorize Authorizer // nil without credentials for it

	interfaces []a2a.Interface // of the live card, if requests are to be translated

	mu      sync.Mutex
	isAgent bool // an answer shows that it is one
	foreign int  // answers that are not of A2A
	status  int  // HTTP status of the last of them
}

// noteCallers adds a note about live agents that were also clients: their recorded requests to replayed agents are sent
// again, and they also make such calls themselves.
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
		text := fmt.Sprintf("the recorded calls of %s to %s were also sent, in addition to the calls that the live agent makes itself",
			name, strings.Join(asked[name], " and "))
		if len(others) == 1 {
			text += fmt.Sprintf("; --filter client:%s plays only the requests of %s", others[0], others[0])
		}
		p.notes.once(text)
	}
}
