package replay

import (
	"context"
	"fmt"
	"slices"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
)

// planner makes a plan from the steps of a capture. It keeps the open exchanges, and only the required parts of the
// others.
type planner struct {
	plan
	keep     func(*capture.Exchange) bool
	open     map[uint64]*openExchange
	order    []uint64 // of the open exchanges
	ended    []dependency
	bySeq    map[uint64]*entry
	last     time.Time         // of the latest step
	lastUse  map[string]*entry // the latest request that names a task
	timeline []taskChange
}

// An openExchange is an exchange whose steps are still being read.
type openExchange struct {
	x       *capture.Exchange
	entry   *entry
	call    a2a.Call
	read    bool // call is set
	reader  compare.ItemReader
	over    bool // its answer is complete
	latest  time.Duration
	arrived bool // part of its answer has arrived

	events   []capture.Event // not read yet: an agent may answer before it has the whole request
	complete bool            // the answer is complete
}

// A taskChange is a state of a task that was seen, or, if it is zero, a change that a client requested.
type taskChange struct {
	task  string
	state a2a.State
}

func makePlan(ctx context.Context, src capture.Source, keep func(*capture.Exchange) bool) (*plan, error) {
	info, err := src.Info(ctx)
	if err != nil {
		return nil, err
	}
	p := &planner{
		plan: plan{info: info, origins: map[valueKey]*origin{}, ends: map[string]a2a.State{}, taps: taps{}},
		keep: keep, open: map[uint64]*openExchange{}, bySeq: map[uint64]*entry{}, lastUse: map[string]*entry{},
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
		return // a loss, or a fact about an exchange that has ended
	}
	o.x = capture.Assemble(o.x, s)
	p.noteTime(o, s)
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

// catchUp reads the received part of an answer once its request is complete.
func (p *planner) catchUp(o *openExchange) {
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

func (p *planner) opened(s capture.Step, what capture.Opened) *openExchange {
	e := &entry{
		seq: s.Seq, index: len(p.entries), agent: agentName(what.Agent, what.Head), client: what.Client.Name, position: -1,
		needs: p.ended,
	}
	p.ended = nil
	for _, seq := range p.order {
		if o := p.open[seq]; !o.over {
			e.needs = append(e.needs, dependency{seq: seq, progress: o.reader.Progress()})
		}
	}
	if !p.last.IsZero() {
		e.pause = max(0, what.Started.Sub(p.last))
	}
	o := &openExchange{entry: e}
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

// noteTime records the time of the step, and the pause before it. An answer is silent until the client receives what it
// waits for: the whole answer, or the next event. Comments in a stream do not count, nor does a client that leaves.
func (p *planner) noteTime(o *openExchange, s capture.Step) {
	if s.Offset < 0 {
		return
	}
	closed, isClosed := s.What.(capture.Closed)
	hasLeft := isClosed && closed.Fault != nil && closed.Fault.Side == "client"
	if (o.arrived || o.read) && !hasLeft {
		o.entry.silence = max(o.entry.silence, s.Offset-o.latest)
	}
	switch what := s.What.(type) {
	case capture.RequestEnd:
		o.latest = s.Offset
	case capture.ResponseEvent:
		if compare.Dispatched(&what.Event) {
			o.latest = s.Offset
		}
	}
	if at := o.x.Started.Add(s.Offset); at.After(p.last) {
		p.last = at
	}
}

// request reads the request of an exchange once it is complete.
func (p *planner) request(o *openExchange) {
	if o.read {
		return
	}
	o.read = true
	head := capture.ParseRequestHead(o.x.Request.Head)
	o.call, _, _ = compare.ReadCall(o.x, p.reader.Known(o.x.Agent.URL, head.Target))
	o.reader.Call = &o.call
	e := o.entry
	p.taps.note(e.agent, o.x, &head)
	e.op, e.task, e.webhook = o.call.Operation, o.call.TaskID, o.call.Operation == a2a.Webhook
	e.binding, e.dialects = o.call.Binding, o.call.Dialects
	if e.webhook {
		return
	}
	p.push = p.push || o.call.PushConfig.URL() != ""
	p.noteUses(o, head.Target)
	if e.task != "" {
		if before := p.lastUse[e.task]; before != nil && before.op == a2a.GetTask && e.op == a2a.GetTask {
			before.more = true
		}
		p.lastUse[e.task] = e
	}
	if e.op.Sends() || e.op == a2a.CancelTask {
		p.timeline = append(p.timeline, taskChange{})
	}
}

// noteUses records which values of the other side a request contains, and makes the request wait for them.
func (p *planner) noteUses(o *openExchange, target string) {
	note := func(role compare.Role, text string) (string, bool) {
		k := valueKey{role: role, text: text}
		b := p.origins[k]
		if b == nil {
			p.origins[k] = &origin{}
		} else if b.used = true; b.byAgent && b.at.seq != 0 && b.at.seq != o.entry.seq {
			o.entry.needs = append(o.entry.needs, b.at)
			if !slices.Contains(o.entry.uses, b.at.seq) {
				o.entry.uses = append(o.entry.uses, b.at.seq)
			}
		}
		return "", false
	}
	compare.RewriteTarget(target, &o.call, note)
	if o.call.Doc.Err == nil {
		for site := range compare.Sites(o.call.Doc.Root, &o.call) {
			if worthCarrying(site) {
				note(site.Role, site.Text())
			}
		}
	}
}

func worthCarrying(s compare.Site) bool {
	return s.Role != compare.ResourceName && (s.Role != compare.NoRole || compare.Opaque(s.Text()))
}

func (p *planner) event(o *openExchange, e *capture.Event) {
	a, ok := compare.ReadEvent(&o.call, e)
	if ok && len(o.reader.Items) == 0 {
		p.reader.Answered(o.x, reading.ReadEvent(&o.call, e, nil))
	}
	o.arrived = true
	if !ok {
		return
	}
	if at, isNew := o.reader.Add(e.K, a); isNew {
		p.noteState(o, o.reader.Items[at])
	}
	p.noteOrigins(o, a.Doc.Root, dependency{seq: o.entry.seq, progress: o.reader.Progress()})
}

// noteOrigins records the values that an answer names. A list may show a value before the answer to the request that
// made it; the origin is then that answer. Two runs need not list objects that were made at the same time in one
// order.
func (p *planner) noteOrigins(o *openExchange, root a2a.Value, at dependency) {
	for site := range compare.Sites(root, &o.call) {
		if !worthCarrying(site) {
			continue
		}
		k := valueKey{role: site.Role, text: site.Text()}
		switch b := p.origins[k]; {
		case b == nil:
			p.origins[k] = &origin{byAgent: true, at: at, listed: o.entry.op == a2a.ListTasks}
		case b.listed && !b.used && o.entry.op.Sends() && o.entry.task == "":
			b.at, b.listed = at, false
		}
	}
}

// answered reads a complete answer.
func (p *planner) answered(o *openExchange) {
	if o.over {
		return
	}
	o.over = true
	p.ended = append(p.ended, dependency{seq: o.entry.seq, ended: true})
	if o.x.Response == nil || o.x.Response.Stream {
		return
	}
	p.reader.Answered(o.x, reading.ReadAnswer(&o.call, o.x))
	r := compare.ReadReply(&o.call, o.x)
	for _, it := range r.Items {
		p.noteState(o, it)
		p.noteOrigins(o, it.Answer.Doc.Root, dependency{seq: o.entry.seq, ended: true})
	}
	if first := r.First(); first.Kind == a2a.TaskPayload {
		o.entry.state = first.State
		o.entry.position = len(p.timeline)
	}
}

func (p *planner) noteState(_ *openExchange, it compare.Item) {
	if it.Task != "" && it.State.Known() {
		p.timeline = append(p.timeline, taskChange{it.Task, it.State})
		if it.State.Terminal() {
			p.ends[it.Task] = it.State
		}
	}
}

// finish completes the entry of an exchange that has no further steps.
func (p *planner) finish(o *openExchange) {
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

// whyNot returns why an exchange cannot be sent again; "" if it can.
func (p *planner) whyNot(o *openExchange) string {
	x := o.x
	switch {
	case p.keep != nil && !p.keep(x):
		return notChosen
	case len(x.Request.Head) == 0 || x.Lost > 0 || !x.Request.Body.Complete || x.Request.Body.Dropped > 0:
		return "its request was not recorded completely"
	case !o.call.A2A():
		return "not an A2A request"
	case x.FaultMade() != "":
		return "a fault was injected into its answer when it was recorded"
	case x.Fault != nil && x.Fault.Side == "proxy":
		return whyProxyEnded(x)
	case x.Fault != nil && x.Fault.Kind == "unreachable":
		return "the agent could not be reached when it was recorded"
	case x.Response == nil:
		return "its answer was not recorded"
	}
	return ""
}

// whyProxyEnded describes the progress of an exchange that the recorder ended.
func whyProxyEnded(x *capture.Exchange) string {
	switch r := x.Response; {
	case r != nil && len(r.Events) > 0:
		events := analysis.Plural(len(r.Events), "event")
		return fmt.Sprintf("the recorder ended its answer after %s (%s)", events, x.Fault.Kind)
	case r != nil:
		return fmt.Sprintf("the recorder ended its answer before that was complete (%s)", x.Fault.Kind)
	case x.Fault.Kind == "shutdown":
		return "the recorder stopped before an answer to it began"
	}
	return fmt.Sprintf("it did not reach the agent when it was recorded (%s)", x.Fault.Kind)
}

// notChosen marks exchanges that Options.Keep excludes; they are not counted.
const notChosen = "not selected"

// lookAhead finds the later states that a task reached by itself after it was seen active: a faster live agent may have
// reached them already.
func (p *planner) lookAhead(e *entry) {
	if e.position < 0 || !e.state.Active() || e.task == "" && e.op == a2a.GetTask {
		return
	}
	var task string
	if e.position > 0 {
		task = p.timeline[e.position-1].task
	}
	const farthest = 4096
	for i := e.position; i < min(len(p.timeline), e.position+farthest); i++ {
		switch t := p.timeline[i]; {
		case t.task == "":
			return
		case t.task == task && !slices.Contains(e.ahead, t.state):
			e.ahead = append(e.ahead, t.state)
		}
	}
}
