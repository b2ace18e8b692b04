package redact

import (
	"sort"

	"a2atap/proxy/capture"
)

// event returns the bytes of an event without its secrets, or the event's own bytes if it has none. It searches the
// data and the lines that are not fields of an event: JSON that was sent without "data:" in front is no less a secret.
// As with a body, the secrets of an event cannot always be removed.
func (s search) event(e *capture.Event, parsed *capture.Parsed) ([]byte, error) {
	f := parsed.Fields
	if len(f.Ignored)+len(f.Comments) == 0 {
		switch edits := s.json(parsed.Doc, f.Data); {
		case len(edits) == 0:
			return e.Raw, nil
		case parsed.Doc.Err == nil:
			_, parts, _ := cutEvent(e.Raw)
			return splice(e.Raw, onLines(edits, parts)), nil
		}
	}
	raw, err := settle(e.Raw, func(raw []byte) []edit { return s.eventOnce(raw) })
	if err != nil {
		return nil, err
	}
	was, _, _ := cutEvent(e.Raw)
	if is, _, _ := cutEvent(raw); !sameFault(was, is) {
		return nil, errUnsettled
	}
	return raw, nil
}

// eventOnce returns the edits that hide the secrets of an event, as far as one pass finds them.
func (s search) eventOnce(raw []byte) []edit {
	data, parts, stray := cutEvent(raw)
	var edits []edit
	if len(data) > 0 {
		edits = onLines(s.json(nil, data), parts)
	}
	for _, run := range stray {
		edits = append(edits, shifted(s.loose(raw[run.start:run.end]), run.start)...)
	}
	return edits
}

// A part is a run of an event's bytes, and its place in the joined data.
type part struct {
	start, end int // in Raw
	at         int // in the data
}

// cutEvent returns the data of an event as a client joins it, the places of its lines in raw, and the runs of lines
// that are neither data nor another field.
func cutEvent(raw []byte) (data []byte, parts, stray []part) {
	for line := range capture.EventLines(raw, len(raw)-len(capture.TrimBOM(raw))) {
		start, end := line.Start, line.End
		switch string(line.Name) {
		case "data":
			if len(parts) > 0 {
				data = append(data, '\n')
			}
			parts = append(parts, part{end - len(line.Value), end, len(data)})
			data = append(data, line.Value...)
		case "event", "id", "retry":
		case "":
			if end == start { // the blank line that ends the event
				break
			}
			fallthrough
		default:
			if last := len(stray) - 1; last >= 0 && stray[last].end >= start-2 {
				stray[last].end = end
			} else {
				stray = append(stray, part{start: start, end: end})
			}
		}
	}
	return data, parts, stray
}

// onLines moves edits of the joined data to the lines of the event. Only broken JSON can need an edit that spans
// several lines; such an edit empties those lines but does not remove them.
func onLines(edits []edit, parts []part) []edit {
	var moved []edit
	for _, e := range edits {
		text := e.text
		first := sort.Search(len(parts), func(i int) bool { return parts[i].at+parts[i].end-parts[i].start > e.start })
		for _, p := range parts[first:] {
			start, end := max(e.start, p.at), min(e.end, p.at+p.end-p.start)
			if start >= end {
				break
			}
			moved = append(moved, edit{p.start + start - p.at, p.start + end - p.at, text})
			text = ""
		}
	}
	return moved
}
