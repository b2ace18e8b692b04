package intake

import (
	"bytes"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// maxValues bounds the values of one answer that are read in place of events. Of more the last one is read, too.
const maxValues = 1000

// valuesOf returns the JSON values of an answer that holds several where an event stream is due: JSON Lines, or the
// elements of an array. The first of JSON Lines is the answer itself and is not among them. Count includes it.
func valuesOf(x *analysis.Exchange, body []byte, doc *a2a.Doc) (values []a2a.Doc, count int) {
	if !x.Call.Streams || x.Call.Batch != nil || x.Response.Status < 200 || x.Response.Status >= 300 {
		return nil, 0
	}
	add := func(one a2a.Doc) {
		if count++; len(values) < maxValues {
			values = append(values, one)
		} else {
			values[maxValues-1] = one
		}
	}
	switch {
	case doc.Trailing:
		for one := range a2a.Sequence(body) {
			if count == 0 {
				count++
				continue
			}
			add(one)
		}
	case doc.Root.Kind() == a2a.Array:
		for _, v := range doc.Root.Elems() {
			if v.Kind() != a2a.Object {
				return nil, 0
			}
			add(a2a.Doc{Root: v, InvalidUTF8: -1})
		}
	}
	return values, count
}

// bareValues returns the JSON values in the lines of an event that has no data: lines without a field name, which are no
// part of the format of events.
func bareValues(ev *analysis.Event) (values []a2a.Doc) {
	raw := bytes.TrimLeft(ev.Raw, "\xef\xbb\xbf \t\r\n")
	if ev.Fields.HasData || ev.Message != nil || !bytes.HasPrefix(raw, []byte("{")) && !bytes.HasPrefix(raw, []byte("[")) {
		return nil
	}
	for one := range a2a.Sequence(raw) {
		if values = append(values, one); len(values) == maxValues {
			break
		}
	}
	return values
}

// takeValues gathers what values show that stand where events are due. Rules see the answer or the stream as a whole.
func (ob *observer) takeValues(in *openExchange, s capture.Step, values []a2a.Doc) {
	for i := range values {
		a := a2a.ReadEvent(&in.X.Call, &values[i])
		settle(in.X, &a.Payload)
		in.gathered.answered(&a, nil)
		o := ob.message(in.X, analysis.EventSeen, s)
		o.Answer, o.Event = &a, &analysis.Event{}
		in.answered(o)
		switch v := a.Payload.Value; a.Payload.Kind {
		case a2a.TaskPayload:
			t := a2a.Task{Value: v}
			in.saw(t.ID())
			ob.taskEnded(in, t.ID(), t.State(), t.StatusMessage())
		case a2a.StatusPayload:
			u := a2a.StatusUpdate{Value: v}
			in.saw(u.TaskID())
			ob.taskEnded(in, u.TaskID(), u.State(), u.Status().Message())
		}
	}
}
