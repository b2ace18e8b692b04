package main

import (
	"a2atap/proxy/capture"
	"a2atap/replay/client/setup"
)

// A maskedSink hides the secrets that flags have brought, wherever they stand, before it hands steps on: also in a query
// or a header whose name says nothing, and in what an agent says back. It stands behind the redactor, whose placeholders
// say more, and hides only what that could not know.
type maskedSink struct {
	next  capture.Sink
	masks []*setup.Mask
}

// Append implements capture.Sink.
func (m maskedSink) Append(steps ...capture.Step) error {
	for i := range steps {
		steps[i].What = m.what(steps[i].What)
		steps[i].Parsed = nil // it may hold what is hidden now
	}
	return m.next.Append(steps...)
}

// Close implements capture.Sink.
func (m maskedSink) Close() error { return m.next.Close() }

func (m maskedSink) what(w capture.What) capture.What {
	switch w := w.(type) {
	case capture.Opened:
		w.Head = m.blank(w.Head)
		return w
	case capture.RequestBody:
		w.Data = m.blank(w.Data)
		return w
	case capture.RequestEnd:
		w.Trailer = m.blank(w.Trailer)
		return w
	case capture.Informational:
		w.Head = m.blank(w.Head)
		return w
	case capture.ResponseHead:
		w.Head = m.blank(w.Head)
		return w
	case capture.ResponseBody:
		w.Data = m.blank(w.Data)
		return w
	case capture.ResponseEvent:
		w.Event.Raw = m.blank(w.Event.Raw)
		return w
	case capture.ResponseEnd:
		w.Trailer = m.blank(w.Trailer)
		return w
	}
	return w
}

func (m maskedSink) blank(p []byte) []byte {
	for _, mask := range m.masks {
		p, _ = mask.Blank(p)
	}
	return p
}
