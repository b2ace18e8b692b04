package otlp

import (
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
)

// How many events a span has at most.
const (
	KeptEvents  = 64 // of a stream at its begin, and as many at its end
	maxFindings = 32
)

// events returns the events of the stream and the findings, in this order, and how many are left out.
func (e *exchangeSpan) events() (list []*tracepb.Span_Event, dropped uint32) {
	if e.Response != nil {
		list, dropped = e.streamed()
	}
	for i := range e.findings[:min(len(e.findings), maxFindings)] {
		f := &e.findings[i]
		list = append(list, &tracepb.Span_Event{
			TimeUnixNano: nanoseconds(e.at(f.Place)), Name: findingName, Attributes: findingAttributes(f),
		})
	}
	return list, dropped + uint32(max(0, len(e.findings)-maxFindings))
}

// streamed returns the first and the last events of the stream.
func (e *exchangeSpan) streamed() (list []*tracepb.Span_Event, dropped uint32) {
	var counted []*capture.Event
	total := 0
	for i := range e.Response.Events {
		if event := &e.Response.Events[i]; event.K > 0 {
			counted = append(counted, event)
			total = max(total, event.K)
		}
	}
	readings := make(map[int]*reading.EventReading, len(e.reading.Events))
	for i := range e.reading.Events {
		readings[e.reading.Events[i].K] = &e.reading.Events[i]
	}
	for i, event := range counted {
		if i >= KeptEvents && i < len(counted)-KeptEvents {
			continue
		}
		list = append(list, e.event(event, readings[event.K]))
	}
	return list, uint32(max(0, total-len(list)))
}

// event returns an event of the stream; its reading may be nil.
func (e *exchangeSpan) event(event *capture.Event, r *reading.EventReading) *tracepb.Span_Event {
	at := e.Started
	if event.At > 0 {
		at = at.Add(event.At)
	}
	var a attributes
	a.number("a2atap.event", int64(event.K))
	name := "event"
	if r != nil {
		name = r.Kind.String()
		if r.State != a2a.NoState {
			a.text("a2a.task.state", r.State.String())
		}
		if r.Err != nil {
			a.text("a2a.error", r.Err.String())
		}
	}
	if e.room > 0 {
		e.content(&a, "a2atap.event.data", event.Fields().Data)
	}
	return &tracepb.Span_Event{TimeUnixNano: nanoseconds(at), Name: name, Attributes: a.list}
}

// at returns the time of the data at a place, as precisely as known.
func (e *exchangeSpan) at(p analysis.Place) time.Time {
	switch {
	case !p.Response:
		return e.Started.Add(max(0, e.Request.Body.At))
	case e.Response == nil:
		return e.end()
	}
	if k, ok := p.EventNumber(); ok {
		for i := range e.Response.Events {
			if event := &e.Response.Events[i]; event.K == k && event.At >= 0 {
				return e.Started.Add(event.At)
			}
		}
	}
	if e.Response.At >= 0 && e.Response.Body.At < 0 {
		return e.Started.Add(e.Response.At)
	}
	return e.end()
}

// findingName is the name of the event, or of the span, that a finding is.
const findingName = "a2atap.finding"

func findingAttributes(f *analysis.Finding) []*keyValue {
	var a attributes
	a.text("a2atap.rule", f.Rule.ID)
	a.text("a2atap.severity", f.Severity.String())
	a.text("a2atap.side", f.Side.String())
	a.text("a2atap.program", f.Program())
	a.text("a2atap.place", f.Place.String())
	a.text("a2atap.message", analysis.Clean(credential.WithoutUserinfo(f.Message())))
	a.texts("a2atap.sections", f.Sections())
	return a.list
}

// Finding returns a span for a finding whose exchange's span was already returned, as its child. The span has no
// duration, and starts when the finding was made. It returns false if the exchange was forgotten.
func (s *Spans) Finding(f *analysis.Finding, at time.Time) (Span, bool) {
	i, ok := s.known.Get(f.Place.Exchange)
	if !ok || !i.made {
		return Span{}, false
	}
	id := derive("finding", i.span[:], []byte(f.Rule.ID), []byte(f.Place.String()), []byte(f.Message()))
	return Span{i.service, &tracepb.Span{
		TraceId: i.trace[:], SpanId: id[:8], ParentSpanId: i.span[:], Flags: parentKnown,
		Name: findingName, Kind: tracepb.Span_SPAN_KIND_INTERNAL,
		StartTimeUnixNano: nanoseconds(at), EndTimeUnixNano: nanoseconds(at),
		Attributes: findingAttributes(f),
	}}, true
}
