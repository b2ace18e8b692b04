package exchanges

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/sequence"
	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
)

const (
	maxEvents    = 60        // from each end of a stream
	maxMore      = 200       // with findings, of those between
	maxAllEvents = 512 << 10 // bytes of the contents of all events of an exchange, as HTML
)

// eventOf returns the number of the event that a part is.
func eventOf(part string) (k int, ok bool) { return analysis.Place{Part: part}.EventNumber() }

// addEvents keeps the events at the ends of a long stream and those with findings, which it reads if they are missing.
func (sh *shown) addEvents(ctx context.Context, x *capture.Exchange) error {
	if x.Response == nil || !x.Response.Stream {
		return nil
	}
	marked := make(map[int]bool)
	for _, f := range sh.found[x.Seq] {
		if k, ok := eventOf(f.Place.Part); ok && f.Place.Response && len(marked) < maxMore {
			marked[k] = true
		}
	}
	all := x.Response.Events
	n := len(all)
	var kept []capture.Event
	for i := range all {
		if i < maxEvents || i >= n-maxEvents || marked[all[i].K] {
			kept = append(kept, all[i])
			delete(marked, all[i].K)
		}
	}
	if len(marked) > 0 {
		more, err := sh.events(ctx, x, marked)
		if err != nil {
			return err
		}
		kept = append(kept, more...)
		slices.SortStableFunc(kept, func(a, b capture.Event) int { return a.K - b.K })
	}
	x.Response.Events = kept
	return nil
}

// events reads events of a stream by their numbers.
func (sh *shown) events(ctx context.Context, x *capture.Exchange, numbers map[int]bool) ([]capture.Event, error) {
	var list []capture.Event
	last := slices.Max(slices.Collect(maps.Keys(numbers)))
	for step, err := range sh.Source.StepsOf(ctx, x.Seq, 1) {
		if err != nil {
			return nil, err
		}
		event, ok := step.What.(capture.ResponseEvent)
		if !ok {
			continue
		}
		if numbers[event.Event.K] {
			x.ReadEvent(&event.Event)
			list = append(list, event.Event)
		}
		if event.Event.K >= last {
			break
		}
	}
	return list, nil
}

// stream writes the events of an answer, each folded.
func (w *writer) stream(id string, r *reading.Reading) {
	w.alone(w.of(true, func(part string) bool { return part == "body" }))
	words := make(map[int]string, len(r.Events))
	for _, e := range r.Events {
		words[e.K] = sequence.EventWords(e)
	}
	room, last := maxAllEvents, 0
	word, of := "event", ""
	if name, is := w.x.InMessages(); is {
		word, of = "message", name
	}
	for i := range w.x.Response.Events {
		e := &w.x.Response.Events[i]
		if e.K > last+1 {
			w.raw(`<p class="left">`)
			w.text(leftWords(e.K-last-1, word))
			w.raw("</p>\n")
			w.cuts.events += e.K - last - 1
		}
		if e.K > 0 {
			last = e.K
		}
		before := w.len()
		w.event(id, e, word, strings.TrimSpace(of+" "+words[e.K]), min(maxData, room))
		room = max(room-(w.len()-before), 0)
	}
}

// event writes one event, in at most about so many bytes.
func (w *writer) event(id string, e *capture.Event, word, words string, room int) {
	fields := e.Fields()
	if e.K == 0 {
		w.line("faint", "comment "+string(e.Raw[:min(len(e.Raw), maxString)]))
		return
	}
	part := fmt.Sprintf("[%d]", e.K)
	found := w.of(true, func(p string) bool {
		k, is := eventOf(p)
		return is && k == e.K
	})
	w.raw(`<details class="event" id="` + id + ".event" + part + `"><summary>`)
	w.raw(`<span class="number">` + word + part + "</span> ")
	if e.At >= 0 {
		w.span("faint", "+"+summary.DurationWords(e.At))
		w.raw(" ")
	}
	w.text(words)
	w.counts(found)
	w.raw("</summary>\n")
	for _, field := range []struct{ name, value string }{{"event", string(fields.Type)}, {"id", string(fields.ID)}} {
		if field.value != "" {
			w.line("faint", field.name+": "+field.value)
		}
	}
	if fields.HasData {
		w.content(fields.Data, found, room)
	} else {
		w.content(e.Raw, found, room)
	}
	if e.Dropped > 0 {
		w.line("left", size(e.Dropped)+" more were not recorded")
	}
	if e.Unterminated {
		w.line("left", "The stream ended before the blank line: clients discard this event")
	}
	w.raw("</details>\n")
}
