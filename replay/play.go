package replay

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
	"a2atap/replay/live"
	"a2atap/replay/report"
)

// play sends all requests and returns when all answers have arrived. Requests begin in their recorded order, each
// once the replay has seen what its client had seen.
func (p *player) play(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	for _, e := range p.plan.entries {
		if e.webhook || e.skip == notChosen {
			continue
		}
		if e.skip != "" {
			p.leaveOut(e, e.skip, 0)
			continue
		}
		p.needs(ctx, e)
		if !p.pause(ctx, e) {
			return
		}
		r := newRun()
		p.mu.Lock()
		p.runs[e.seq] = r
		p.mu.Unlock()
		group.Go(func() {
			defer r.update(func() { r.ended = true })
			p.exchange(ctx, e, r)
		})
		r.await(ctx, func() bool { return r.sent })
	}
}

// needs waits for an exchange's dependencies, at most the time that an answer may take.
func (p *player) needs(ctx context.Context, e *entry) {
	for _, d := range e.needs {
		p.mu.Lock()
		r := p.runs[d.seq]
		p.mu.Unlock()
		if r == nil {
			continue // it was left out
		}
		if d.ended {
			r.await(ctx, func() bool { return false }) // it ends by its own timeout
			continue
		}
		limit, cancel := context.WithTimeout(ctx, p.opts.Timeout+e.silence)
		came := false
		r.await(limit, func() bool { came = r.progress.Reached(d.progress); return came })
		if !came && ctx.Err() == nil { // in time, or before the exchange ended
			p.notes.add("late", fmt.Sprintf(
				"exchange %d was sent late: the event of exchange %d for which its client had waited did not arrive", e.seq, d.seq))
		}
		cancel()
	}
}

// pause waits for the recorded client's pause, at the requested speed. It reports whether to continue.
func (p *player) pause(ctx context.Context, e *entry) bool {
	if p.opts.Speed <= 0 || e.pause == 0 {
		return ctx.Err() == nil
	}
	return live.Sleep(ctx, time.Duration(float64(e.pause)/p.opts.Speed))
}

// exchange sends one request, more than once if it polls, and compares the answer.
func (p *player) exchange(ctx context.Context, e *entry, r *run) {
	x, err := p.src.Exchange(ctx, e.seq)
	if err != nil {
		p.leaveOut(e, err.Error(), 0)
		return
	}
	out, call, reason := p.prepare(ctx, e, x)
	if reason != "" {
		p.leaveOut(e, reason, out.lacks)
		return
	}
	rec := e.recorded(compare.ReadReply(call, x))
	rec.Made = func(task string) bool { return p.plan.madeElsewhere(task, e.seq) }
	rec.AssumeLeft()
	begun := time.Now()
	line := e.line(report.Matched)
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		if line.Requests++; line.Live > 0 {
			line.Polls = append(line.Polls, line.Live)
		}
		c, learned := p.once(ctx, e, x, out, rec, r)
		line.Live = c.LiveSeq
		line.Differences = append(learned, c.Run()...)
		if len(line.Differences) > 0 && p.endedBefore(ctx, e, x, out, rec, c.Live) {
			line.Requests++
			line.Differences = nil
		}
		if !p.polling(e, rec, c) || time.Since(begun) > p.opts.Timeout || !live.Sleep(ctx, wait) {
			c.Note()
			p.more(e, c)
			break
		}
	}
	if len(line.Differences) > 0 {
		line.Status = report.Differing
	}
	if p.opts.Profile != compare.Exact && !p.opts.Texts {
		p.countTexts(rec.Texts())
	}
	for i := range line.Differences {
		line.Differences[i].Live = line.Live
	}
	p.line(line)
}

// more passes further differences to the callback that requested them.
func (p *player) more(e *entry, c *compare.Comparison) {
	if p.opts.further != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.opts.further(e.seq, c.Further())
	}
}

// polling reports whether to send a request for tasks again, since the task may still reach the recorded state by
// itself.
func (p *player) polling(e *entry, rec *compare.Recorded, c *compare.Comparison) bool {
	was, live := rec.First(), c.Live.First()
	switch {
	case was.Kind != live.Kind:
		return false
	case live.Kind == a2a.TaskListPayload:
		return c.Lagging(was, live)
	}
	return e.op == a2a.GetTask && !e.more && live.Kind == a2a.TaskPayload && live.State.Active() && !c.Settled(was, live)
}

// once sends a request and reads its answer. It returns the comparison and the contradictions among ids.
func (p *player) once(
	ctx context.Context, e *entry, x *capture.Exchange, out outgoing, rec *compare.Recorded, r *run,
) (*compare.Comparison, []compare.Difference) {
	t := p.targets[e.agent]
	l := compare.NewPairer(t.values, rec, out.call)
	log := p.log.Open(capture.Peer{Name: "a2atap", How: "replay"}, t.agent, out.head)
	l.Noise = p.opts.Noise.Of(rec.Call.Operation, rec.Seq, log.Seq())
	sent := func() { r.update(func() { r.sent = true }) }
	f := &follower{Pairer: l, rec: rec, call: out.call, run: r}
	ask := out.live(log)
	ask.Timeout, ask.Sent, ask.Begun, ask.Event = p.opts.Timeout+e.silence, sent, f.begun, f.event
	p.agents.Do(ctx, ask)
	p.plan.taps.remarkOn(&p.notes, e.agent, log.Recorded())
	now := compare.ReadReply(out.call, log.Recorded())
	if !now.Stream {
		for _, it := range now.Items {
			l.Take(0, it.Answer)
		}
	}
	p.learnHeads(t, x, log.Recorded(), rec, now)
	t.noteAnswer(rec, now, log.Recorded())
	return p.comparison(t, rec, now, log.Seq()), l.Contradictions()
}

// learnHeads takes the values from an answer that the protocol does not name: the tag of a card's version, and the
// addresses of the agent's interfaces.
func (p *player) learnHeads(t *target, x, live *capture.Exchange, rec *compare.Recorded, now *compare.Reply) {
	if live.Response == nil {
		return
	}
	was := capture.ParseResponseHead(x.Response.Head).Fields.Get("ETag")
	is := capture.ParseResponseHead(live.Response.Head).Fields.Get("ETag")
	if was != "" && is != "" {
		t.values.Pair(&compare.Pairing{Role: compare.NoRole, Recorded: was, Live: is})
	}
	a, b := rec.First(), now.First()
	if rec.Call.Operation == a2a.GetCard && a.Kind == a2a.CardPayload && b.Kind == a2a.CardPayload {
		recorded, current := a2a.DecodeCard(a.Answer.Payload.Value), a2a.DecodeCard(b.Answer.Payload.Value)
		for _, note := range t.endpoints.learn(recorded, current) {
			p.notes.once(note)
		}
		if !p.translated() {
			p.noteOffers(t, recorded, current)
		}
	}
}

// endedBefore reports whether a subscription failed because its task had already reached the state in which it ended in
// the recording. A faster agent or a slower request is not a difference. endedBefore asks the agent for the task. An
// agent that refuses a subscription to a working task is not excused.
//
// Source: A2A 1.0 §3.1.6: a task that has ended cannot be subscribed to.
func (p *player) endedBefore(
	ctx context.Context, e *entry, x *capture.Exchange, out outgoing, rec *compare.Recorded, now *compare.Reply,
) bool {
	end, known := p.plan.ends[e.task]
	if e.op != a2a.SubscribeToTask || !known || !rec.Stream || rec.Failed() || now.First().Err == nil {
		return false
	}
	get, ok := getInstead(out)
	if out.call.Binding == a2a.GRPC {
		get, ok = getOverGRPC(out)
	}
	if !ok {
		return false
	}
	t := p.targets[e.agent]
	log := p.log.Open(capture.Peer{Name: "a2atap", How: "replay"}, t.agent, get.head)
	ask := get.live(log)
	ask.Timeout = p.opts.Timeout
	p.agents.Do(ctx, ask)
	target := capture.ParseRequestHead(x.Request.Head).Target
	call, _, _ := compare.ReadCall(log.Recorded(), p.plan.reader.Known(x.Agent.URL, target))
	return compare.ReadReply(&call, log.Recorded()).First().State == end
}

// getOverGRPC is getInstead over gRPC, where both requests are one message.
func getOverGRPC(out outgoing) (outgoing, bool) {
	before, is := strings.CutSuffix(out.at.target, "/"+out.call.Method)
	if !is {
		return out, false
	}
	was := out.at.target
	out.at.target = before + "/GetTask"
	out.head = bytes.Replace(out.head, []byte(" "+was+" "), []byte(" "+out.at.target+" "), 1)
	return out, true
}

// getInstead returns a request for a task instead of a subscription to it, in the same binding and dialect.
func getInstead(out outgoing) (outgoing, bool) {
	path, query, asked := strings.Cut(out.at.target, "?")
	if bare, is := strings.CutSuffix(path, ":subscribe"); is {
		out.method, out.body, out.at.target = "GET", nil, bare
		if asked {
			out.at.target += "?" + query
		}
	} else {
		method := a2a.Parse(out.body).Root.Get("method")
		get := map[string]string{"SubscribeToTask": `"GetTask"`, "tasks/resubscribe": `"tasks/get"`}[method.Text()]
		if get == "" {
			return out, false
		}
		begin := method.Offset()
		out.body = bytes.Join([][]byte{out.body[:begin], []byte(get), out.body[begin+len(method.Raw()):]}, nil)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", out.method, out.at.target)
	for _, f := range capture.ParseRequestHead(out.head).Fields {
		switch strings.ToLower(f.Name) {
		case "content-length":
			continue
		case "content-type":
			if out.body == nil {
				continue
			}
		case "accept":
			f.Value = "application/json"
		}
		fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
	}
	if out.body != nil {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(out.body))
	}
	b.WriteString("\r\n")
	out.head = b.Bytes()
	return out, true
}
