package intake

import (
	"bytes"
	"iter"
	"maps"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine/internal/dispatch"
	"a2atap/analyzer/internal/address"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// maxHeld bounds the steps of an answer that wait for the end of their request.
const maxHeld = 10_000

// Step takes the next step.
func (r *Reader) Step(s capture.Step) {
	switch lost, ok := s.What.(capture.Lost); {
	case ok:
		r.lost(s.Seq, lost)
	case s.Seq != 0:
		r.step(s)
	}
}

// Forget drops the exchanges that the last step has closed, if any.
func (r *Reader) Forget() {
	for _, seq := range r.done {
		if in := r.open[seq]; in != nil {
			r.held -= in.size
			*in = openExchange{}
			r.spare = append(r.spare, in)
		}
		delete(r.open, seq)
	}
	r.done = r.done[:0]
}

// lost counts exchanges that were not recorded. An exchange with a gap is checked up to the gap. A loss without a
// number of exchanges counts as a gap, with its reason; a loss of bytes belongs to the exchanges that were counted
// before it.
func (r *Reader) lost(seq uint64, lost capture.Lost) {
	if in := r.open[seq]; in != nil {
		in.gathered.step(&capture.Step{Seq: seq, Offset: capture.NotKnown, What: lost})
		r.gap(in)
		return
	}
	r.missed = true
	switch {
	case lost.Exchanges > 0:
		r.counter.Counts.Lost = capture.AddLost(r.counter.Counts.Lost, lost.Exchanges)
	case lost.Bytes > 0 && r.counter.Counts.Lost > 0: // of the exchanges counted before
	default:
		r.gaps++
		r.counter.Gap(lost)
	}
}

// Pause reports the open exchanges to the hooks during a recording. None of them is a call yet.
func (r *Reader) Pause() {
	if len(r.hooks.Ended) == 0 {
		return
	}
	for _, in := range r.open {
		open := in.summary()
		open.Call, open.Outcome = false, analysis.Outcome{}
		r.hooks.ended(open)
	}
}

// End ends the reading: no step will come.
func (r *Reader) End() {
	var streams []*openExchange
	for in := range r.inOrder() {
		if in.X.Stream != nil {
			streams = append(streams, in)
		}
		r.undelivered(in, capture.Step{Offset: capture.NotKnown})
		r.ended(in)
	}
	for _, in := range streams {
		r.streamEnded(in, capture.Step{Offset: capture.NotKnown}, analysis.StreamEnd{Open: true, At: r.now})
	}
	r.dispatcher.Observe(&dispatch.Case{Judged: true}, &analysis.Observation{Kind: analysis.CaptureDone, At: r.now, Pauses: r.pauses})
}

// maxPauses bounds the pauses between recordings that are remembered.
const maxPauses = 1000

// step passes one step to its exchange.
func (r *Reader) step(s capture.Step) {
	if opened, ok := s.What.(capture.Opened); ok {
		r.counter.Counts.Exchanges++
		in := r.newExchange()
		in.X = r.begin(s, opened)
		in.gathered.begin(&s, &opened, &in.X.Request)
		r.open[s.Seq] = in
		return
	}
	in := r.open[s.Seq]
	if in != nil {
		if fact, ok := s.What.(capture.Fact); ok && fact.Note == capture.Resumed && len(r.pauses) < maxPauses {
			r.pauses = append(r.pauses, r.now)
		}
		r.tick(at(in.X, s))
		if head, ok := s.What.(capture.ResponseHead); ok && (s.Parsed == nil || s.Parsed.Head == nil) {
			s.Parsed = in.parsedHead(head.Head)
		}
		in.gathered.step(&s)
	}
	switch {
	case in == nil: // its beginning is not on record, or it has ended and only facts come
		if fact, ok := s.What.(capture.Fact); ok && r.hooks.Late != nil {
			r.hooks.Late(s.Seq, fact)
		}
	case in.X.Asked || !ofAnswer(s.What):
		r.advance(in, s)
	case len(in.held) < maxHeld:
		in.held = append(in.held, s)
	default:
		in.cut()
	}
}

// ofAnswer reports whether a step must wait until the request is known. The end of the exchange need not wait: no
// request comes after it.
func ofAnswer(what capture.What) bool {
	switch what.(type) {
	case capture.ResponseHead, capture.ResponseBody, capture.ResponseEvent, capture.ResponseEnd:
		return true
	}
	return false
}

// maxRewritten bounds the stored changes to an answer.
const maxRewritten = 100

func (r *Reader) advance(in *openExchange, s capture.Step) {
	switch what := s.What.(type) {
	case capture.RequestBody:
		r.add(in, &in.request, what.Data, what.Dropped, what.Decoded)
	case capture.RequestEnd:
		in.request.Size, in.request.Complete, in.X.Asked = what.Size, true, true
		r.request(in, s)
		r.release(in)
	case capture.Fact:
		if what.Client.Name != "" {
			in.X.Link.Client, in.X.Anonymous = what.Client.Name, what.Client.Anonymous()
			r.counter.Note(in.X.Link)
		}
		if name := what.AgentName(); name != "" {
			in.X.Link.Agent = name
			r.counter.Note(in.X.Link)
		}
		for _, w := range what.Rewrites {
			switch {
			case w.Place == "request.header[If-None-Match]":
				in.X.NoneMatch = w.Now
			case strings.HasPrefix(w.Place, "request.body#"):
				in.X.CallbackOrigin = address.Origin(w.Now)
			case strings.HasPrefix(w.Place, "response.body#") && len(in.X.Rewritten) < maxRewritten:
				in.X.Rewritten = append(in.X.Rewritten, w)
			}
		}
		if strings.HasPrefix(what.Note, capture.WebhooksNotObserved) {
			in.unheard = true
		}
		in.noSign = in.noSign || what.Note == capture.NoSign
		in.noteUnreadable(what.Note)
		if what.End.Side == "client" {
			in.client = what.End
			if what.End.How != capture.EndHalfClose && in.task != "" {
				r.givenUp.named(in.task, true)
			}
		}
		if made, ok := strings.CutPrefix(what.Note, capture.FaultMadeHere); ok {
			r.faultMade(in, made)
		}
	case capture.Closed:
		r.closed(in, s, what)
	default:
		head, ok := what.(capture.ResponseHead)
		if ok && !in.unseen && endsObservation(&in.X.Request, head.Head) {
			in.unseen = true
			r.counter.Counts.Unseen++
		}
		switch {
		case in.made.hides():
		case in.near != nil:
			r.advanceNeighbor(in, s)
		case in.X.Judged() || in.X.Gather && !ofStream(what): // the bodies of other traffic are not gathered
			r.advanceAnswer(in, s)
		case in.seeking:
			if r.search(in, s) {
				r.advanceAnswer(in, s)
			}
		}
	}
}

// ofStream reports whether a step belongs to an event stream.
func ofStream(what capture.What) bool {
	head, ok := what.(capture.ResponseHead)
	_, event := what.(capture.ResponseEvent)
	return event || ok && head.Stream
}

// endsObservation reports whether nothing after the head of an answer is observed: another protocol has begun (RFC 9110
// §15.2.2), or a tunnel (§9.3.6).
func endsObservation(request *capture.Head, answer []byte) bool {
	line, _, _ := bytes.Cut(answer, []byte("\n"))
	_, status, _ := bytes.Cut(line, []byte(" "))
	return bytes.HasPrefix(status, []byte("101")) || request.Method == "CONNECT" && bytes.HasPrefix(status, []byte("2"))
}

func (r *Reader) advanceAnswer(in *openExchange, s capture.Step) {
	switch what := s.What.(type) {
	case capture.ResponseHead:
		in.X.Response, in.X.Answered = headOf(s, what.Head, capture.ParseResponseHead), true
		in.headAt = s.Offset
		r.foreign.answered(in.X)
		if what.Stream && in.X.Call.Binding != a2a.GRPC {
			in.X.Stream = &analysis.Stream{Gap: in.X.Cut}
			r.counter.Counts.Streams++
		}
	case capture.ResponseBody:
		r.add(in, &in.response, what.Data, what.Dropped, what.Decoded)
	case capture.ResponseEvent:
		if k, mine := in.made.event(what.Event.K); mine {
			what.Event.K = k
			if in.X.Call.Binding == a2a.GRPC {
				r.grpcMessage(in, s, what.Event)
			} else {
				r.event(in, s, what.Event)
			}
		}
	case capture.ResponseEnd:
		in.response.Size, in.response.Complete, in.X.Ended, in.endedAt = what.Size, true, true, at(in.X, s)
		switch {
		case in.X.Call.Binding == a2a.GRPC:
			r.grpcEnded(in, s, what.Trailer)
		case in.X.Stream == nil:
			r.answer(in, s)
			r.held -= len(in.response.Data)
			in.size -= len(in.response.Data)
			in.response.Data = nil
		}
	}
}

// release feeds the steps that waited for the request's end.
func (r *Reader) release(in *openExchange) {
	held := in.held
	in.held = nil
	for _, s := range held {
		r.advance(in, s)
	}
}

// closed ends an exchange. An incomplete request is not checked, and neither is its answer.
func (r *Reader) closed(in *openExchange, s capture.Step, c capture.Closed) {
	if r.waits(in, s, c) {
		return
	}
	r.streamOver(in)
	if at := in.result.at; at > 0 && in.gathered.Took >= 0 {
		in.gathered.Took = max(in.gathered.Took, at)
	}
	switch {
	case c.Dropped > 0:
		r.gap(in)
	case in.made.hides():
		in.cut()
	}
	if in.X.Stream != nil {
		cut := c.Interrupted || c.Fault != nil && c.Fault.Kind == "shutdown" || in.made.ends()
		end := analysis.StreamEnd{
			Clean: in.ended() && c.Fault == nil && !cut && in.client.Side == "",
			Fault: c.Fault, Open: cut, At: at(in.X, s), ClientEnded: in.client.Side != "",
		}
		switch {
		case end.ByClient() && in.client.Side != "" && in.client.At >= 0:
			end.At = at(in.X, capture.Step{Offset: in.client.At})
		case in.X.Ended:
			end.At = in.endedAt
		case end.Open && end.At.IsZero():
			end.At = r.now
		}
		r.streamEnded(in, s, end)
	}
	r.undelivered(in, s)
	in.X.Outcome = in.finalOutcome(&c)
	if in.near != nil {
		in.near.Finished()
	}
	in.gathered.LeftEarly = in.leftEarly(&c)
	if c.Fault != nil && c.Fault.Side == "client" && in.task != "" {
		r.givenUp.named(in.task, true)
	}
	end := &in.ending
	*end = analysis.StreamEnd{Clean: in.X.Ended && c.Fault == nil, Fault: c.Fault, At: at(in.X, s)}
	if op := in.X.Call.Operation; !c.Interrupted && !in.made.is() && (isCall(in.X) || op == a2a.GetCard || op == a2a.Webhook) {
		r.callEnded(in, s, end)
	}
	done := r.message(in.X, analysis.ExchangeDone, s)
	done.End = end
	r.observe(in, done)
	r.ended(in)
	r.done = append(r.done, s.Seq)
}

func (r *Reader) begin(s capture.Step, o capture.Opened) *analysis.Exchange {
	x := analysis.NewExchange(analysis.Brief{
		Seq: s.Seq, ID: o.ID, Link: analysis.Link{Client: o.Client.Name, Agent: o.Agent.Name}, Conn: o.Conn,
	}, headOf(s, o.Head, capture.ParseRequestHead))
	x.Opened, x.Started = s.Arrival, o.Started
	r.counter.Note(x.Link)
	if o.Client.ByWebhook() {
		x.Sender = o.Client.Name
	}
	x.Anonymous = o.Client.Anonymous()
	to := r.endpoints.targetOf(address.Target(o.Agent.URL, x.Request.Target))
	x.Origin, x.Path, x.Address = to.origin, to.path, to.address
	if capture.Foreign(x.ID) {
		r.foreign.began(x, r.hooks.Kept)
	}
	if x.Request.Fields.Has("If-None-Match") {
		x.NoneMatch = strings.Join(x.Request.Fields.Values("If-None-Match"), ", ")
	}
	return x
}

// inOrder yields the open exchanges by number.
func (r *Reader) inOrder() iter.Seq[*openExchange] {
	return func(yield func(*openExchange) bool) {
		for _, seq := range slices.Sorted(maps.Keys(r.open)) {
			if !yield(r.open[seq]) {
				return
			}
		}
	}
}

// Summaries calls f with the current state of each open exchange whose number wanted accepts, in order.
func (r *Reader) Summaries(wanted func(seq uint64) bool, f func(summary.Summary)) {
	for in := range r.inOrder() {
		if wanted(in.X.Seq) {
			f(in.summary())
		}
	}
}
