package capture

import (
	"bytes"
	"iter"
	"time"
)

// EventFields has the fields of one block of an event stream as a client reads them. Slices may alias the block: do not
// change them, and use them only while the block exists.
//
// Bytes are unchanged. A client decodes them as UTF-8 and sees U+FFFD instead of invalid bytes.
type EventFields struct {
	Type      []byte        // value of the last event field; empty means "message"
	ID        []byte        // value of the last id field that counts
	HasID     bool          // there was an id field; ID may be empty, which resets the last event id
	Retry     time.Duration // value of the last valid retry field; NotKnown without one
	Data      []byte        // the values of the data fields, joined with LF
	HasData   bool          // there was a data field, possibly empty; without one, the block is not dispatched
	DataLines int           // how many data fields there were
	BOM       bool          // a leading byte order mark was removed
	Ignored   []EventLine   // fields that a client ignores: other names, an id with NUL, a retry that is not a number
	Comments  []EventLine   // lines that begin with a colon
}

// An EventLine is one line of a block.
type EventLine struct {
	Start, End int    // the line's place in Raw, its end excluded
	Name       []byte // before the colon, or the whole line without one; empty for a comment
	Value      []byte // after the colon and the blank that may follow; for a comment, all that follows the colon
	Colon      bool   // there was a colon
}

// ParseEvent reads the fields of a block as a client would, if the block is the first of its stream: a byte order mark
// is taken off. Of any block Event.Fields reads the fields. Blank lines are skipped.
// No bytes make it fail.
//
// Source: WHATWG HTML, server-sent events, "Interpreting an event stream".
func ParseEvent(raw []byte) EventFields {
	var f EventFields
	rest := bytes.TrimPrefix(raw, []byte(BOM))
	f.BOM = len(rest) < len(raw)
	f.parse(raw, len(raw)-len(rest))
	return f
}

// parseLaterEvent parses the fields of a block that is not the first of its stream, where a byte order mark is part of
// a field's name.
func parseLaterEvent(raw []byte) EventFields {
	var f EventFields
	f.parse(raw, 0)
	return f
}

// Fields returns the event's fields as a client would read them. A byte order mark is removed up to the first event
// that counts. A gRPC message is read as if its JSON were the data; if it cannot be decoded, it has no fields.
func (e *Event) Fields() EventFields {
	switch {
	case e.As != nil:
		return messageFields(e.As, e.Raw)
	case e.IsMessage():
		return EventFields{Retry: NotKnown}
	case e.K <= 1:
		return ParseEvent(e.Raw)
	}
	return parseLaterEvent(e.Raw)
}

func (f *EventFields) parse(raw []byte, start int) {
	f.Retry = NotKnown
	lf, cr := -1, -1
	for start < len(raw) { // not over EventLines, which takes a quarter longer
		lf, cr = next(raw, '\n', lf, start), next(raw, '\r', cr, start)
		end := min(lf, cr)
		if end > start {
			f.add(parseLine(raw, start, end))
		}
		start = end + 1
	}
}

// EventLines yields the lines of a block that begin at start or later, including blank ones: between the CR and the LF
// of one line end there is a blank line, too. Their slices alias the block.
func EventLines(raw []byte, start int) iter.Seq[EventLine] {
	return func(yield func(EventLine) bool) {
		lf, cr := -1, -1
		for start := start; start < len(raw); {
			lf, cr = next(raw, '\n', lf, start), next(raw, '\r', cr, start)
			end := min(lf, cr)
			if !yield(parseLine(raw, start, end)) {
				return
			}
			start = end + 1
		}
	}
}

// parseLine reads the line of raw between start and end.
func parseLine(raw []byte, start, end int) EventLine {
	line := EventLine{Start: start, End: end}
	line.Name, line.Value, line.Colon = bytes.Cut(raw[start:end:end], []byte(":"))
	if line.Colon && len(line.Name) > 0 {
		line.Value = bytes.TrimPrefix(line.Value, []byte(" "))
	}
	return line
}

func (f *EventFields) add(line EventLine) {
	switch string(line.Name) {
	case "":
		f.Comments = append(f.Comments, line)
		return
	case "data":
		f.addData(line.Value)
		return
	case "event":
		f.Type = line.Value
		return
	case "id":
		if bytes.IndexByte(line.Value, 0) < 0 {
			f.ID, f.HasID = line.Value, true
			return
		}
	case "retry":
		if ms, ok := retryDigits(line.Value); ok {
			f.Retry = ms
			return
		}
	}
	f.Ignored = append(f.Ignored, line)
}

func (f *EventFields) addData(value []byte) {
	if !f.HasData {
		f.Data, f.HasData, f.DataLines = value[:len(value):len(value)], true, 1
		return
	}
	f.Data = append(append(f.Data, '\n'), value...)
	f.DataLines++
}

// retryDigits parses a reconnection time: ASCII digits only. A time too long for the type becomes the maximum.
func retryDigits(value []byte) (time.Duration, bool) {
	if len(value) == 0 {
		return 0, false
	}
	const most = 1 << 62 / time.Millisecond
	var ms time.Duration
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
		ms = min(ms*10+time.Duration(c-'0'), most)
	}
	return ms * time.Millisecond, true
}
