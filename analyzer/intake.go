package analyzer

import (
	"bytes"
	"strings"
	"time"

	"a2atap/analyzer/address"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// maxHeld bounds the steps of an answer that wait for the end of their request.
const maxHeld = 10_000

// An intake gathers the steps of one exchange until there is something to observe.
type intake struct {
	x        *Exchange
	request  capture.Body
	response capture.Body
	held     []capture.Step // of the answer, which overtook its request
	endedAt  time.Time      // when it did; zero if not known
	judged   bool           // at least one rule applied
	gap      bool           // it is counted as lost
	size     int            // bytes of it that count as held by the engine
	lastK    int            // number of the last event of the stream
	task     string         // seen last in it
	gathered gathering      // what is shown of it
	reported reported       // rules that report once an exchange and have
	seeking  bool           // it is no call, and its answer may be a card
	found    *capture.Head  // of an answer that may be one; nil if none has come
	unseen   bool           // what followed the answer's head was not observed: an upgrade, or a tunnel
	made     faultMade      // by the recorder, because it was told to
	unheard  bool           // it configures a webhook whose notifications go past the recorder
	batch    []*Exchange    // the calls of a batch that are judged each on its own
	sending  Link           // on which its message waits for an answer; zero if it has none, or is over
}

// cut says that something of the exchange is missing from here on.
func (in *intake) cut() {
	in.x.Cut = true
	if in.x.Stream != nil {
		in.x.Stream.Gap = true
	}
}

// step sorts one step into its exchange.
func (e *Engine) step(s capture.Step) {
	if opened, ok := s.What.(capture.Opened); ok {
		e.counts.Exchanges++
		in := e.newIntake()
		in.x = e.begin(s, opened)
		in.gathered.begin(&s, &opened, &in.x.Request)
		e.open[s.Seq] = in
		return
	}
	in := e.open[s.Seq]
	if in != nil {
		e.tick(in.x.at(s))
		if head, ok := s.What.(capture.ResponseHead); ok && (s.Parsed == nil || s.Parsed.Head == nil) {
			h := capture.ParseResponseHead(head.Head)
			s.Parsed = &capture.Parsed{Head: &h}
		}
		in.gathered.step(&s)
	}
	switch {
	case in == nil: // its beginning is not in the record, or it is over and only facts come
		if fact, ok := s.What.(capture.Fact); ok && e.onLate != nil {
			e.onLate(s.Seq, fact)
		}
	case in.x.Asked || !ofAnswer(s.What):
		e.advance(in, s)
	case len(in.held) < maxHeld:
		in.held = append(in.held, s)
	default:
		in.cut()
	}
}

func (e *Engine) newIntake() *intake {
	n := len(e.spare)
	if n == 0 {
		return &intake{}
	}
	in := e.spare[n-1]
	e.spare = e.spare[:n-1]
	return in
}

// tick notes the instant of a step.
func (e *Engine) tick(at time.Time) {
	if at.After(e.now) {
		e.now = at
	}
}

// ofAnswer reports whether a step has to wait until the request is known. The end of the exchange does not wait: no
// request comes after it.
func ofAnswer(what capture.What) bool {
	switch what.(type) {
	case capture.ResponseHead, capture.ResponseBody, capture.ResponseEvent, capture.ResponseEnd:
		return true
	}
	return false
}

func (e *Engine) advance(in *intake, s capture.Step) {
	switch what := s.What.(type) {
	case capture.RequestBody:
		e.add(in, &in.request, what.Data, what.Dropped, what.Decoded)
	case capture.RequestEnd:
		in.request.Size, in.request.Complete, in.x.Asked = what.Size, true, true
		e.request(in, s)
		e.release(in)
	case capture.Fact:
		if what.Client.Name != "" {
			in.x.Link.Client = what.Client.Name
			e.links.note(in.x.Link)
		}
		for _, r := range what.Rewrites {
			switch {
			case r.Place == "request.header[If-None-Match]":
				in.x.NoneMatch = r.Now
			case strings.HasPrefix(r.Place, "request.body#"):
				in.x.Diverted = address.Origin(r.Now)
			}
		}
		if strings.HasPrefix(what.Note, capture.WebhooksNotObserved) {
			in.unheard = true
		}
		if made, ok := strings.CutPrefix(what.Note, capture.FaultMadeHere); ok {
			e.faultMade(in, made)
		}
	case capture.Closed:
		e.closed(in, s, what)
	default:
		head, ok := what.(capture.ResponseHead)
		if ok && !in.unseen && endsObservation(&in.x.Request, head.Head) {
			in.unseen = true
			e.counts.Unseen++
		}
		switch {
		case in.made.hides():
		case in.x.Judged() || in.x.Gather && !ofStream(what): // the bodies of other traffic are not gathered
			e.advanceAnswer(in, s)
		case in.seeking:
			if e.search(in, s) {
				e.advanceAnswer(in, s)
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

// endsObservation reports whether nothing that follows the head of an answer is observed: another protocol has begun
// (RFC 9110 §15.2.2), or a tunnel (§9.3.6).
func endsObservation(r *capture.Head, answer []byte) bool {
	line, _, _ := bytes.Cut(answer, []byte("\n"))
	_, status, _ := bytes.Cut(line, []byte(" "))
	return bytes.HasPrefix(status, []byte("101")) || r.Method == "CONNECT" && bytes.HasPrefix(status, []byte("2"))
}

func (e *Engine) advanceAnswer(in *intake, s capture.Step) {
	switch what := s.What.(type) {
	case capture.ResponseHead:
		in.x.Response, in.x.Answered = headOf(s, what.Head, capture.ParseResponseHead), true
		if in.x.evidence != nil {
			e.evidence |= shownByAnswer(&in.x.Response)
		}
		if what.Stream {
			in.x.Stream = &Stream{Gap: in.x.Cut}
			e.counts.Streams++
		}
	case capture.ResponseBody:
		e.add(in, &in.response, what.Data, what.Dropped, what.Decoded)
	case capture.ResponseEvent:
		if k, mine := in.made.event(what.Event.K); mine {
			what.Event.K = k
			e.event(in, s, what.Event)
		}
	case capture.ResponseEnd:
		in.response.Size, in.response.Complete, in.x.Ended, in.endedAt = what.Size, true, true, in.x.at(s)
		if in.x.Stream == nil {
			e.answer(in, s)
			e.held -= len(in.response.Data)
			in.size -= len(in.response.Data)
			in.response.Data = nil
		}
	}
}

// release feeds the steps that waited for the request's end.
func (e *Engine) release(in *intake) {
	held := in.held
	in.held = nil
	for _, s := range held {
		e.advance(in, s)
	}
}

// closed ends an exchange. A request that never came whole is not judged, and neither is its answer.
func (e *Engine) closed(in *intake, s capture.Step, c capture.Closed) {
	switch {
	case c.Dropped > 0:
		e.gap(in)
	case in.made.hides():
		in.cut()
	}
	if in.x.Stream != nil {
		cut := c.Interrupted || c.Fault != nil && c.Fault.Kind == "shutdown" || in.made.ends()
		end := StreamEnd{Clean: in.x.Ended && c.Fault == nil && !cut, Fault: c.Fault, Open: cut, At: in.x.at(s)}
		switch {
		case in.x.Ended:
			end.At = in.endedAt
		case end.Open && end.At.IsZero():
			end.At = e.now
		}
		e.streamEnded(in, s, end)
	}
	in.x.Outcome = in.finalOutcome(&c)
	end := &StreamEnd{Clean: in.x.Ended && c.Fault == nil, Fault: c.Fault, At: in.x.at(s)}
	if !c.Interrupted && !in.made.is() && (in.x.isCall() || in.x.Call.Operation == a2a.GetCard) {
		e.callEnded(in, s, end)
	}
	done := e.message(in.x, ExchangeDone, s)
	done.End = end
	e.observe(in, done)
	e.ended(in)
	e.done = s.Seq
}

// callEnded observes that a call or the fetch of a card is over, however it came out.
func (e *Engine) callEnded(in *intake, s capture.Step, end *StreamEnd) {
	o := e.message(in.x, CallEnded, s)
	o.Place, o.End = in.x.RequestPlace(), end
	o.Dialects = dialectsOr(in.x.Dialects, a2a.Of(a2a.V0_1, a2a.V0_2, a2a.V0_3, a2a.V1_0))
	e.observe(in, o)
}

// maxBodies bounds the bytes of bodies that the engine holds, of all exchanges that are open. What goes beyond is not
// judged, and counts as a gap.
const maxBodies = 32 << 20

// hold counts bytes that are held as long as the exchange is open. It returns false if there is no room for them.
func (e *Engine) hold(in *intake, n int) bool {
	if e.held+n > maxBodies {
		return false
	}
	e.held += n
	in.size += n
	return true
}

// add adds a piece to a body. The first one is shared with the step, which nobody changes.
func (e *Engine) add(in *intake, b *capture.Body, data []byte, dropped int64, decoded bool) {
	if !e.hold(in, len(data)) {
		e.gap(in)
		dropped += int64(len(data))
		data = nil
	}
	if b.Data == nil && data != nil {
		b.Data = data[:len(data):len(data)]
	} else {
		b.Data = append(b.Data, data...)
	}
	b.Dropped += dropped
	b.Decoded = b.Decoded || decoded
}

// headOf returns what the head that a step brought says.
func headOf(s capture.Step, raw []byte, parse func([]byte) capture.Head) capture.Head {
	if s.Parsed != nil && s.Parsed.Head != nil {
		return *s.Parsed.Head
	}
	return parse(raw)
}

func (e *Engine) begin(s capture.Step, o capture.Opened) *Exchange {
	x := &Exchange{
		Brief:   Brief{Seq: s.Seq, ID: o.ID, Link: Link{Client: o.Client.Name, Agent: o.Agent.Name}, Conn: o.Conn},
		Opened:  s.Arrival,
		Started: o.Started,
		Request: headOf(s, o.Head, capture.ParseRequestHead),
	}
	x.principal = principalOf(&x.Request)
	e.links.note(x.Link)
	if o.Client.How == "webhook" {
		x.Sender = o.Client.Name
	}
	to := e.endpoints.targetOf(address.Target(o.Agent.URL, x.Request.Target))
	x.Origin, x.Path, x.Address = to.origin, to.path, to.address
	if capture.Foreign(x.ID) {
		e.foreign(x)
	}
	if x.Request.Fields.Has("If-None-Match") {
		x.NoneMatch = strings.Join(x.Request.Fields.Values("If-None-Match"), ", ")
	}
	return x
}
