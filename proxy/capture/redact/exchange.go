package redact

import (
	"errors"
	"fmt"

	"a2atap/proxy/background"
	"a2atap/proxy/budget"
	"a2atap/proxy/capture"
	"a2atap/proxy/jsondoc"
)

var errDescriber = errors.New("the describer failed")

func (r *redactor) requestBody(out []capture.Step, s capture.Step, what capture.RequestBody) []capture.Step {
	o := r.exchange(s)
	if p, ok := o.request.take(r, s, piece(what)); ok {
		s.What = capture.RequestBody(p)
		return append(out, s)
	}
	return out
}

func (r *redactor) responseBody(out []capture.Step, s capture.Step, what capture.ResponseBody) []capture.Step {
	o := r.exchange(s)
	if p, ok := o.response.take(r, s, piece(what)); ok {
		s.What = capture.ResponseBody(p)
		return append(out, s)
	}
	return out
}

func (r *redactor) requestEnd(out []capture.Step, s capture.Step, what capture.RequestEnd) []capture.Step {
	o := r.exchange(s)
	capture.Assemble(&o.x, s)
	var keys []capture.Key
	out, s.Parsed, keys = o.endRequest(out)
	if len(what.Trailer) > 0 {
		what.Trailer = r.head(o, what.Trailer, fieldsOnly)
		s.What = what
	}
	s.Keys = withKeys(s.Keys, keys)
	out = append(out, s)
	if answered := o.answered; answered.What != nil {
		o.answered = capture.Step{}
		out = r.responseEnd(out, answered, answered.What.(capture.ResponseEnd))
	}
	return out
}

func (r *redactor) responseEnd(out []capture.Step, s capture.Step, what capture.ResponseEnd) []capture.Step {
	o := r.exchange(s)
	if !o.requestDone {
		o.answered = s
		return out
	}
	capture.Assemble(&o.x, s)
	var keys []capture.Key
	out, s.Parsed, keys = o.endResponse(out)
	if len(what.Trailer) > 0 {
		what.Trailer = r.head(o, what.Trailer, fieldsOnly)
		s.What = what
	}
	s.Keys = withKeys(s.Keys, keys)
	return append(out, s)
}

func (r *redactor) closed(out []capture.Step, s capture.Step, what capture.Closed) []capture.Step {
	if o := r.open[s.Seq]; o != nil {
		var keys []capture.Key
		out, keys = r.finish(out, o)
		s.Keys = withKeys(s.Keys, keys)
		if o.withheld > 0 {
			what.Dropped += o.withheld
			s.What = what
		}
		r.forget(o)
	}
	if what.Fault != nil && !r.opts.Keep {
		fault := *what.Fault
		fault.Detail = r.mask.text(fault.Detail)
		what.Fault = &fault
		s.What = what
	}
	return append(out, s)
}

// finish hands on what waits in an exchange that will not continue. It returns the keys that have no step to go with.
func (r *redactor) finish(out []capture.Step, o *openExchange) ([]capture.Step, []capture.Key) {
	var keys, more []capture.Key
	if !o.requestDone {
		out, _, keys = o.endRequest(out)
	}
	if answered := o.answered; answered.What != nil {
		out = r.responseEnd(out, answered, answered.What.(capture.ResponseEnd))
	} else if !o.responseDone && (o.x.Response != nil || o.response.last.What != nil) {
		out, _, more = o.endResponse(out)
	}
	return out, withKeys(keys, more)
}

// withKeys returns keys with more keys appended.
func withKeys(keys, more []capture.Key) []capture.Key {
	if len(keys) == 0 {
		return more
	}
	return append(keys, more...)
}

// endRequest describes the request and hands on its body. It returns the parsed form of the body, if the body is handed
// on unmodified.
func (o *openExchange) endRequest(out []capture.Step) ([]capture.Step, *capture.Parsed, []capture.Key) {
	o.requestDone = true
	b := &o.x.Request.Body
	p, parsed, keys, err := o.end(&o.request, b, func(by capture.Describer, m *capture.Parsed) capture.Description {
		return by.Request(&o.x, m)
	})
	if s := o.request.last; s.What != nil {
		if was, ok := s.What.(capture.RequestBody); !ok || !p.is(piece(was)) {
			s.What = capture.RequestBody(p)
		}
		out = o.handOn(out, s, err)
	}
	o.remember(b)
	return out, parsed, keys
}

// endResponse describes the answer and hands on its body, as endRequest does.
func (o *openExchange) endResponse(out []capture.Step) ([]capture.Step, *capture.Parsed, []capture.Key) {
	o.responseDone = true
	b := &o.answer().Body
	p, parsed, keys, err := o.end(&o.response, b, func(by capture.Describer, m *capture.Parsed) capture.Description {
		return by.Response(&o.x, m)
	})
	if s := o.response.last; s.What != nil {
		if was, ok := s.What.(capture.ResponseBody); !ok || !p.is(piece(was)) {
			s.What = capture.ResponseBody(p)
		}
		out = o.handOn(out, s, err)
	}
	b.Data = nil // it belongs to the next Sink now
	return out, parsed, keys
}

// answer returns the answer in the Describer's view; it adds one if none has begun.
func (o *openExchange) answer() *capture.Response {
	if o.x.Response == nil {
		unknown := capture.Body{Size: capture.NotKnown, At: capture.NotKnown}
		o.room = capture.Response{At: capture.NotKnown, Body: unknown}
		o.x.Response = &o.room
	}
	return o.x.Response
}

// end describes a message whose body is complete. It returns the piece to hand on, and the parsed form of that piece.
// The error is the reason why the body is withheld.
func (o *openExchange) end(h *held, b *capture.Body, ask func(capture.Describer, *capture.Parsed) capture.Description) (
	p piece, parsed *capture.Parsed, keys []capture.Key, err error,
) {
	var text []byte
	var coded, whole bool
	if h.kind != bodyGRPC && (h.long() || len(h.fields().Codings()) > 0) { // of a message, its reading knows
		defer background.Large()()
	}
	if o.r.outOfTime() && h.long() {
		err = errNoTime
	} else if text, coded, whole, err = h.finish(b, h.limit(o.r)); errors.Is(err, capture.ErrTooLong) && o.r.outOfTime() {
		err = errNoTime
	}
	room := &struct { // one piece of memory for both
		capture.Parsed
		doc jsondoc.Doc
	}{Parsed: capture.Parsed{Head: h.head, Text: text}}
	parsed = &room.Parsed
	switch {
	case err != nil || len(text) == 0:
	case h.kind == bodyGRPC:
		err = o.r.readMessage(h.head.GRPCMessage(), text, parsed)
	case o.r.outOfTime() && jsondoc.MostNodes(text) > budget.AtEnd(len(text)).Nodes:
		err = errNoTime
	case h.kind == bodyJSON || looksLikeJSON(text):
		room.doc = jsondoc.Parse(text)
		parsed.Doc = &room.doc
	}
	d, ok := o.describe(parsed, ask)
	if !ok && err == nil && !o.r.opts.Keep {
		err = errDescriber
	}
	p = piece{Data: h.data, Dropped: h.dropped, Decoded: h.decoded}
	if err == nil && !o.r.opts.Keep {
		var now []byte
		var cut int
		if search := o.r.search(o, d); parsed.Message != nil {
			now, err = search.grpcMessages(o.r.read, h.head.GRPCMessage(), text, parsed.Message)
			if err != nil && !whole {
				err = errMessage
			}
		} else {
			now, cut, err = search.message(h, parsed)
		}
		if !same(now, text) {
			p.Data, p.Decoded = now, h.decoded || coded
			whole = false
		}
		if p.Dropped += int64(cut); err != nil && len(now) == 0 {
			p.Data, p.Dropped = nil, h.dropped+int64(len(h.data))
		}
	} else if err != nil {
		p.Data, p.Dropped = nil, h.dropped+int64(len(h.data))
		whole = false
	}
	if err != nil && !isUnreadable(err) {
		o.withheld += p.Dropped - h.unkept
	}
	h.release(o.r)
	if parsed.Head = nil; !whole { // the head may have held secrets
		parsed = nil // and what is handed on of the body is something else
	}
	return p, parsed, d.Keys, err
}

// remember keeps the request's body for the Describer while that is cheap. It shares the bytes with the next Sink, so
// they must not be changed.
func (o *openExchange) remember(b *capture.Body) {
	n := int64(len(b.Data))
	if o.r.opts.Describer == nil || n > maxRemembered || o.r.held+n > o.r.maxHeld {
		b.Dropped, b.Data = b.Dropped+n, nil
		return
	}
	o.remembered = n
	o.r.held += n
}

// describe calls the Describer. It returns false if the Describer panicked: then the secrets are unknown.
func (o *openExchange) describe(
	m *capture.Parsed, ask func(capture.Describer, *capture.Parsed) capture.Description,
) (d capture.Description, ok bool) {
	if o.r.opts.Describer == nil {
		return capture.Description{}, true
	}
	defer func() {
		if recover() != nil {
			d, ok = capture.Description{}, false
		}
	}()
	d = ask(o.r.opts.Describer, m)
	o.r.names.Learn(&o.x, d)
	return d, true
}

// handOn appends a step to out. If err is not nil, a part of the step was withheld, and handOn also appends the note
// about it: after the step, or before it if the step is all that is known of a message.
func (o *openExchange) handOn(out []capture.Step, s capture.Step, err error) []capture.Step {
	switch unread, is := errors.AsType[*capture.Unreadable](err); {
	case !is:
		return o.note(append(out, s), err)
	case unread.Event > 0 && o.unread: // the first one of the answer is enough
		return append(out, s)
	default:
		o.unread = o.unread || unread.Event > 0
		note := capture.Step{Seq: s.Seq, Offset: s.Offset, What: capture.Fact{Note: unread.Error()}}
		return append(out, note, s)
	}
}

// isUnreadable reports whether bytes were withheld because they cannot be read. Their note has the reason, and they
// do not count as a gap.
func isUnreadable(err error) bool {
	_, is := errors.AsType[*capture.Unreadable](err)
	return is
}

// note records, once for an exchange, why a part of it was withheld.
func (o *openExchange) note(out []capture.Step, err error) []capture.Step {
	if err == nil || o.noted {
		return out
	}
	o.noted = true
	note := fmt.Sprintf("content is not recorded, since it could not be searched for secrets: %v", err)
	return append(out, capture.Step{Seq: o.x.Seq, Offset: out[len(out)-1].Offset, What: capture.Fact{Note: note}})
}

// parseEvent parses the lines of an event, unless by has them already, and its data.
func parseEvent(e *capture.Event, by *capture.Parsed) *capture.Parsed {
	parsed := &capture.Parsed{}
	if by != nil && by.Fields != nil {
		parsed.Fields = by.Fields
	} else {
		parsed.Fields = new(e.Fields())
	}
	if data := parsed.Fields.Data; len(data) > 0 {
		parsed.Doc = new(jsondoc.Parse(data))
	}
	return parsed
}

// event describes an event and hands it on.
func (r *redactor) event(out []capture.Step, s capture.Step, what capture.ResponseEvent) []capture.Step {
	o := r.exchange(s)
	o.answer().Stream = true
	if request, answer := o.request.head, o.response.head; request != nil && answer != nil {
		if as := capture.GRPCAnswers(request, answer); as != nil {
			return r.grpcEvent(out, s, what, as)
		}
	}
	e := what.Event
	e.At = s.Offset
	if len(e.Raw) > longBody && r.outOfTime() {
		s.Parsed = nil
		return o.searched(out, s, what, nil, nil, errNoTime)
	}
	parsed := parseEvent(&e, s.Parsed)
	s.Parsed = nil
	parsed.Head = o.response.head
	d, ok := o.describe(parsed,
		func(by capture.Describer, m *capture.Parsed) capture.Description { return by.Event(&o.x, &e, m) })
	parsed.Head = nil // which may have held secrets
	s.Keys = withKeys(s.Keys, d.Keys)
	if r.opts.Keep {
		s.Parsed = parsed
		return append(out, s)
	}
	now, err := []byte(nil), errDescriber
	if ok {
		if edits := o.pieced.hide(r.maskFor(o), d.Pieces); len(edits) > 0 {
			_, parts, _ := cutEvent(e.Raw)
			e.Raw = splice(e.Raw, onLines(edits, parts))
			parsed = parseEvent(&e, nil)
		}
		now, err = r.search(o, d).event(&e, parsed)
	}
	return o.searched(out, s, what, parsed, now, err)
}

// searched appends an event that was searched for secrets to out: with its new bytes, or without bytes, and counted, if
// it could not be searched.
func (o *openExchange) searched(
	out []capture.Step, s capture.Step, what capture.ResponseEvent, parsed *capture.Parsed, now []byte, err error,
) []capture.Step {
	raw := what.Event.Raw
	if err == nil && same(now, raw) {
		s.Parsed = parsed
		return append(out, s)
	}
	if err != nil {
		what.Event.Dropped += int64(len(raw))
		if !isUnreadable(err) {
			o.withheld += int64(len(raw))
		}
	}
	what.Event.Raw = now
	s.What = what
	return o.handOn(out, s, err)
}

// step appends the redacted form of a step to out, or nothing while the step has to wait.
func (r *redactor) step(out []capture.Step, s capture.Step) []capture.Step {
	switch what := s.What.(type) {
	case capture.Opened:
		return r.opened(out, s, what)
	case capture.RequestBody:
		return r.requestBody(out, s, what)
	case capture.RequestEnd:
		return r.requestEnd(out, s, what)
	case capture.Informational:
		what.Head = r.head(r.exchange(s), what.Head, answerHead)
		s.What = what
	case capture.ResponseHead:
		return r.answered(out, s, what)
	case capture.ResponseBody:
		return r.responseBody(out, s, what)
	case capture.ResponseEvent:
		return r.event(out, s, what)
	case capture.ResponseEnd:
		return r.responseEnd(out, s, what)
	case capture.Fact:
		if o := r.open[s.Seq]; o != nil {
			capture.Assemble(&o.x, s)
		}
		s.What = r.fact(what)
	case capture.Closed:
		return r.closed(out, s, what)
	}
	return append(out, s)
}
