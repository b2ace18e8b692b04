package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// planner makes a plan of the steps of a capture. It holds the exchanges that are open, and of the others only what the
// plan needs.
type planner struct {
	plan
	keep     func(*capture.Exchange) bool
	open     map[uint64]*planning
	order    []uint64 // of the open exchanges
	ended    []dependency
	bySeq    map[uint64]*entry
	last     time.Time         // of the latest step
	lastUse  map[string]*entry // the latest request that names a task
	timeline []tick
}

// planning is an exchange while its steps pass.
type planning struct {
	x       *capture.Exchange
	entry   *entry
	call    a2a.Call
	read    bool // call is set
	folder  folder
	over    bool // its answer is complete
	latest  time.Duration
	arrived bool // something of its answer is there

	events   []capture.Event // not read yet: an agent may answer before it has the whole request
	complete bool            // the answer is complete
}

// A tick is something that happened to tasks: a state was seen, or a client acted.
type tick struct {
	task  string
	state a2a.State
}

func makePlan(ctx context.Context, src capture.Source, keep func(*capture.Exchange) bool) (*plan, error) {
	info, err := src.Info(ctx)
	if err != nil {
		return nil, err
	}
	p := &planner{
		plan: plan{info: info, born: map[valueKey]*birth{}, known: map[string]a2a.Known{}},
		keep: keep, open: map[uint64]*planning{}, bySeq: map[uint64]*entry{}, lastUse: map[string]*entry{},
	}
	for s, err := range src.Steps(ctx, 1) {
		if err != nil {
			return nil, err
		}
		p.step(s)
	}
	for _, seq := range slices.Clone(p.order) {
		p.finish(p.open[seq])
	}
	for _, e := range p.entries {
		p.lookAhead(e)
	}
	return &p.plan, nil
}

func (p *planner) step(s capture.Step) {
	o := p.open[s.Seq]
	if opened, ok := s.What.(capture.Opened); ok {
		o = p.opened(s, opened)
	}
	if o == nil {
		return // a hole, or a fact about an exchange that is over
	}
	o.x = capture.Assemble(o.x, s)
	p.time(o, s)
	switch what := s.What.(type) {
	case capture.RequestEnd:
		p.request(o)
		p.catchUp(o)
	case capture.ResponseEvent:
		o.events = append(o.events, what.Event)
		p.catchUp(o)
	case capture.ResponseEnd:
		o.complete = true
		p.catchUp(o)
	case capture.Closed:
		p.finish(o)
	}
}

// catchUp reads what has come of an answer, once its request is there.
func (p *planner) catchUp(o *planning) {
	if !o.read {
		return
	}
	for i := range o.events {
		p.event(o, &o.events[i])
	}
	o.events = o.events[:0]
	if o.complete {
		p.answered(o)
	}
}

func (p *planner) opened(s capture.Step, what capture.Opened) *planning {
	e := &entry{seq: s.Seq, index: len(p.entries), agent: agentName(what.Agent, what.Head), tick: -1, needs: p.ended}
	p.ended = nil
	for _, seq := range p.order {
		if o := p.open[seq]; !o.over {
			e.needs = append(e.needs, dependency{seq: seq, progress: o.folder.progress()})
		}
	}
	if !p.last.IsZero() {
		e.pause = max(0, what.Started.Sub(p.last))
	}
	o := &planning{entry: e}
	p.entries = append(p.entries, e)
	p.open[s.Seq], p.bySeq[s.Seq] = o, e
	p.order = append(p.order, s.Seq)
	return o
}

func agentName(agent capture.Peer, head []byte) string {
	switch {
	case agent.Name != "":
		return agent.Name
	case agent.URL != "":
		return agent.URL
	}
	h := capture.ParseRequestHead(head)
	return h.Fields.Get("Host")
}

// time notes when the step was, and how long nothing had come before it.
func (p *planner) time(o *planning, s capture.Step) {
	if s.Offset < 0 {
		return
	}
	if o.arrived || o.read {
		o.entry.silence = max(o.entry.silence, s.Offset-o.latest)
	}
	o.latest = s.Offset
	if at := o.x.Started.Add(s.Offset); at.After(p.last) {
		p.last = at
	}
}

// request reads the request of an exchange once it is there.
func (p *planner) request(o *planning) {
	if o.read {
		return
	}
	o.read = true
	head := capture.ParseRequestHead(o.x.Request.Head)
	path, _, _ := strings.Cut(head.Target, "?")
	o.call, _, _ = readCall(o.x, p.known[path])
	o.folder.call = &o.call
	e := o.entry
	e.op, e.task, e.webhook = o.call.Operation, o.call.TaskID, o.call.Operation == a2a.Webhook
	if o.call.Binding == a2a.JSONRPC {
		known := p.known[path]
		known.Spoken(a2a.JSONRPC, o.call.Dialects)
		p.known[path] = known
	}
	if e.webhook {
		return
	}
	p.used(o, head.Target)
	if e.task != "" {
		if before := p.lastUse[e.task]; before != nil && before.op == a2a.GetTask && e.op == a2a.GetTask {
			before.more = true
		}
		p.lastUse[e.task] = e
	}
	if e.op.Sends() || e.op == a2a.CancelTask {
		p.timeline = append(p.timeline, tick{})
	}
}

// used notes which values of the other side a request holds, and waits for them.
func (p *planner) used(o *planning, target string) {
	note := func(role Role, text string) (string, bool) {
		k := valueKey{role: role, text: text}
		b := p.born[k]
		if b == nil {
			p.born[k] = &birth{}
		} else if b.byAgent && b.at.seq != 0 && b.at.seq != o.entry.seq {
			o.entry.needs = append(o.entry.needs, b.at)
		}
		return "", false
	}
	RewriteTarget(target, &o.call, note)
	if o.call.Doc.Err == nil {
		for site := range Sites(o.call.Doc.Root, &o.call) {
			if worthCarrying(site) {
				note(site.Role, site.Text())
			}
		}
	}
}

func worthCarrying(s Site) bool {
	return s.Role != ResourceName && (s.Role != NoRole || Opaque(s.Text()))
}

func (p *planner) event(o *planning, e *capture.Event) {
	o.arrived = true
	a, ok := readEvent(&o.call, e)
	if !ok {
		return
	}
	if at, isNew := o.folder.add(e.K, a); isNew {
		it := o.folder.items[at]
		p.sighted(o, it)
	}
	p.bears(o, a.Doc.Root, dependency{seq: o.entry.seq, progress: o.folder.progress()})
}

// bears notes the values that an answer names.
func (p *planner) bears(o *planning, root a2a.Value, at dependency) {
	for site := range Sites(root, &o.call) {
		if !worthCarrying(site) {
			continue
		}
		k := valueKey{role: site.Role, text: site.Text()}
		if p.born[k] == nil {
			p.born[k] = &birth{byAgent: true, at: at}
		}
	}
}

// answered reads an answer that is complete.
func (p *planner) answered(o *planning) {
	if o.over {
		return
	}
	o.over = true
	p.ended = append(p.ended, dependency{seq: o.entry.seq, ended: true})
	if o.x.Response == nil || o.x.Response.Stream {
		return
	}
	r := readReply(&o.call, o.x)
	for _, it := range r.items {
		p.sighted(o, it)
		p.bears(o, it.answer.Doc.Root, dependency{seq: o.entry.seq, ended: true})
	}
	if first := r.first(); first.kind == a2a.TaskPayload {
		o.entry.state = first.state
		o.entry.tick = len(p.timeline)
	}
}

func (p *planner) sighted(_ *planning, it item) {
	if it.task != "" && it.state.Known() {
		p.timeline = append(p.timeline, tick{it.task, it.state})
	}
}

// finish decides about an exchange of which nothing more will come.
func (p *planner) finish(o *planning) {
	p.request(o)
	p.catchUp(o)
	p.answered(o)
	e := o.entry
	delete(p.open, e.seq)
	p.order = slices.DeleteFunc(p.order, func(seq uint64) bool { return seq == e.seq })
	if e.webhook {
		p.hooks = append(p.hooks, readDelivery(o.x)...)
		return
	}
	e.skip = p.whyNot(o)
}

// whyNot says why an exchange cannot be sent again; "" if it can.
func (p *planner) whyNot(o *planning) string {
	x := o.x
	switch {
	case p.keep != nil && !p.keep(x):
		return notChosen
	case len(x.Request.Head) == 0 || x.Lost > 0 || !x.Request.Body.Complete || x.Request.Body.Dropped > 0:
		return "its request was not recorded whole"
	case !o.call.A2A():
		return "not an A2A request"
	case o.call.Binding == a2a.GRPC:
		return "gRPC is not spoken here"
	case x.Fault != nil && x.Fault.Side == "proxy":
		return fmt.Sprintf("it did not reach the agent when it was recorded (%s)", x.Fault.Kind)
	case x.Fault != nil && x.Fault.Kind == "unreachable":
		return "the agent could not be reached when it was recorded"
	case x.Response == nil:
		return "no answer to it was recorded"
	}
	return ""
}

// notChosen marks the exchanges that the caller does not want; they are not counted.
const notChosen = "not chosen"

// lookAhead finds the states that a task which was seen active reached by itself later on: a live agent that is faster
// may be there already.
func (p *planner) lookAhead(e *entry) {
	if e.tick < 0 || !e.state.Active() || e.task == "" && e.op == a2a.GetTask {
		return
	}
	var task string
	if e.tick > 0 {
		task = p.timeline[e.tick-1].task
	}
	const farthest = 4096
	for i := e.tick; i < min(len(p.timeline), e.tick+farthest); i++ {
		switch t := p.timeline[i]; {
		case t.task == "":
			return
		case t.task == task && !slices.Contains(e.ahead, t.state):
			e.ahead = append(e.ahead, t.state)
		}
	}
}
