package document

import (
	"fmt"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/sequence"
	"a2atap/proxy/capture"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// Arrow lays out the message of an arrow.
func (s Source) Arrow(a *sequence.Arrow) []Line {
	w := writer{Source: s}
	w.arrow(a)
	return w.lines
}

// arrow writes the message of an arrow.
func (w *writer) arrow(a *sequence.Arrow) {
	at := analysis.Place{Exchange: a.Exchange, Response: a.Response}
	res := w.Exchange.Response
	switch {
	case a.Broken && w.Exchange.Fault != nil:
		w.put(at, w.fault(), 2)
	case !a.Response:
		w.message(at, w.Exchange.Request.Head, &w.Exchange.Request.Body, "→ ", style.Request)
	case res == nil:
	case a.Event > 0:
		w.arrowEvents(a, res.Events)
	case res.Stream:
		w.put(at, style.Text(style.Dim, "the agent ended the stream after "+text.Plural(load.CountEvents(res.Events), load.EventWord(w.Exchange))), 0)
	default:
		w.message(at, res.Head, &res.Body, "← ", style.Answer)
	}
}

// message writes the first line of a head, and the body. Without a body, it writes the other lines of the head.
func (w *writer) message(at analysis.Place, raw []byte, body *capture.Body, mark string, look style.Style) {
	first, fields, _ := strings.Cut(string(raw), "\n")
	w.put(at, style.Text(look, mark+strings.TrimRight(first, "\r")), 2)
	if len(body.Data) == 0 {
		for field := range strings.Lines(fields) {
			w.field(at, strings.TrimRight(field, "\r\n"))
		}
	}
	var head capture.Head
	if at.Response {
		head = capture.ParseResponseHead(raw)
	} else {
		head = capture.ParseRequestHead(raw)
	}
	w.body(at.Body(), body, &head)
}

// arrowEvents writes the event of an arrow. If an arrow represents several events, it writes one line for each.
func (w *writer) arrowEvents(a *sequence.Arrow, events []capture.Event) {
	none := func(analysis.Place) bool { return false }
	var reading *reading.Reading
	for i := range events {
		e := &events[i]
		place := load.EventAt(w.Exchange, e.K)
		switch {
		case e.K < a.Event || e.K > max(a.Event, a.Last):
		case a.Last <= a.Event:
			w.event(place, e, none)
		default:
			if reading == nil {
				reading = w.Load.Reader.Read(load.Brief(w.Exchange))
			}
			w.put(place, style.Text(style.Strong, text.Pad(fmt.Sprintf("·%d", e.K), 6)).
				Add(style.Normal, text.Clip(EventSummary(&reading.Call, e), 400)), 6)
		}
	}
	if len(w.lines) == 0 {
		w.put(analysis.Place{}, style.Text(style.Dim, "not loaded here; enter opens the exchange at this place"), 0)
	}
}
